"""Provider rules: what both runtimes break alike, a run against the published core has settled.

Two runtimes that agree in a request which the API would refuse are no divergence, and no proof
either (docs/provider-rules.md). The leg with the published core tells which of the two it is: what
the core commits there is inherited, and what it doesn't commit diverges in that leg.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.gate.answer import ReasonKind
from harness.gate.legs import LegSeen
from harness.gate.scope import Judged, Scope, counted, listed
from harness.parity.verdict import CaseResult

__all__ = ["judged_provider"]

_CORE = "upstream"


def judged_provider(scope: Scope, seen: Sequence[LegSeen]) -> Judged:
    """The condition over all legs."""
    about = "provider rules broken on both sides are settled"
    measures = [leg for leg in seen if _CORE in _sides(leg)]
    reasons = []
    total = open_ = 0
    for leg in seen:
        names = []
        for case in leg.cases:
            total += len(case.unsettled)
            unsettled = _unsettled(case, leg, measures)
            open_ += len(unsettled)
            names += [f"{case.cassette} ({rule})" for rule in dict.fromkeys(unsettled)]
        if names:
            says = f"{counted(len(names), 'finding')} in {leg.run.file.name} not settled: "
            command = next(
                (scope.leg_command(rule) for rule in scope.gates.leg if _CORE in rule.control),
                "parity baseline --runtime upstream --out baselines/upstream",
            )
            reasons.append(
                scope.reason(ReasonKind.UNSETTLED, leg.rule.name, says + listed(names), command)
            )
    says = f"{counted(total, 'finding')}, of which {open_} not settled"
    return Judged.of("provider rules", about, says, reasons)


def _sides(leg: LegSeen) -> tuple[str, str]:
    return (leg.rule.control.partition("@")[0], leg.rule.candidate.partition("@")[0])


def _unsettled(case: CaseResult, leg: LegSeen, measures: Sequence[LegSeen]) -> list[str]:
    """The rules of a case's findings that no leg with the published core settles."""
    found = [committed.finding.rule for committed in case.unsettled]
    if not found or leg in measures:
        return found
    measured = [each.results[case.cassette] for each in measures if case.cassette in each.results]
    decided = [result for result in measured if not result.blockers and not result.unsettled]
    if not decided:
        return found
    if not leg.rule.handover:
        return []
    # A session that changes hands asks other requests: only a rule that the core itself breaks in
    # this cassette is known to be its own.
    inherited = {each.finding.rule for result in decided for each in result.inherited}
    return [rule for rule in found if rule not in inherited]
