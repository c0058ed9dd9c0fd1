"""The kill rate: the share of the seeded faults that the harness finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from functools import partial

from harness.detection.bound import lower_bound
from harness.faults.catalogue import faults
from harness.gate.answer import ClassKills, Measurement, Reason, ReasonKind
from harness.gate.measurements import FaultSeen, KillRun
from harness.gate.rules import KillRule
from harness.gate.scope import Judged, Scope, counted, listed
from harness.inventory import HELPERS

__all__ = ["judged_kills"]

_ALL = "all"
_HELD_OUT = "held out"
_ABOUT = "seeded faults are found"


def judged_kills(scope: Scope) -> tuple[list[Judged], tuple[ClassKills, ...]]:
    """Return the condition, and the counts over all faults, the held-out ones, and each class.

    There is no condition where the profile requires no faults.

    The fresh measurement with the most faults counts. A fault that survived in any fresh
    measurement counts as survived.
    """
    rules = scope.rules.kills
    if rules is None:
        return [], ()
    fresh = [run for run in scope.evidence.kills if not _stale(scope, run)]
    if not fresh:
        reason = _lacking(scope, rules)
        return [Judged.of("kills", _ABOUT, "not measured with the current files", [reason])], ()
    run = _without_survivors(max(fresh, key=partial(_place, scope)), fresh)
    tallies = _tallies(scope, run)
    reasons = [*_partial(scope, rules, run), *_too_low(scope, rules, run, tallies)]
    whole = tallies[0]
    says = f"{whole.killed} of {whole.observable} found, at least {whole.bound:.1%} at 95 %"
    says += f" (a sample: {run.sample})" if run.sample else ""
    return [Judged.of("kills", _ABOUT, says, reasons)], tallies


def _stale(scope: Scope, run: KillRun) -> list[str]:
    more = ("corpus", HELPERS, "baselines", "fault catalogue", "waivers")
    facts = run.facts
    return scope.moved(facts.components, *more) + scope.other_packages(facts.environment)


def _place(scope: Scope, run: KillRun) -> tuple[bool, bool, int, date]:
    facts = run.facts
    return (not scope.too_old(facts.as_of), not run.cut_off, len(run.faults), facts.as_of)


def _without_survivors(run: KillRun, fresh: Sequence[KillRun]) -> KillRun:
    """Return `run` with each fault marked as survived that survived in any fresh measurement."""
    survived = {
        fault.name for each in fresh for fault in each.faults if fault.outcome == "survived"
    }
    faults = tuple(
        fault.model_copy(update={"outcome": "survived"})
        if fault.outcome == "killed" and fault.name in survived
        else fault
        for fault in run.faults
    )
    return run.model_copy(update={"faults": faults})


def _measurement(scope: Scope, rules: KillRule, *, whole: bool = False) -> Measurement:
    """Return the measurement of as many faults as the rules require; with `whole`, of all."""
    words = ["faults", "--corpus-only", "--json", str(scope.folder / "kills.json")]
    units = len(faults())
    if scope.profile == "pull_request" and not whole:
        units = max(1, rules.faults)
        words += ["--sample", str(units)]
    return Measurement(
        kind="faults", about="seeded faults", words=scope.over_corpus(*words), units=units
    )


def _lacking(scope: Scope, rules: KillRule) -> Reason:
    if not scope.evidence.kills:
        says = "there is no kill matrix"
        return scope.reason(ReasonKind.KILLS_MISSING, _ALL, says, _measurement(scope, rules))
    run = scope.evidence.kills[0]
    says = f"{run.file.name} was measured with other {listed(_stale(scope, run))}"
    return scope.reason(ReasonKind.KILLS_STALE, _ALL, says, _measurement(scope, rules))


def _partial(scope: Scope, rules: KillRule, run: KillRun) -> Iterator[Reason]:
    if run.cut_off:
        says = f"{run.file.name} was interrupted after {counted(len(run.faults), 'fault')}"
        yield scope.reason(ReasonKind.KILLS_PARTIAL, _ALL, says, _measurement(scope, rules))
    old = scope.too_old(run.facts.as_of)
    if old:
        says = f"{run.file.name}: {old}"
        yield scope.reason(ReasonKind.KILLS_STALE, _ALL, says, _measurement(scope, rules))


def _tallies(scope: Scope, run: KillRun) -> tuple[ClassKills, ...]:
    seen = [fault for fault in run.faults if fault.outcome != "unobservable"]
    classes = dict.fromkeys([*scope.gates.fault_classes, *(fault.behaviour for fault in seen)])
    return (
        _tally(_ALL, seen),
        # A cassette that was added for one fault proves nothing about the rate of others.
        _tally(_HELD_OUT, [fault for fault in seen if fault.held_out], gaps_open=True),
        *(_tally(name, [fault for fault in seen if fault.behaviour == name]) for name in classes),
    )


def _tally(name: str, faults: Sequence[FaultSeen], *, gaps_open: bool = False) -> ClassKills:
    killed = sum(
        fault.outcome == "killed" and not (gaps_open and fault.closed_by) for fault in faults
    )
    return ClassKills(
        name=name,
        observable=len(faults),
        killed=killed,
        rate=killed / len(faults) if faults else 0.0,
        bound=lower_bound(killed, len(faults)),
    )


def _too_low(
    scope: Scope, rules: KillRule, run: KillRun, tallies: Sequence[ClassKills]
) -> Iterator[Reason]:
    whole, held_out, *classes = tallies
    survived = [fault.name for fault in run.faults if fault.outcome == "survived"]
    yield from _asked(scope, rules, run, whole, rules.faults, rules.bound, survived)
    if rules.held_out:
        yield from _asked(scope, rules, run, held_out, 1, rules.held_out, [])
    for tally in classes:
        if tally.name in scope.gates.fault_classes:
            of_class = {fault.name for fault in run.faults if fault.behaviour == tally.name}
            named = [name for name in survived if name in of_class]
            yield from _asked(
                scope, rules, run, tally, rules.class_faults, rules.class_bound, named
            )


def _more(scope: Scope, rules: KillRule, run: KillRun) -> Measurement:
    """Return the measurement of more faults than `run`: an interrupted run again, or after a sample
    the whole catalogue.
    """
    return _measurement(scope, rules, whole=bool(run.sample) and not run.cut_off)


def _asked(
    scope: Scope,
    rules: KillRule,
    run: KillRun,
    tally: ClassKills,
    least: int,
    bound: float,
    survived: Sequence[str],
) -> Iterator[Reason]:
    about = tally.name
    if tally.observable < least:
        says = f"{counted(tally.observable, 'fault')} tried ({about}), and {least} are required"
        yield scope.reason(ReasonKind.KILLS_FEW, about, says, _more(scope, rules, run))
        return
    if tally.bound < bound:
        says = (
            f"{tally.killed} of {tally.observable} found ({about}): at least {tally.bound:.1%} at "
            f"95 %, and {bound:.1%} is required"
        )
        if tally.killed == tally.observable:  # only the number of faults keeps the bound low
            yield scope.reason(ReasonKind.KILLS_FEW, about, says, _more(scope, rules, run))
            return
        says += f"; survived: {listed(survived)}" if survived else ""
        name = survived[0] if survived else "NAME"
        change = f"a cassette that shows it: parity faults --fault {name}"
        yield scope.reason(ReasonKind.KILL_RATE_LOW, about, says, change)
