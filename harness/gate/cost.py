"""The cost leg: the candidate asks the model no more than the control, beyond what is allowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from harness.gate.answer import CostAnswer, Reason, ReasonKind
from harness.gate.legs import LegSeen
from harness.gate.rules import CostRule
from harness.gate.scope import Judged, Scope, counted

__all__ = ["judged_cost"]

_LARGEST: Final = 10**12
"""Bound of each number of a case; a journal may come from anywhere."""

Count = Annotated[int, Field(ge=0, le=_LARGEST)]
Amount = Annotated[float, Field(ge=0, le=_LARGEST, allow_inf_nan=False)]
"""A server may count half a token, and the published core adds fractions up."""


class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, strict=True)


class _Tokens(_Part):
    input_tokens: Amount
    output_tokens: Amount


class _Cost(_Part):
    """What a journal says of one side of a case."""

    model_calls: dict[str, Count]
    tokens: _Tokens
    contents_sent: Count
    contents_sent_before: Count


@dataclass(slots=True)
class _Side:
    """One side's cost over all cases."""

    model_calls: int = 0
    tokens: int = 0
    sent: int = 0
    sent_before: int = 0

    def add(self, cost: _Cost) -> None:
        self.model_calls += sum(cost.model_calls.values())
        self.tokens += round(cost.tokens.input_tokens + cost.tokens.output_tokens)
        self.sent += cost.contents_sent
        self.sent_before += cost.contents_sent_before

    @property
    def prefix_stability(self) -> float:
        return self.sent_before / self.sent if self.sent else 1.0


def judged_cost(
    scope: Scope, seen: Sequence[LegSeen]
) -> tuple[list[Judged], tuple[CostAnswer, ...]]:
    """A condition and the totals for each leg whose cost the profile limits."""
    found, answers = [], []
    for rule in scope.rules.cost:
        leg = next((leg for leg in seen if leg.rule.name == rule.leg), None)
        judged, answer = _judged(scope, rule, leg)
        found.append(judged)
        answers += [answer] if answer is not None else []
    return found, tuple(answers)


def _judged(scope: Scope, rule: CostRule, leg: LegSeen | None) -> tuple[Judged, CostAnswer | None]:
    about = f"cost within limits: {rule.leg}"
    if leg is None:
        return Judged.of(
            "cost", about, "not run with the current files", [], lacks=[rule.leg]
        ), None
    control, candidate = _Side(), _Side()
    # Undecided cases have no cost; the leg's own condition reports them.
    cases = [case for case in leg.cases if not case.blockers]
    known = 0
    for case in cases:
        if case.cost is None:
            continue
        try:
            both = [_Cost.model_validate(cost) for cost in case.cost]
        except ValidationError:
            continue
        control.add(both[0])
        candidate.add(both[1])
        known += 1
    if not known or known < len(cases):
        says = f"the cost of {counted(len(cases) - known, 'case')} is not known"
        anew = scope.leg_measurement(leg.rule)
        reason = scope.reason(ReasonKind.COST_UNKNOWN, rule.leg, says, anew.command)
        return Judged.of("cost", about, says, [reason]), None
    answer = CostAnswer(
        leg=rule.leg,
        cases=known,
        model_calls=(control.model_calls, candidate.model_calls),
        tokens=(control.tokens, candidate.tokens),
        prefix_stability=(
            round(control.prefix_stability, 6),
            round(candidate.prefix_stability, 6),
        ),
    )
    says = (
        f"model calls {control.model_calls:,} → {candidate.model_calls:,}, tokens "
        f"{control.tokens:,} → {candidate.tokens:,}, prefix stability "
        f"{control.prefix_stability:.1%} → {candidate.prefix_stability:.1%}"
    )
    return Judged.of("cost", about, says, _above(scope, rule, control, candidate)), answer


def _above(scope: Scope, rule: CostRule, control: _Side, candidate: _Side) -> Iterator[Reason]:
    change = f"parity run -k 'a case of channel cost', or the limit in [phase.{scope.phase}]"
    for what, was, now, most in (
        ("model calls", control.model_calls, candidate.model_calls, rule.model_calls),
        ("tokens", control.tokens, candidate.tokens, rule.tokens),
    ):
        if now > was * most:
            says = f"{what}: {now:,}, control {was:,}; {most:g} times the control is allowed"
            yield scope.reason(ReasonKind.COST_ABOVE, what, says, change)
    least = control.prefix_stability * rule.prefix_stability
    if candidate.prefix_stability < least:
        says = (
            f"{candidate.prefix_stability:.2%} of what is sent was sent before as it is, and at "
            f"least {least:.2%} is required"
        )
        yield scope.reason(ReasonKind.COST_ABOVE, "prefix stability", says, change)
