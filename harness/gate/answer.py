"""`GateAnswer`: yes, no or unknown, with everything that it rests on; the value that is signed.

It reads and writes JSON strictly: what was signed yesterday must say the same today, and what
somebody else wrote is refused unless it is exactly this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from services.wire import JsonObject

__all__ = [
    "Answer",
    "ClassAnswer",
    "ClassKills",
    "Condition",
    "CostAnswer",
    "GateAnswer",
    "Leg",
    "Reason",
    "ReasonKind",
    "Sample",
    "WaiverAnswer",
    "answer_of",
]

_FORMAT: Final = 1


class Answer(StrEnum):
    """The three answers. What is not known never promotes."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class ReasonKind(StrEnum):
    """Why an answer is not yes."""

    LEG_MISSING = "leg missing"
    LEG_PARTIAL = "leg partial"
    """The run did not come to its end, or left out some of what it was given."""
    LEG_STALE = "leg stale"
    """Made with other code, baselines or contract than are here now."""
    LEG_OLD = "leg too old"
    LEG_OTHER_CORPUS = "other corpus"
    LEG_OTHER_ENVIRONMENT = "other environment"
    DIVERGENT = "divergent"
    INCONCLUSIVE = "inconclusive"
    UNSETTLED = "unsettled"
    """Both sides break a provider rule, and no run against the published core settles it."""
    CLASS_UNREACHED = "class not reached"
    BEHAVIOUR_UNREACHED = "behaviour not reached"
    """A cassette names a behaviour that no probe saw in one of the runtimes."""
    KILLS_MISSING = "kill matrix missing"
    KILLS_STALE = "kill matrix stale"
    KILLS_PARTIAL = "kill matrix partial"
    KILLS_FEW = "too few faults"
    KILL_RATE_LOW = "kill rate too low"
    SAMPLE_MISSING = "sample missing"
    SAMPLE_STALE = "sample stale"
    SAMPLE_SMALL = "sample too small"
    SAMPLE_FINDINGS = "sample with findings"
    SAMPLE_UNDECIDED = "sample undecided"
    WAIVER_EXPIRED = "waiver expired"
    WAIVER_UNUSED = "waiver unused"
    WAIVER_EXCEEDED = "waiver exceeded"
    WAIVERS_TOO_MANY = "too many waivers"
    COST_UNKNOWN = "cost unknown"
    COST_ABOVE = "cost above limits"
    RECORD_MISSING = "no record"
    RECORD_STALE = "record stale"
    """Of something else than what is here now."""
    RECORD_OLD = "record too old"
    RECORD_OTHER_PROFILE = "record of another profile"
    RECORD_REFUSED = "record refused"
    RECORD_SAYS_OTHERWISE = "record says otherwise"

    @property
    def answer(self) -> Answer:
        """No where something contradicts, unknown where something lacks."""
        return Answer.NO if self in _CONTRADICTIONS else Answer.UNKNOWN


_CONTRADICTIONS: Final = frozenset(
    {
        ReasonKind.DIVERGENT,
        ReasonKind.KILL_RATE_LOW,
        ReasonKind.SAMPLE_FINDINGS,
        ReasonKind.WAIVER_EXPIRED,
        ReasonKind.WAIVER_UNUSED,
        ReasonKind.WAIVER_EXCEEDED,
        ReasonKind.WAIVERS_TOO_MANY,
        ReasonKind.COST_ABOVE,
        ReasonKind.RECORD_OTHER_PROFILE,
        ReasonKind.RECORD_REFUSED,
    }
)


class _Value(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        ser_json_inf_nan="constants",
    )


class Reason(_Value):
    """Why an answer is not yes. All texts are plain; whoever shows them makes them printable."""

    kind: ReasonKind = Field(strict=False)
    about: str
    """What it is about, by name: a leg, a class, a waiver, a profile."""
    says: str
    """One sentence."""
    change: str
    """What would change the answer: a command where there is one."""
    condition: str = ""
    """The condition that does not hold because of it, by what it is about."""

    @property
    def answer(self) -> Answer:
        """What this reason alone makes the answer."""
        return self.kind.answer


def answer_of(reasons: Iterable[Reason]) -> Answer:
    """No if any reason says no; else unknown if there is any; else yes."""
    answers = {reason.answer for reason in reasons}
    if Answer.NO in answers:
        return Answer.NO
    return Answer.UNKNOWN if answers else Answer.YES


class Condition(_Value):
    """One thing that must hold, and whether it does."""

    name: str
    """`legs`, `coverage`, `kills`, `samples`, `waivers`, `provider rules`, `cost`."""
    about: str
    """What must hold, in a few words."""
    answer: Answer = Field(strict=False)
    says: str
    """What was seen."""


class Leg(_Value):
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


class ClassAnswer(_Value):
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


class ClassKills(_Value):
    """How many of the seeded faults of a class were found; `all` is every one."""

    name: str
    observable: int
    killed: int
    rate: float
    bound: float
    """At least this with 95 % confidence, exact."""


class Sample(_Value):
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


class WaiverAnswer(_Value):
    """What became of a waiver."""

    id: str
    state: str
    count: int
    max_count: int
    expires: str
    owner: str


class CostAnswer(_Value):
    """What a leg's candidate cost beside its control, over all cases of which both are known."""

    leg: str
    cases: int
    model_calls: tuple[int, int] = Field(strict=False)
    """Control and candidate."""
    tokens: tuple[int, int] = Field(strict=False)
    prefix_stability: tuple[float, float] = Field(strict=False)
    """Share of what was sent that began as the request before it."""


class GateAnswer(_Value):
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
            first = error.errors()[0]
            place = ".".join(str(step) for step in first["loc"])
            raise ValueError(f"{place or 'the answer'}: {first['msg']}") from error
