"""Who may sign what, and how many must: the `[signing]` part of `gates.toml` as values.

Trust comes from the gates file of the reader, never from a record. A key that is only trusted for
one call (`verify --also-trust`) counts for records of the profile `pull_request` and no others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from harness.signoff.keys import PublicKey

__all__ = ["PULL_REQUEST", "RELEASE", "SIGNER_NAME", "Signing", "SigningProblem", "TrustedSigner"]

PULL_REQUEST: Final = "pull_request"
RELEASE: Final = "release"

SIGNER_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
"""What a signer may be called."""

_TABLE: Final = {"threshold", "signer"}
_SIGNER: Final = ("name", "key", "phases", "profiles")
_PHASES: Final = ("A", "B", "C")
_PROFILES: Final = (PULL_REQUEST, RELEASE)


class SigningProblem(ValueError):
    """The `[signing]` part cannot be used. `key` is the path of what is wrong."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedSigner:
    """Somebody whose signature counts."""

    name: str
    key: PublicKey
    phases: frozenset[str]
    profiles: frozenset[str]
    only_now: bool = False
    """Trusted by the command line, for this call."""

    def may_sign(self, phase: str, profile: str) -> bool:
        """Whether a signature counts for records of this phase and profile."""
        if self.only_now and profile != PULL_REQUEST:
            return False
        return phase in self.phases and profile in self.profiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """Who is trusted, and how many of them must sign."""

    threshold: int = 1
    signers: tuple[TrustedSigner, ...] = ()

    @classmethod
    def parse(cls, table: Mapping[str, Any]) -> Self:
        """Read the `[signing]` table.

        Raises:
            SigningProblem: an unknown or missing key, a wrong value, one name or one key twice.
        """
        for name in table:
            if name not in _TABLE:
                raise SigningProblem(f"signing.{name}", "unknown key")
        threshold = table.get("threshold", 1)
        if not isinstance(threshold, int) or isinstance(threshold, bool) or threshold < 1:
            raise SigningProblem("signing.threshold", "must be a whole number from 1 on")
        listed = table.get("signer", [])
        if not isinstance(listed, list):
            raise SigningProblem("signing.signer", "must be written as [[signing.signer]]")
        signers: list[TrustedSigner] = []
        for number, entry in enumerate(listed):
            where = f"signing.signer[{number}]"
            signer = _signer(entry, where)
            for other in signers:
                if other.name == signer.name:
                    raise SigningProblem(f"{where}.name", f"{signer.name!r} is there twice")
                if other.key == signer.key:
                    problem = f"is the key of {other.name!r} too; it would count twice"
                    raise SigningProblem(f"{where}.key", problem)
            signers.append(signer)
        return cls(threshold=threshold, signers=tuple(signers))

    def also(self, name: str, key: PublicKey) -> Signing:
        """With one signer more, for this call and for pull requests only.

        A key that is trusted anyway stays what it was.

        Raises:
            ValueError: another signer has that name.
        """
        if any(key == signer.key for signer in self.signers):
            return self
        if not SIGNER_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no signer's name: letters, digits and ._@+-")
        if any(name == signer.name for signer in self.signers):
            raise ValueError(f"{name!r} is the name of another signer")
        guest = TrustedSigner(
            name=name,
            key=key,
            phases=frozenset(_PHASES),
            profiles=frozenset({PULL_REQUEST}),
            only_now=True,
        )
        return replace(self, signers=(*self.signers, guest))

    def who(self, key: PublicKey) -> TrustedSigner | None:
        """Whose key that is."""
        return next((signer for signer in self.signers if signer.key == key), None)

    @property
    def keys(self) -> tuple[PublicKey, ...]:
        """All keys, whatever they may sign."""
        return tuple(signer.key for signer in self.signers)


def _signer(entry: Any, where: str) -> TrustedSigner:
    if not isinstance(entry, Mapping):
        raise SigningProblem(where, "must be a table")
    for name in entry:
        if name not in _SIGNER:
            raise SigningProblem(f"{where}.{name}", "unknown key")
    for name in _SIGNER:
        if name not in entry:
            raise SigningProblem(f"{where}.{name}", "this key must be there")
    name = entry["name"]
    if not isinstance(name, str) or not SIGNER_NAME.fullmatch(name):
        raise SigningProblem(f"{where}.name", "must be letters, digits and ._@+-, 64 at most")
    if not isinstance(entry["key"], str):
        raise SigningProblem(f"{where}.key", "must be text")
    try:
        key = PublicKey.parse(entry["key"])
    except ValueError as error:
        raise SigningProblem(f"{where}.key", str(error)) from error
    return TrustedSigner(
        name=name,
        key=key,
        phases=_some_of(_iterable(entry["phases"]), _PHASES, f"{where}.phases"),
        profiles=_some_of(_iterable(entry["profiles"]), _PROFILES, f"{where}.profiles"),
    )


def _iterable(value: Any) -> Iterable[Any] | None:
    return value if isinstance(value, list | tuple) else None


def _some_of(value: Iterable[Any] | None, known: tuple[str, ...], where: str) -> frozenset[str]:
    found = None if value is None else list(value)
    if not found or any(each not in known for each in found):
        raise SigningProblem(where, f"must be a list of some of {', '.join(known)}")
    return frozenset(found)
