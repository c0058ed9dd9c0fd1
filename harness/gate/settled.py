"""Provider rules: a leg with the published core must settle what both runtimes break alike.

Two runtimes that send the same request, which the API would refuse, do not diverge
(docs/provider-rules.md). A leg with the published core decides: the finding is inherited if the
core breaks the rule too, and otherwise it is a divergence of that leg.

A resumed session sends other requests, so only a leg in which the published core resumes sessions
can settle the findings there. If the profile requires no such leg, they become remarks.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.gate.answer import Reason, ReasonKind
from harness.gate.legs import LegSeen
from harness.gate.rules import LegRule
from harness.gate.scope import Judged, Scope, counted, listed
from harness.parity.verdict import CaseResult
from harness.sides import base_names

__all__ = ["judged_provider"]

_CORE = "upstream"


def judged_provider(scope: Scope, seen: Sequence[LegSeen]) -> tuple[Judged, list[str]]:
    """The condition over all legs, and remarks about findings that no required leg can settle."""
    total = left = 0
    reasons: list[Reason] = []
    remarks: list[str] = []
    for leg in seen:
        total += sum(len(case.unsettled) for case in leg.cases)
        found = {case.cassette: _unsettled(case, leg, seen) for case in leg.cases}
        count = sum(map(len, found.values()))
        if not count:
            continue
        says = f"{counted(count, 'finding')} of provider rules in {leg.run.file.name} not settled"
        measure = _measure(scope, leg.rule)
        if measure is None:
            remarks.append(f"{says}: no leg resumes sessions in the published core")
            continue
        left += count
        named = [
            f"{name} ({', '.join(dict.fromkeys(rules))})" for name, rules in found.items() if rules
        ]
        reasons.append(
            scope.reason(
                ReasonKind.UNSETTLED,
                leg.rule.name,
                f"{says}: {listed(named)}",
                scope.leg_measurement(measure).command,
            )
        )
    about = "provider rules broken on both sides are settled"
    says = f"{counted(total, 'finding')}, {left} not settled"
    lacks = scope.lacking(leg.rule for leg in seen)
    return Judged.of("provider rules", about, says, reasons, lacks=lacks), remarks


def _measure(scope: Scope, rule: LegRule) -> LegRule | None:
    """The leg that would settle findings of `rule`; `None` if the profile requires none."""
    return next((each for each in scope.legs if _measures(each, rule)), None)


def _measures(measure: LegRule, rule: LegRule) -> bool:
    engines = base_names(measure.control) | base_names(measure.candidate)
    return _CORE in engines and measure.handover == rule.handover


def _unsettled(case: CaseResult, leg: LegSeen, seen: Sequence[LegSeen]) -> list[str]:
    """The rules of a case's findings that no leg with the published core settles."""
    found = [committed.finding.rule for committed in case.unsettled]
    if not found:
        return []
    if not leg.rule.handover:
        others = [each for each in seen if each is not leg and _measures(each.rule, leg.rule)]
        return [] if any(_decided(each, case) for each in others) else found
    # In a leg with the core, rules that both sides break are rules that the core breaks.
    inherited = {
        committed.finding.rule
        for each in seen
        if _measures(each.rule, leg.rule) and _decided(each, case)
        for committed in (*each.results[case.cassette].unsettled,)
    }
    return [rule for rule in found if rule not in inherited]


def _decided(leg: LegSeen, case: CaseResult) -> bool:
    result = leg.results.get(case.cassette)
    return result is not None and not result.blockers
