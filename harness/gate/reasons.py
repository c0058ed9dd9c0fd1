"""`Reason`: a reason why the answer is not yes. Its kind decides between no and unknown."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from enum import StrEnum
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

__all__ = ["Answer", "Measurement", "Reason", "ReasonKind", "Value", "answer_of"]


class Answer(StrEnum):
    """The three answers."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class ReasonKind(StrEnum):
    """The kinds of reasons why an answer is not yes."""

    LEG_MISSING = "leg missing"
    LEG_PARTIAL = "leg partial"
    """The run was interrupted, or left out cases."""
    LEG_STALE = "leg stale"
    """Made with other code, baselines or contract than the current ones."""
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
    MUTANTS_MISSING = "mutants missing"
    MUTANTS_STALE = "mutants stale"
    MUTANTS_PARTIAL = "mutants partial"
    MUTANTS_FEW = "too few mutants"
    MUTANTS_LOW = "too few mutants found"
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
    """The record is of other files than the current ones."""
    RECORD_OLD = "record too old"
    RECORD_OTHER_PROFILE = "record of another profile"
    RECORD_REFUSED = "record refused"
    RECORD_UNKNOWN = "records not known"
    """Git cannot determine whether records were removed."""
    RECORD_SAYS_OTHERWISE = "record says otherwise"

    @property
    def answer(self) -> Answer:
        """The answer: no for a contradiction, unknown for missing evidence."""
        return Answer.NO if self in _CONTRADICTIONS else Answer.UNKNOWN


_CONTRADICTIONS: Final = frozenset(
    {
        ReasonKind.DIVERGENT,
        ReasonKind.KILL_RATE_LOW,
        ReasonKind.MUTANTS_LOW,
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


class Value(BaseModel):
    """Part of an answer, written in camel case and read back strictly."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        ser_json_inf_nan="constants",
    )


class Measurement(Value):
    """One `parity` command that makes a missing piece of evidence."""

    kind: Literal["leg", "faults", "mutants", "sample"]
    about: str
    """The subject: the name of a leg, or the profile of a sample."""
    words: tuple[str, ...] = Field(strict=False)
    """The command line after `parity`, without the number of workers."""
    resume: tuple[str, ...] = Field(default=(), strict=False)
    """Further words that continue an interrupted run."""
    control: str = ""
    candidate: str = ""
    """The sides as the command line names them, or empty."""
    units: int
    """Number of cases, faults, mutants or scenarios to run."""

    @property
    def command(self) -> str:
        """The shell command, with one worker per core."""
        return shlex.join(["parity", *self.words, "-n", "0", *self.resume])


class Reason(Value):
    """A reason why an answer is not yes. Callers escape the texts before printing them."""

    kind: ReasonKind = Field(strict=False)
    about: str
    """Name of its subject: a leg, a class, a waiver, a profile."""
    says: str
    """One sentence."""
    change: str
    """Advice that would change the answer: a command, if there is one."""
    condition: str = ""
    """`about` of the condition that it breaks."""
    measure: Measurement | None = None
    """The measurement that would settle it, if there is one."""
    leaves_open: tuple[str, ...] = Field(default=(), strict=False)
    """`about` of the conditions that cannot be judged because of it."""

    @property
    def answer(self) -> Answer:
        """The answer that follows from this reason alone."""
        return self.kind.answer


def answer_of(reasons: Iterable[Reason]) -> Answer:
    """Return no if any reason is a no, unknown if there is another reason, else yes."""
    answers = {reason.answer for reason in reasons}
    if Answer.NO in answers:
        return Answer.NO
    return Answer.UNKNOWN if answers else Answer.YES
