"""`parity_tests/gates.toml` as values: what must hold before a flag may be flipped.

Strict on purpose: a key that is misspelt, or a limit that cannot be met, is refused with its place
instead of passing for a gate that asks for less.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from harness.canonical import sha256_hex
from harness.coverage.behaviour import BehaviourClass
from harness.errors import HarnessError, UsageError
from harness.faults.fault import Behaviour
from harness.scenarios.profiles import PROFILES as GENERATOR_PROFILES

__all__ = [
    "PROFILES",
    "CostRule",
    "Gates",
    "GatesFileError",
    "KillRule",
    "LegRule",
    "PhaseGates",
    "ProfileGate",
    "SampleRule",
    "Signer",
    "Signing",
    "WaiverRule",
    "load_gates",
    "parse_gates",
]

PROFILES: Final = ("pull_request", "release")
"""The gate's profiles: what CI can do in minutes, and what is run by night. Not those of the
generator."""

_LARGEST: Final = 1 << 20
"""Bytes of a gates file that are read at most."""
_SIDE: Final = r"^[A-Za-z0-9][A-Za-z0-9_.@-]*(\+[A-Za-z0-9][A-Za-z0-9_.@-]*)?$"

Phase = Literal["A", "B", "C"]
Profile = Literal["pull_request", "release"]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Ratio = Annotated[float, Field(ge=0, le=100)]
Text = Annotated[str, Field(min_length=1, max_length=200)]


class GatesFileError(HarnessError):
    """The gates file cannot be used; nothing is judged by half a file."""

    def __init__(self, file: str, key: str, problem: str) -> None:
        super().__init__(f"{file}: {key}: {problem}" if key else f"{file}: {problem}")
        self.file = file
        self.key = key
        self.problem = problem


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class LegRule(_Table):
    """A comparison that must have been run."""

    name: Text
    control: Annotated[str, Field(pattern=_SIDE)]
    """A runtime's base name; `A+B` begins in A and goes on in B."""
    candidate: Annotated[str, Field(pattern=_SIDE)]
    min_cases: Count
    """Cases of the phase that it must hold at least. A leg of one runtime must hold every one."""

    @property
    def handover(self) -> bool:
        """Whether it resumes sessions, which takes cassettes with two sends or more."""
        return "+" in self.control or "+" in self.candidate


class KillRule(_Table):
    """How well the harness must be measured to notice seeded faults."""

    faults: Count
    """How many observable ones must have been tried."""
    bound: Share
    """The exact lower 95 % bound of the share found, over all."""
    class_faults: Count
    """The same for each class of faults."""
    class_bound: Share
    held_out: Share = 0.0
    """The same bound over those that the corpus was not made for; 0 asks for none."""


class SampleRule(_Table):
    """Generated scenarios that must have been drawn independently without a finding."""

    profile: Text
    """A profile of the generator."""
    examples: Annotated[int, Field(ge=1)]
    control: Text = "legacy"
    candidate: Text = "adk"

    @field_validator("profile")
    @classmethod
    def _known_profile(cls, value: str) -> str:
        _check_known([value], list(GENERATOR_PROFILES))
        return value


class WaiverRule(_Table):
    """How much may be waived."""

    most: Count
    """Waivers that may be in the file."""
    warn_days: Count = 14
    """From so many days before its end a waiver is warned of."""


class CostRule(_Table):
    """What the candidate of a leg may cost, as a multiple of its control over all cases."""

    leg: Text
    model_calls: Ratio
    tokens: Ratio
    prefix_stability: Ratio
    """At least this multiple: what is sent again as it was is what prompt caches live on."""


class ProfileGate(_Table):
    """What one profile asks for in one phase."""

    max_age_days: Count
    """Days between a run and the day by which it is judged."""
    baselines: bool
    """Whether baselines of a runtime may stand for it."""
    recordings_days: Count
    """Recordings older than this are told of in a record; no answer rests on it."""
    kills: KillRule
    sample: tuple[SampleRule, ...] = Field(strict=False)
    waivers: WaiverRule
    cost: tuple[CostRule, ...] = Field(strict=False)


