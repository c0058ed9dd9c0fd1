"""`judge`: evidence in, answer out; nothing is read or run here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from harness.coverage.contract import Contract
from harness.gate.answer import GateAnswer, Reason
from harness.gate.cost import judged_cost
from harness.gate.evidence import Evidence
from harness.gate.gates import Gates
from harness.gate.kills import judged_kills
from harness.gate.legs import judged_legs, seen_legs
from harness.gate.reached import judged_coverage
from harness.gate.samples import judged_samples
from harness.gate.scope import FOLDER, Judged, Scope, counted
from harness.gate.settled import judged_provider
from harness.gate.waived import judged_waivers
from harness.inventory import Inventory
from harness.parity.waivers import Waivers

__all__ = ["judge"]


def judge(
    evidence: Evidence,
    gates: Gates,
    phase: str,
    profile: str,
    as_of: date,
    current: Inventory,
    *,
    waivers: Waivers,
    contract: Contract,
    environment: Mapping[str, str],
    folder: Path = FOLDER,
    seed: int = 0,
) -> GateAnswer:
    """Whether a phase may be flipped, by what was found.

    Args:
        evidence: What was run and measured.
        gates: What must hold.
        phase: The rollout phase.
        profile: `pull_request` or `release`.
        as_of: The day by which waivers and ages are judged.
        current: What is here now; evidence of anything else is stale.
        waivers: The accepted differences, by which all legs are settled anew.
        contract: The behaviours, by which coverage is counted.
        environment: The machine here, in words; evidence of other packages does not count.
        folder: Where the measurements that are proposed leave what they measure.
        seed: By which the samples of a release are drawn.

    Raises:
        UsageError: the gates have no such phase.
    """
    scope = Scope(
        evidence=evidence,
        policy=gates,
        phase=phase,
        profile=profile,
        as_of=as_of,
        current=current,
        waivers=waivers,
        contract=contract,
        environment=environment,
        folder=folder,
        seed=seed,
    )
    seen = seen_legs(scope)
    coverage, classes = judged_coverage(scope, seen)
    kills, tallies = judged_kills(scope)
    samples, drawn = judged_samples(scope)
    waived, states, warnings = judged_waivers(scope, seen)
    provider, alike = judged_provider(scope, seen)
    cost, costs = judged_cost(scope, seen)
    judged = [
        *judged_legs(scope, seen),
        provider,
        waived,
        *coverage,
        kills,
        *samples,
        *cost,
    ]
    # The first run of a leg is its most complete one; others only speak against it.
    legs = {leg.rule.name: leg for leg in reversed(seen)}
    return GateAnswer.of(
        _with_consequences(judged),
        phase=phase,
        profile=profile,
        as_of=as_of.isoformat(),
        conditions=tuple(each.condition for each in judged),
        legs=tuple(legs[rule.name].summary() for rule in scope.legs if rule.name in legs),
        coverage=classes,
        kills=tallies,
        samples=drawn,
        waivers=states,
        cost=costs,
        remarks=(*warnings, *alike, *_unsettled_in_samples(scope), *evidence.remarks),
        corpus=current.digests.get("corpus", ""),
        inventory=current.digests,
    )


def _with_consequences(judged: Sequence[Judged]) -> Iterator[Reason]:
    """All reasons; the first one of each leg that lacks says what is not known without the leg."""
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
    """What samples saw of provider rules broken on both sides; no leg settles that."""
    for run in scope.evidence.samples:
        count = sum(run.unsettled.values())
        if count:
            what = counted(count, "finding")
            yield f"{run.file.name}: {what} of provider rules on both sides, not settled"
