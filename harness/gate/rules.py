"""The rules of the gate as values: the phases, and the requirements of each profile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from harness.cassette.format import Phase as CassettePhase
from harness.coverage.behaviour import BehaviourClass
from harness.mutants.population import ROOMS
from harness.scenarios.profiles import PROFILES as GENERATOR_PROFILES
from harness.sides import SURFACES, hands_over, surface_name
from seeded_faults import Behaviour

__all__ = [
    "PHASE_NAME",
    "PROFILES",
    "CostRule",
    "KillRule",
    "LegRule",
    "MutantRule",
    "Phase",
    "PhaseGates",
    "Profile",
    "ProfileGate",
    "SampleRule",
    "Table",
    "Text",
    "WaiverRule",
]

PHASE_NAME: Final = r"^[A-Za-z][A-Za-z_-]{0,31}$"
"""A phase's name: `A`, or in a project with phases of its own, `read-only`."""
Profile = Literal["pull_request", "release"]
PROFILES: Final[tuple[Profile, ...]] = ("pull_request", "release")
"""The gate's profiles (not the generator's): one for CI, in minutes, and one for nightly runs."""
_SIDE: Final = (
    rf"^(({'|'.join(SURFACES)}):)?"
    r"[A-Za-z0-9][A-Za-z0-9_.@-]*(\+[A-Za-z0-9][A-Za-z0-9_.@-]*)?$"
)

Phase = Annotated[str, Field(pattern=PHASE_NAME)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Ratio = Annotated[float, Field(ge=0, le=100)]
Text = Annotated[str, Field(min_length=1, max_length=200)]


class Table(BaseModel):
    """A table of the gates file: unknown keys and other types are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class LegRule(Table):
    """A comparison that must have been run."""

    name: Text
    control: Annotated[str, Field(pattern=_SIDE)]
    """A runtime's base name; `A+B` begins in A and resumes in B; `terminal:A` is A behind that
    surface."""
    candidate: Annotated[str, Field(pattern=_SIDE)]
    min_cases: Count
    """Minimum of cases of the phases that count."""
    own_cases: Count = 0
    """Minimum of cases of the phase itself among them."""
    profiles: tuple[Profile, ...] = Field(default=PROFILES, strict=False, min_length=1)
    """The profiles of the gate that require it."""

    @property
    def handover(self) -> bool:
        """Whether it resumes sessions, which needs cassettes with two sends or more."""
        return hands_over(self.control) or hands_over(self.candidate)

    @property
    def surface(self) -> str | None:
        """The surface of both sides. The leg has the cassettes of the phase itself, and counts
        those that a user of the surface can play.
        """
        return surface_name(self.control)

    @model_validator(mode="after")
    def _one_surface(self) -> Self:
        if surface_name(self.control) != surface_name(self.candidate):
            raise ValueError("control and candidate are not behind the same surface")
        return self


class KillRule(Table):
    """The number of seeded faults to measure, and the share to find."""

    faults: Count
    """Minimum of observable faults."""
    bound: Share
    """Minimum of the exact lower 95 % bound of the kill rate."""
    class_faults: Count
    """The same minimum for each class of faults."""
    class_bound: Share
    held_out: Share = 0.0
    """The same bound over the held-out faults; 0 requires none."""


class MutantRule(Table):
    """A sample of mutants of one part of the source, and the share to find."""

    part: Literal["runtimes", "services"]
    sample: Annotated[int, Field(ge=1)]
    """Minimum of mutants that are reached and not equivalent."""
    bound: Share
    """Minimum of the exact lower 95 % bound of the share found."""
    cases: Count = 0
    """How many cassettes, drawn at random, the sample runs with; 0 for all."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The folders of the part, as `parity mutants --json` lists them."""
        return ROOMS[self.part]


class SampleRule(Table):
    """Generated scenarios that must be drawn independently, and without a finding."""

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


class WaiverRule(Table):
    """Limits of the waivers."""

    most: Count
    """Maximum of waivers in the file."""
    warn_days: Count = 14
    """Days before the end of a waiver from which a warning is shown."""


class CostRule(Table):
    """Limits of a candidate's cost, as multiples of its control's cost over all cases."""

    leg: Text
    model_calls: Ratio
    tokens: Ratio
    prefix_stability: Ratio
    """Minimum: prompt caches depend on unchanged prefixes of requests."""


class ProfileGate(Table):
    """The requirements of one profile in one phase."""

    max_age_days: Count
    """Maximum of days between a run and the day of the judgement."""
    baselines: bool = False
    """Whether baselines of a runtime may replace it."""
    recordings_days: Count = 365
    """Days after which a record mentions that recordings are old; no answer depends on it."""
    unobserved: tuple[Text, ...] = Field(default=(), strict=False)
    """Classes of the contract that it does not ask for, as nothing observes them yet."""
    kills: KillRule | None = None
    """`None` where no faults are seeded into the runtimes, as into those of a project."""
    mutants: tuple[MutantRule, ...] = Field(default=(), strict=False)
    sample: tuple[SampleRule, ...] = Field(default=(), strict=False)
    waivers: WaiverRule
    cost: tuple[CostRule, ...] = Field(default=(), strict=False)

    @field_validator("unobserved")
    @classmethod
    def _known_classes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        _check_known(value, [each.value for each in BehaviourClass])
        return value


class PhaseGates(Table):
    """A rollout phase, and the requirements of its profiles."""

    title: Text
    flag: Text | None = None
    """The project's own flag that switches the phase, as `parity can-flip` takes it."""
    cassettes: tuple[CassettePhase, ...] | None = Field(default=None, strict=False, min_length=1)
    """The phases of the cassettes that count; `None` for all cassettes."""
    leg: tuple[LegRule, ...] = Field(strict=False, min_length=1)
    reached_in: Text | None = None
    """The leg in which both runtimes must have reached the classes; `None` without a contract."""
    classes: Mapping[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    """Class of the contract → minimum of cases that reach it in both runtimes. The minimum is 1 for
    the other classes of the phase."""
    fault_classes: tuple[Text, ...] = Field(default=(), strict=False)
    """Classes of seeded faults that must be measured."""
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
        for profile in PROFILES:
            there = [leg.name for leg in self.legs(profile)]
            if not there:
                raise ValueError(f"{profile} has no leg, so nothing would be compared")
            for name in (self.reached_in, *(rule.leg for rule in self.gate(profile).cost)):
                if name is not None and name not in there:
                    listed = ", ".join(there) or "none"
                    raise ValueError(f"{profile} has no leg {name!r}; it has {listed}")
        if self.reached_in is None and self.classes:
            raise ValueError("classes are asked for, and no leg in which they must be reached")
        return self

    def legs(self, profile: str) -> tuple[LegRule, ...]:
        """Return the legs that a profile requires."""
        return tuple(leg for leg in self.leg if profile in leg.profiles)

    def gate(self, profile: str) -> ProfileGate:
        """Return the gate of a profile."""
        return self.release if profile == "release" else self.pull_request

    def leg_called(self, name: str) -> LegRule:
        """Return the leg of that name."""
        return next(leg for leg in self.leg if leg.name == name)


def _check_known(names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"there is no {name!r}; there are {', '.join(known)}")
