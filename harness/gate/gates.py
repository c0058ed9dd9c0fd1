"""`parity_tests/gates.toml` as values: what must hold before a flag may be flipped.

Unknown keys and impossible limits are refused: a misspelt rule must not weaken the gate.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from harness.canonical import sha256_hex
from harness.errors import HarnessError, UsageError, first_problem
from harness.gate.rules import LegRule, Phase, PhaseGates, Profile, SampleRule, Table, Text
from harness.gate.weak_keys import is_weak_key
from services.regular_files import open_regular

__all__ = ["Gates", "GatesFileError", "Signer", "Signing", "load_gates", "parse_gates"]

_LARGEST: Final = 1 << 20
"""Bytes of a gates file that are read at most."""


class GatesFileError(HarnessError):
    """The gates file cannot be used."""

    def __init__(self, file: str, key: str, problem: str) -> None:
        super().__init__(f"{file}: {key}: {problem}" if key else f"{file}: {problem}")
        self.file = file
        self.key = key
        self.problem = problem


class Signer(Table):
    """A signer, and what it may sign."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,63}$")]
    """A role, such as `release-manager`."""
    key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """The public key: Ed25519, 32 bytes as hex digits. Without it, the reader gives the key when
    verifying a record, and the signature counts for that call only."""
    phases: tuple[Phase, ...] = Field(strict=False, min_length=1)
    profiles: tuple[Profile, ...] = Field(strict=False, min_length=1)

    @field_validator("key")
    @classmethod
    def _proves_something(cls, value: str | None) -> str | None:
        if value is not None and is_weak_key(value):
            raise ValueError("anybody can sign with this key: it has no owner")
        return value

    @model_validator(mode="after")
    def _given_later(self) -> Self:
        if self.key is None and self.profiles != ("pull_request",):
            raise ValueError('without a key a signer may sign profiles = ["pull_request"] only')
        return self


class Signing(Table):
    """The signers whose signatures count."""

    threshold: Annotated[int, Field(ge=1, le=16)]
    """How many different trusted signers must have signed a record."""
    valid_days: Annotated[int, Field(ge=1, le=3650)] = 90
    """Days for which a record is valid."""
    signer: tuple[Signer, ...] = Field(default=(), strict=False, max_length=64)

    @field_validator("signer")
    @classmethod
    def _different(cls, value: tuple[Signer, ...]) -> tuple[Signer, ...]:
        names = [signer.name for signer in value]
        keys = [signer.key for signer in value if signer.key is not None]
        if len(set(names)) < len(names) or len(set(keys)) < len(keys):
            raise ValueError("a signer's name or key is there twice; the threshold counts signers")
        return value

    def signers(self, phase: str, profile: str) -> tuple[Signer, ...]:
        """The signers that may sign a record of that phase and profile."""
        return tuple(
            each for each in self.signer if phase in each.phases and profile in each.profiles
        )


class Gates(Table):
    """The whole file. `digest` identifies its content."""

    format: Literal[1]
    corpus: tuple[Text, ...] = Field(strict=False, min_length=1)
    """The folders of cassettes that every leg must cover, from the checkout's root."""
    signing: Signing
    phase: Mapping[Phase, PhaseGates]
    digest: str = ""

    @property
    def runtimes(self) -> tuple[str, ...]:
        """The sides of all legs and samples, each once."""
        rules: list[LegRule | SampleRule] = []
        for phase in self.phase.values():
            rules += [*phase.leg, *phase.pull_request.sample, *phase.release.sample]
        sides = (side for rule in rules for side in (rule.control, rule.candidate))
        return tuple(dict.fromkeys(sides))

    def of_phase(self, phase: str) -> PhaseGates:
        """The rules of a phase.

        Raises:
            UsageError: the file has no such phase.
        """
        for name, gates in self.phase.items():
            if name == phase:
                return gates
        known = ", ".join(self.phase) or "none"
        raise UsageError(f"the gates have no phase {phase}", f"they have {known}")


def load_gates(file: Path) -> Gates:
    """Read a gates file.

    Raises:
        GatesFileError: not readable, not TOML, an unknown or missing key, or a wrong value.
    """
    try:
        with open_regular(file) as stream:
            content = stream.read(_LARGEST + 1)
    except OSError as error:
        raise GatesFileError(str(file), "", f"cannot be read: {error.strerror}") from error
    return parse_gates(content, str(file))


def parse_gates(content: bytes, file: str) -> Gates:
    """Read the content of a gates file; `file` names it in messages.

    Raises:
        GatesFileError: as for `load_gates`.
    """
    if len(content) > _LARGEST:
        raise GatesFileError(file, "", f"larger than {_LARGEST} bytes")
    try:
        text = content.decode("utf-8")
        document = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise GatesFileError(file, "", f"not UTF-8: {error.reason}") from error
    except (ValueError, RecursionError) as error:  # a number of too many digits is no TOML error
        raise GatesFileError(file, "", f"not TOML: {error}") from error
    if "digest" in document:
        raise GatesFileError(file, "digest", "unknown key")
    try:
        return Gates.model_validate({**document, "digest": sha256_hex(text)})
    except ValidationError as error:
        raise GatesFileError(file, *first_problem(error)) from error
