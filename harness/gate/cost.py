"""The cost leg: the candidate asks the model no more than the control, beyond what is allowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.gate.answer import CostAnswer, Reason, ReasonKind
from harness.gate.legs import LegSeen
from harness.gate.rules import CostRule
from harness.gate.scope import Judged, Scope, counted
from services.wire import JsonObject

__all__ = ["judged_cost"]

_LARGEST: Final = 10**12
"""Of one case; journals are somebody else's text, and no run comes near it."""


@dataclass(slots=True)
class _Side:
    """One side's cost over all cases."""

    model_calls: int = 0
    tokens: int = 0
    sent: int = 0
    sent_before: int = 0

    def add(self, cost: JsonObject) -> None:
        self.model_calls += sum(map(_count, cost["modelCalls"].values()))
        # A server may count half a token, and the published core adds it up as it is.
        tokens = cost["tokens"]
        self.tokens += round(_amount(tokens["inputTokens"]) + _amount(tokens["outputTokens"]))
        self.sent += _count(cost["contentsSent"])
        self.sent_before += _count(cost["contentsSentBefore"])

    @property
    def prefix_stability(self) -> float:
        return self.sent_before / self.sent if self.sent else 1.0


def judged_cost(
    scope: Scope, seen: Sequence[LegSeen]
) -> tuple[list[Judged], tuple[CostAnswer, ...]]:
    """A condition for each leg of which the profile limits the cost, and what it came to."""
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
        return Judged.of("cost", about, "not run on what is here", [], lacks=[rule.leg]), None
    control, candidate = _Side(), _Side()
    # What could not be decided says nothing of cost; that it could not, the leg's condition says.
    cases = [case for case in leg.cases if not case.blockers]
    known = 0
    for case in cases:
        try:
            if case.cost is None:
                continue
            control.add(case.cost[0])
            candidate.add(case.cost[1])
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
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
        f"{control.tokens:,} → {candidate.tokens:,}, sent again as it was "
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
            says = f"{what}: {now:,} where the control has {was:,}; {most:g} times are allowed"
            yield scope.reason(ReasonKind.COST_ABOVE, what, says, change)
    least = control.prefix_stability * rule.prefix_stability
    if candidate.prefix_stability < least:
        says = (
            f"{candidate.prefix_stability:.2%} of what is sent was sent before as it is, and at "
            f"least {least:.2%} is asked for"
        )
        yield scope.reason(ReasonKind.COST_ABOVE, "prefix stability", says, change)


def _count(value: Any) -> int:
    if not isinstance(value, int):
        raise ValueError("no count")
    return int(_amount(value))


def _amount(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("no amount")
    if not 0 <= value <= _LARGEST:
        raise ValueError("no amount")
    return value
