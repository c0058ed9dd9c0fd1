"""`judge`: the gate's answer to a `Scope`. It reads no file and runs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.gate.answer import GateAnswer, Reason
from harness.gate.cost import judged_cost
from harness.gate.kills import judged_kills
from harness.gate.legs import judged_legs, seen_legs
from harness.gate.mutants import judged_mutants
from harness.gate.reached import judged_coverage
from harness.gate.samples import judged_samples
from harness.gate.scope import Judged, Scope, counted
from harness.gate.settled import judged_provider
from harness.gate.waived import judged_waivers

__all__ = ["judge"]


def judge(scope: Scope) -> GateAnswer:
    """Decide whether the evidence allows flipping the flag of the phase.

    Raises:
        UsageError: The gates have no such phase.
    """
    seen = seen_legs(scope)
    coverage, classes = judged_coverage(scope, seen)
    kills, tallies = judged_kills(scope)
    mutants, shares = judged_mutants(scope)
    samples, drawn = judged_samples(scope)
    waived, states, warnings = judged_waivers(scope, seen)
    provider, alike = judged_provider(scope, seen)
    cost, costs = judged_cost(scope, seen)
    judged = [
        *judged_legs(scope, seen),
        provider,
        waived,
        *coverage,
        *kills,
        *mutants,
        *samples,
        *cost,
    ]
    # The first run of a leg is the most complete; the others can only add contradictions.
    legs = {leg.rule.name: leg for leg in reversed(seen)}
    return GateAnswer.of(
        _with_consequences(judged),
        phase=scope.phase,
        profile=scope.profile,
        as_of=scope.as_of.isoformat(),
        conditions=tuple(each.condition for each in judged),
        legs=tuple(legs[rule.name].summary() for rule in scope.legs if rule.name in legs),
        coverage=classes,
        kills=tallies,
        mutants=shares,
        samples=drawn,
        waivers=states,
        cost=costs,
        remarks=(*warnings, *alike, *_unsettled_in_samples(scope), *scope.evidence.remarks),
        corpus=scope.current.digests.get("corpus", ""),
        inventory=scope.current.digests,
    )


def _with_consequences(judged: Sequence[Judged]) -> Iterator[Reason]:
    """Yield all reasons; the first one of a missing leg lists the conditions left open."""
    named: set[str] = set()
    for reason in (reason for each in judged for reason in each.reasons):
        open_ = (
            ()
            if reason.about in named
            else tuple(each.condition.about for each in judged if reason.about in each.lacks)
        )
        named.update([reason.about] if open_ else [])
        yield reason.model_copy(update={"leaves_open": open_})


def _unsettled_in_samples(scope: Scope) -> Iterator[str]:
    """Yield a remark for each sample in which both sides broke provider rules, which stay open."""
    for run in scope.evidence.samples:
        count = sum(run.unsettled.values())
        if count:
            what = counted(count, "finding")
            yield f"{run.file.name}: {what} of provider rules on both sides, not settled"
