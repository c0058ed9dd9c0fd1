"""`GateAnswer`: yes, no or unknown, with everything that it rests on; the value that is signed.

It reads and writes JSON strictly: what was signed yesterday must say the same today, and what
somebody else wrote is refused unless it is exactly this.
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
    "Reason",
    "ReasonKind",
    "Sample",
    "WaiverAnswer",
    "answer_of",
]

_FORMAT: Final = 1


class Condition(Value):
    """One thing that must hold, and whether it does."""

    name: str
    """`legs`, `coverage`, `kills`, `samples`, `waivers`, `provider rules`, `cost`."""
    about: str
    """What must hold, in a few words."""
    answer: Answer = Field(strict=False)
    says: str
    """What was seen."""


class Leg(Value):
    """One comparison of the gate, as it was run."""

    name: str
    control: str
    candidate: str
    cases: int
    parity: int
    divergent: int
    inconclusive: int
    waived: int
    """Differences that waivers cover."""
    corpus: str
    """Digest of the cassettes that it covered."""
    as_of: str
    """The day by which its waivers were judged when it was run, ISO."""
    started_at: str
    """When it was run, UTC, ISO."""
    revision: str
    """The commit that it was run in; empty where that is not known."""
    dirty: bool
    """Files of the checkout differed from that commit."""
    digest: str
    """Over the names and the traces of all its cases: equal where the same was observed."""
    components: dict[str, str]
    """Component of the inventory to its digest when it was run."""
    environment: dict[str, str]


class ClassAnswer(Value):
    """How a class of behaviours was reached, over the leg that the gate asks about."""

    name: str
    declared: int
    """Cases that name a behaviour of the class."""
    cases: int
    """Of these, those in which both runtimes showed it."""
    behaviours: int
    """Behaviours of the class in the contract."""
    reached: int
    """Of these, those that both runtimes showed in a case that names them."""
    never: tuple[str, ...] = Field(strict=False)
    """The others, by id."""


class ClassKills(Value):
    """How many of the seeded faults of a class were found; `all` is every one."""

    name: str
    observable: int
    killed: int
    rate: float
    bound: float
    """At least this with 95 % confidence, exact."""


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
    """Below this at 95 %, exact; `None` where nothing is claimed."""
    says: str
    """The bound in plain words."""


class WaiverAnswer(Value):
    """What became of a waiver."""

    id: str
    state: str
    count: int
    max_count: int
    expires: str
    owner: str


class CostAnswer(Value):
    """What a leg's candidate cost beside its control, over all cases where both are known."""

    leg: str
    cases: int
    model_calls: tuple[int, int] = Field(strict=False)
    """Control and candidate."""
    tokens: tuple[int, int] = Field(strict=False)
    prefix_stability: tuple[float, float] = Field(strict=False)
    """Share of what was sent that began as the request before it."""


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
    samples: tuple[Sample, ...] = Field(default=(), strict=False)
    waivers: tuple[WaiverAnswer, ...] = Field(default=(), strict=False)
    cost: tuple[CostAnswer, ...] = Field(default=(), strict=False)
    remarks: tuple[str, ...] = Field(default=(), strict=False)
    """What does not count but is worth knowing: waivers that end soon, places not read."""
    corpus: str = ""
    """Digest of the cassettes that all legs covered."""
    inventory: dict[str, str] = Field(default_factory=dict)
    """Component to digest of what was here when it was judged."""

    @model_validator(mode="after")
    def _follows(self) -> Self:
        if self.answer is not answer_of(self.reasons):
            raise ValueError(f"the answer is {self.answer.value!r}, which its reasons do not say")
        return self

    @classmethod
    def of(cls, reasons: Iterable[Reason], **rest: Any) -> GateAnswer:
        """The answer that follows from the reasons."""
        found = tuple(reasons)
        return cls(answer=answer_of(found), reasons=found, **rest)

    def to_json(self) -> JsonObject:
        """As written to files and signed."""
        return {"gate": _FORMAT, **self.model_dump(mode="json", by_alias=True)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> GateAnswer:
        """The inverse of `to_json`.

        Raises:
            ValueError, TypeError: what was written is no gate's answer, or of another format.
        """
        rest = dict(value)
        if rest.pop("gate", None) != _FORMAT:
            raise ValueError(f"no gate's answer of format {_FORMAT}")
        try:
            return cls.model_validate(rest, by_alias=True, by_name=False)
        except ValidationError as error:
            place, problem = first_problem(error)
            raise ValueError(f"{place or 'the answer'}: {problem}") from error