class PhaseGates(_Table):
    """What a rollout phase is, and what its profiles ask for."""

    title: Text
    cassettes: tuple[Phase, ...] = Field(strict=False, min_length=1)
    """The phases of the cassettes that count."""
    leg: tuple[LegRule, ...] = Field(strict=False, min_length=1)
    reached_in: Text
    """The leg in which both runtimes must have reached the classes."""
    classes: Mapping[str, Annotated[int, Field(ge=1)]]
    """Class of the contract to the cases that must have reached it in both runtimes; one that the
    contract has for this phase and that is not named here must be reached once."""
    fault_classes: tuple[Text, ...] = Field(strict=False)
    """Classes of seeded faults of which each must be measured."""
    pull_request: ProfileGate
    release: ProfileGate

    @field_validator("classes")
    @classmethod
    def _known_classes(cls, value: Mapping[str, int]) -> Mapping[str, int]:
        _check_known(value, [each.value for each in BehaviourClass])
        return value

    @field_validator("fault_classes")
    @classmethod
    def _known_fault_classes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        _check_known(value, [each.value for each in Behaviour])
        return value

    @model_validator(mode="after")
    def _legs(self) -> Self:
        names = [leg.name for leg in self.leg]
        if len(set(names)) < len(names):
            raise ValueError("two legs have one name")
        sides = [(leg.control, leg.candidate) for leg in self.leg]
        if len(set(sides)) < len(sides):
            raise ValueError("two legs compare the same")
        asked = [self.reached_in]
        asked += [rule.leg for gate in (self.pull_request, self.release) for rule in gate.cost]
        for name in asked:
            if name not in names:
                raise ValueError(f"there is no leg {name!r}; there are {', '.join(names)}")
        return self

    def gate(self, profile: str) -> ProfileGate:
        """The gate of a profile."""
        return self.release if profile == "release" else self.pull_request

    def leg_called(self, name: str) -> LegRule:
        """The leg of that name, which the file was checked to have."""
        return next(leg for leg in self.leg if leg.name == name)


class Signer(_Table):
    """Who may sign, and what."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,63}$")]
    """A role, such as `release-manager`."""
    key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """The public key: Ed25519, 32 bytes as hex digits. Without one, the key is named when a record
    is verified, and what it signed counts there only."""
    phases: tuple[Phase, ...] = Field(strict=False, min_length=1)
    profiles: tuple[Profile, ...] = Field(strict=False, min_length=1)

    @model_validator(mode="after")
    def _given_later(self) -> Self:
        if self.key is None and self.profiles != ("pull_request",):
            raise ValueError('without a key a signer may sign profiles = ["pull_request"] only')
        return self


class Signing(_Table):
    """Whose signatures count."""

    threshold: Annotated[int, Field(ge=1, le=16)]
    """How many different trusted signers must have signed a record."""
    valid_days: Annotated[int, Field(ge=1)] = 90
    """Days for which a record stands: later a flag is not flipped by it."""
    signer: tuple[Signer, ...] = Field(default=(), strict=False, max_length=64)

    @field_validator("signer")
    @classmethod
    def _different(cls, value: tuple[Signer, ...]) -> tuple[Signer, ...]:
        names = [signer.name for signer in value]
        keys = [signer.key for signer in value if signer.key is not None]
        if len(set(names)) < len(names) or len(set(keys)) < len(keys):
            raise ValueError("a signer's name or key is there twice; the threshold counts people")
        return value

    def signers(self, phase: str, profile: str) -> tuple[Signer, ...]:
        """Those who may sign a record of that phase and profile."""
        return tuple(
            each for each in self.signer if phase in each.phases and profile in each.profiles
        )


class Gates(_Table):
    """The whole file. `digest` identifies its content."""

    format: Literal[1]
    corpus: tuple[Text, ...] = Field(strict=False, min_length=1)
    """The folders of cassettes that every leg must have covered, from the checkout's root."""
    signing: Signing
    phase: Mapping[Phase, PhaseGates]
    digest: str = ""

    def of_phase(self, phase: str) -> PhaseGates:
        """What a phase asks for.

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
        with file.open("rb") as stream:
            content = stream.read(_LARGEST + 1)
    except OSError as error:
        raise GatesFileError(str(file), "", f"cannot be read: {error.strerror}") from error
    return parse_gates(content, str(file))


def parse_gates(content: bytes, file: str) -> Gates:
    """Read what stands in a gates file; `file` names it in messages.

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
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise GatesFileError(file, "", f"not TOML: {error}") from error
    if "digest" in document:
        raise GatesFileError(file, "digest", "unknown key")
    try:
        return Gates.model_validate({**document, "digest": sha256_hex(text)})
    except ValidationError as error:
        first = error.errors()[0]
        raise GatesFileError(file, _place(first["loc"]), _in_words(dict(first))) from error


def _check_known(names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"there is no {name!r}; there are {', '.join(known)}")


def _place(steps: tuple[int | str, ...]) -> str:
    joined = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return re.sub(r"\.\[key\]", "", joined).removeprefix(".")


def _in_words(error: Mapping[str, Any]) -> str:
    kind, message = error["type"], str(error["msg"])
    if kind == "extra_forbidden":
        return "unknown key"
    if kind == "missing":
        return "this key must be there"
    return message.removeprefix("Value error, ")
