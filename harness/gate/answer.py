"""`GateAnswer`: yes, no or unknown, with all its reasons; the value that is signed.

Its JSON is read strictly: unknown keys and other types are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

from pydantic import Field, ValidationError, model_validator

from harness.errors import first_problem
from harness.gate.reasons import Answer, Measurement, Reason, ReasonKind, Value, answer_of
from services.wire import JsonObject

__all__ = [
    "Answer",
    "ClassAnswer",
    "ClassKills",
    "Condition",
    "CostAnswer",
    "GateAnswer",
    "Leg",
    "Measurement",
    "MutantAnswer",
    "Reason",
    "ReasonKind",
    "Sample",
    "WaiverAnswer",
    "answer_of",
]

_FORMAT: Final = 1


class Condition(Value):
    """One condition, and whether it holds."""

    name: str
    """`legs`, `coverage`, `kills`, `mutants`, `samples`, `waivers`, `provider rules`, `cost`."""
    about: str
    """The condition in a few words."""
    answer: Answer = Field(strict=False)
    says: str
    """The facts in a sentence."""


class Leg(Value):
    """One comparison of the gate, with its results."""

    name: str
    control: str
    candidate: str
    cases: int
    parity: int
    divergent: int
    inconclusive: int
    waived: int
    """Number of differences that waivers cover."""
    corpus: str
    """Digest of its cassettes."""
    as_of: str
    """The day by which the run judged its waivers, ISO."""
    started_at: str
    """Start of the run, UTC, ISO."""
    revision: str
    """The commit of the run; empty if unknown."""
    dirty: bool
    """Whether files of the checkout differed from that commit."""
    digest: str
    """Digest of the names and traces of all its cases."""
    components: dict[str, str]
    """Component of the inventory → its digest at the time of the run."""
    environment: dict[str, str]


class ClassAnswer(Value):
    """Counts of how the cases of the leg `reached_in` reached a class of behaviours."""

    name: str
    declared: int
    """Cases that declare a behaviour of the class."""
    cases: int
    """Declaring cases in which both runtimes showed it."""
    behaviours: int
    """Behaviours of the class in the contract."""
    reached: int
    """Behaviours that both runtimes showed in a declaring case."""
    never: tuple[str, ...] = Field(strict=False)
    """Ids of the other behaviours."""


class ClassKills(Value):
    """The number of found faults of a class of seeded faults; the class `all` has every fault."""

    name: str
    observable: int
    killed: int
    rate: float
    bound: float
    """Exact lower bound of the rate with 95 % confidence."""


class MutantAnswer(Value):
    """The number of found mutants of a part of the source, over all samples of it."""

    part: str
    """`runtimes` or `services`."""
    seeds: tuple[int, ...] = Field(strict=False)
    tried: int
    """Mutants that are reached and not equivalent."""
    found: int
    bound: float
    """Exact lower bound of the share with 95 % confidence."""


class Sample(Value):
    """Generated scenarios, drawn independently."""

    profile: str
    profile_digest: str
    seeds: tuple[int, ...] = Field(strict=False)
    examples: int
    control: str
    candidate: str
    findings: int
    rate: float | None
    """Exact upper bound of the rate of divergence at 95 %; `None` without a bound."""
    says: str
    """The bound in plain words."""


class WaiverAnswer(Value):
    """The state of a waiver over all legs."""

    id: str
    state: str
    count: int
    max_count: int
    expires: str
    owner: str


class CostAnswer(Value):
    """The cost of a leg's control and candidate, over all cases with known cost."""

    leg: str
    cases: int
    model_calls: tuple[int, int] = Field(strict=False)
    """Control and candidate."""
    tokens: tuple[int, int] = Field(strict=False)
    prefix_stability: tuple[float, float] = Field(strict=False)
    """Share of the sent contents that repeat the beginning of the request before."""


class GateAnswer(Value):
    """The gate's answer for a phase and profile."""

    answer: Answer = Field(strict=False)
    phase: str
    profile: str
    as_of: str
    """The day by which it was judged, ISO."""
    reasons: tuple[Reason, ...] = Field(default=(), strict=False)
    conditions: tuple[Condition, ...] = Field(default=(), strict=False)
    legs: tuple[Leg, ...] = Field(default=(), strict=False)
    coverage: tuple[ClassAnswer, ...] = Field(default=(), strict=False)
    kills: tuple[ClassKills, ...] = Field(default=(), strict=False)
    mutants: tuple[MutantAnswer, ...] = Field(default=(), strict=False)
    samples: tuple[Sample, ...] = Field(default=(), strict=False)
    waivers: tuple[WaiverAnswer, ...] = Field(default=(), strict=False)
    cost: tuple[CostAnswer, ...] = Field(default=(), strict=False)
    remarks: tuple[str, ...] = Field(default=(), strict=False)
    """Notes that do not affect the answer: waivers that end soon, files that were not read."""
    corpus: str = ""
    """Digest of the cassettes of all legs."""
    inventory: dict[str, str] = Field(default_factory=dict)
    """Component → digest of the current files."""

    @model_validator(mode="after")
    def _follows(self) -> Self:
        if self.answer is not answer_of(self.reasons):
            raise ValueError(f"the answer is {self.answer.value!r}, which its reasons do not say")
        return self

    @classmethod
    def of(cls, reasons: Iterable[Reason], **rest: Any) -> GateAnswer:
        """Return the answer that follows from the reasons."""
        found = tuple(reasons)
        return cls(answer=answer_of(found), reasons=found, **rest)

    def to_json(self) -> JsonObject:
        """Return the JSON for files and records."""
        return {"gate": _FORMAT, **self.model_dump(mode="json", by_alias=True)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> GateAnswer:
        """Return the inverse of `to_json`.

        Raises:
            ValueError, TypeError: It is not a gate's answer, or has another format.
        """
        rest = dict(value)
        if rest.pop("gate", None) != _FORMAT:
            raise ValueError(f"no gate's answer of format {_FORMAT}")
        try:
            return cls.model_validate(rest, by_alias=True, by_name=False)
        except ValidationError as error:
            place, problem = first_problem(error)
            raise ValueError(f"{place or 'the answer'}: {problem}") from error
