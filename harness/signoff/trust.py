"""Which signers may sign what, and how many must: the `[signing]` table of the gates.

Trust comes from the reader's gates file, never from a record. A key that is trusted for one call
only (`verify --also-trust`) counts only for records of the profile `pull_request`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Self

from harness.gate.gates import Signing as SigningRules
from harness.signoff.keys import PublicKey

__all__ = ["PULL_REQUEST", "SIGNER_NAME", "Signing", "TrustedSigner"]

PULL_REQUEST: Final = "pull_request"

SIGNER_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")
"""A signer's name: a role, as in the gates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedSigner:
    """A signer whose signature counts."""

    name: str
    key: PublicKey
    phases: frozenset[str] | None
    """`None`: all."""
    profiles: frozenset[str]
    only_now: bool = False
    """Whether the key was given for this call and is not in the gates."""

    def may_sign(self, phase: str, profile: str) -> bool:
        """Return whether a signature counts for records of this phase and profile."""
        if self.only_now and profile != PULL_REQUEST:
            return False
        return (self.phases is None or phase in self.phases) and profile in self.profiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """The trusted signers, and how many of them must sign."""

    threshold: int = 1
    signers: tuple[TrustedSigner, ...] = ()
    awaited: tuple[tuple[str, frozenset[str]], ...] = ()
    """Signers whose key is only given on verification: name and phases."""

    @classmethod
    def of(cls, rules: SigningRules) -> Self:
        """Return the signers and rules of the gates."""
        return cls(
            threshold=rules.threshold,
            signers=tuple(
                TrustedSigner(
                    name=each.name,
                    key=PublicKey(each.key),
                    phases=frozenset(each.phases),
                    profiles=frozenset(each.profiles),
                )
                for each in rules.signer
                if each.key is not None
            ),
            awaited=tuple(
                (each.name, frozenset(each.phases)) for each in rules.signer if each.key is None
            ),
        )

    def also(self, name: str, key: PublicKey) -> Signing:
        """These signers and a further one, for this call and for pull requests only.

        Raises:
            ValueError: Another signer has that name, or it is not a valid name.
        """
        if any(key == signer.key for signer in self.signers):
            return self
        if not SIGNER_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no signer's name: small letters, digits and dashes")
        if any(name == signer.name for signer in self.signers):
            raise ValueError(f"{name!r} is the name of a signer with another key")
        guest = TrustedSigner(
            name=name,
            key=key,
            phases=dict(self.awaited).get(name),
            profiles=frozenset({PULL_REQUEST}),
            only_now=True,
        )
        return replace(self, signers=(*self.signers, guest))

    def who(self, key: PublicKey) -> TrustedSigner | None:
        """Return the signer with that key, if there is one."""
        return next((signer for signer in self.signers if signer.key == key), None)

    @property
    def keys(self) -> tuple[PublicKey, ...]:
        """The keys of all signers."""
        return tuple(signer.key for signer in self.signers)
