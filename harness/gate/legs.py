"""The legs condition: every comparison ran completely, on the current files, without divergence."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from harness.canonical import canonical
from harness.gate.answer import Leg, Measurement, Reason, ReasonKind
from harness.gate.evidence import LegRun
from harness.gate.rules import LegRule
from harness.gate.scope import Judged, Scope, counted, listed
from harness.inventory import HELPERS
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import WaiverStatus, settle
from harness.third_party import runtime_names
from runtimes.published import DEFAULT_VERSION

__all__ = ["LegSeen", "judged_legs", "seen_legs"]

_CORE = "upstream"


@dataclass(frozen=True, slots=True, kw_only=True)
class LegSeen:
    """A leg that ran on the current files, with the current waivers applied."""

    rule: LegRule
    run: LegRun
    results: Mapping[str, CaseResult]
    """Case → result, of the whole run."""
    statuses: tuple[WaiverStatus, ...]
    cases: tuple[CaseResult, ...]
    """The cases of the phase, sorted by name; without those that a surface cannot play."""

    @property
    def cut_off(self) -> bool:
        """Whether the run is a shard, or was interrupted."""
        record = self.run.record
        return bool(record.header.shard or record.missing or not record.ended)

    def of(self, verdict: CaseVerdict) -> list[CaseResult]:
        """Return the phase's cases with that verdict."""
        return [case for case in self.cases if case.verdict is verdict]

    def summary(self) -> Leg:
        """Return the leg as a part of the answer."""
        header = self.run.record.header
        traces = canonical([[case.cassette, case.digests] for case in self.cases])
        return Leg(
            name=self.rule.name,
            control=header.control,
            candidate=header.candidate,
            cases=len(self.cases),
            parity=len(self.of(CaseVerdict.PARITY)),
            divergent=len(self.of(CaseVerdict.DIVERGENT)),
            inconclusive=len(self.of(CaseVerdict.INCONCLUSIVE)),
            waived=sum(len(case.waived) for case in self.cases),
            corpus=header.corpus,
            as_of=header.as_of,
            started_at=header.started_at,
            revision=header.revision,
            dirty=header.dirty,
            digest=hashlib.sha256(traces.encode()).hexdigest(),
            components=dict(header.components),
            environment=dict(header.environment),
        )


def seen_legs(scope: Scope) -> list[LegSeen]:
    """Return the legs that count: all fresh runs of each rule, the latest complete one first."""
    return [
        _settled(scope, rule, run)
        for rule in scope.legs
        for run in _most_complete_first(_fresh(scope, rule))
    ]


def judged_legs(scope: Scope, seen: Sequence[LegSeen]) -> list[Judged]:
    """Return a condition for each required leg, and one that the legs are of the same corpus."""
    found = [_judged(scope, rule, [leg for leg in seen if leg.rule == rule]) for rule in scope.legs]
    return [*found, _together(scope, seen)]


def _of_rule(scope: Scope, rule: LegRule) -> Iterator[LegRun]:
    for run in scope.evidence.legs:
        if _is(run.control, rule.control) and _is(run.candidate, rule.candidate):
            yield run


def _is(observed: str, asked: str) -> bool:
    """Return whether a runtime meets the rule; the published core needs its default version."""
    return observed == asked or (asked == _CORE and observed == f"{_CORE}@{DEFAULT_VERSION}")


def _fresh(scope: Scope, rule: LegRule) -> list[LegRun]:
    return [
        run
        for run in _of_rule(scope, rule)
        if not _stale(scope, rule, run) and (scope.rules.baselines or not run.baselines)
    ]


def _stale(scope: Scope, rule: LegRule, run: LegRun) -> list[str]:
    header = run.record.header
    theirs = runtime_names(header.control, header.candidate)
    inputs = scope.inputs_of(rule)
    return scope.moved(header.components, "corpus", HELPERS, "baselines", *theirs, inputs=inputs)


def _most_complete_first(runs: Iterable[LegRun]) -> list[LegRun]:
    def place(run: LegRun) -> tuple[bool, bool, int]:
        record = run.record
        return (bool(record.header.shard), not record.ended, len(record.missing))

    # The latest first among equally complete runs, since sorting is stable.
    latest_first = sorted(runs, key=lambda run: run.record.header.started_at, reverse=True)
    return sorted(latest_first, key=place)


def _settled(scope: Scope, rule: LegRule, run: LegRun) -> LegSeen:
    record = run.record
    results, statuses = settle([record.finished[n] for n in sorted(record.finished)], scope.waivers)
    phases = scope.gates.cassettes
    return LegSeen(
        rule=rule,
        run=run,
        results={result.cassette: result for result in results},
        statuses=tuple(statuses),
        cases=tuple(
            result
            for result in results
            # `None`: the case ended before its phase was known.
            if (phases is None or result.phase in (*phases, None)) and not result.unplayable
        ),
    )


def _judged(scope: Scope, rule: LegRule, seen: Sequence[LegSeen]) -> Judged:
    about = f"{rule.name}: every case is parity"
    if not seen:
        reason = _lacking(scope, rule)
        return Judged.of("legs", about, "not run with the current files", [reason])
    whole = seen[0]
    reasons = [
        *_incomplete(scope, whole),
        *_old(scope, whole),
        *(reason for leg in seen for reason in _verdicts(scope, leg)),
    ]
    parity = len(whole.of(CaseVerdict.PARITY))
    waived = sum(len(case.waived) for case in whole.cases)
    says = f"{parity:,} of {counted(len(whole.cases), 'case')} parity"
    says += f", {counted(waived, 'difference')} waived" if waived else ""
    unplayable = sum(case.unplayable for case in whole.results.values())
    says += f", {counted(unplayable, 'case')} not playable" if unplayable else ""
    says += f" ({whole.run.file.name})"
    return Judged.of("legs", about, says, reasons)


def _lacking(scope: Scope, rule: LegRule) -> Reason:
    """Return the reason why no run of a leg counts."""
    runs = list(_of_rule(scope, rule))
    anew = scope.leg_measurement(rule)
    if not runs:
        says = f"no journal compares {rule.control} with {rule.candidate}"
        return scope.reason(ReasonKind.LEG_MISSING, rule.name, says, anew)
    for run in runs:
        moved = _stale(scope, rule, run)
        if moved == ["corpus"]:
            says = f"{run.file.name} covers other cassettes: {_changed(scope, rule, run, moved)}"
            return scope.reason(ReasonKind.LEG_OTHER_CORPUS, rule.name, says, anew)
        if moved:
            says = (
                f"{run.file.name} is of other {listed(moved)}: {_changed(scope, rule, run, moved)}"
            )
            return scope.reason(ReasonKind.LEG_STALE, rule.name, says, anew)
    says = f"{runs[0].file.name} has a baseline instead of a run, which this profile refuses"
    return scope.reason(ReasonKind.LEG_MISSING, rule.name, says, anew)


def _changed(scope: Scope, rule: LegRule, run: LegRun, components: Sequence[str]) -> str:
    """Return the files of the components that changed since the run."""
    changes = run.record.inventory.differences(scope.inputs_of(rule))
    return "; ".join(words for words in changes if words.partition(":")[0] in components)


def _incomplete(scope: Scope, leg: LegSeen) -> Iterator[Reason]:
    record, rule = leg.run.record, leg.rule
    lacks = []
    if record.header.shard:
        lacks.append(f"it is the shard {record.header.shard} of a run")
    if record.missing:
        lacks.append(f"{counted(len(record.missing), 'case')} not run: {listed(record.missing)}")
    elif not record.ended:
        lacks.append("it did not finish")
    if record.problems:
        lacks.append(f"{len(record.problems)} not loaded: {listed(sorted(record.problems))}")
    lacks += _left_out(scope, leg)
    if lacks:
        says = f"{leg.run.file.name} is partial: {'; '.join(lacks)}"
        yield scope.reason(ReasonKind.LEG_PARTIAL, rule.name, says, _completed(scope, leg))
    own = [case for case in leg.cases if case.phase == scope.phase]
    for cases, least, key in (
        (leg.cases, max(1, rule.min_cases), "min_cases"),
        (own, rule.own_cases, "own_cases"),
    ):
        if len(cases) < least:
            of = " itself" if key == "own_cases" else ""
            few = f"{counted(len(cases), 'case')} of phase {scope.phase}{of}"
            says = f"{few} in {leg.run.file.name}, but at least {least} are required"
            change = f"add cassettes, or lower {key} in the gates"
            yield scope.reason(ReasonKind.LEG_PARTIAL, rule.name, says, change)


def _completed(scope: Scope, leg: LegSeen) -> str | Measurement:
    """Return the advice that completes a partial leg."""
    record = leg.run.record
    anew = scope.leg_measurement(leg.rule)
    if record.header.shard or not leg.cut_off:
        # Another run cannot load these files either.
        return f"fix these files, then {anew.command}" if record.problems else anew
    # A run resumes only with the day for which its first part was judged.
    again = ("--as-of", record.header.as_of, "--resume")
    left = {"resume": again, "units": len(record.missing)}
    return _journalled(anew, leg.run.file).model_copy(update=left)


def _journalled(measurement: Measurement, journal: Path) -> Measurement:
    words = list(measurement.words)
    words[words.index("--journal") + 1] = str(journal)
    return measurement.model_copy(update={"words": tuple(words)})


def _left_out(scope: Scope, leg: LegSeen) -> Iterator[str]:
    """Yield the cases that a run skipped, except one-send cassettes in a leg with a handover."""
    record = leg.run.record
    only = record.header.phase
    if leg.rule.surface is not None and only == scope.phase:
        return
    phases = scope.gates.cassettes
    if only is not None and (phases is None or {*phases} - {only}):
        yield f"it covers only the cassettes of phase {only}"
    elif only is None and record.skipped and not leg.rule.handover:
        skipped = sorted(record.skipped)
        yield f"{counted(len(skipped), 'case')} skipped: {listed(skipped)}"


def _old(scope: Scope, leg: LegSeen) -> Iterator[Reason]:
    header = leg.run.record.header
    try:
        day = date.fromisoformat(header.started_at[:10] or header.as_of)
        if day > scope.as_of:  # run again, to be judged by an earlier day
            day = date.fromisoformat(header.as_of)
        old = scope.too_old(day)
    except ValueError:
        old = "it does not say when it was run"
    if old:
        says = f"{leg.run.file.name}: {old}"
        yield scope.reason(ReasonKind.LEG_OLD, leg.rule.name, says, scope.leg_measurement(leg.rule))


def _verdicts(scope: Scope, leg: LegSeen) -> Iterator[Reason]:
    file = leg.run.file.name
    divergent = [case.cassette for case in leg.of(CaseVerdict.DIVERGENT)]
    if divergent:
        says = f"{counted(len(divergent), 'case')} divergent in {file}: {listed(divergent)}"
        change = f"{_again(scope, leg, divergent[0])} reproduces it; fix it, or see `parity waive`"
        yield scope.reason(ReasonKind.DIVERGENT, leg.rule.name, says, change)
    undecided = leg.of(CaseVerdict.INCONCLUSIVE)
    if undecided:
        names = [case.cassette for case in undecided]
        why = next((why for case in undecided for why in (*case.blockers, *case.doubts)), "")
        says = f"{counted(len(names), 'case')} inconclusive in {file}: {listed(names)} ({why})"
        # The new run replaces the journal, since the old one would still count beside it.
        anew = _journalled(scope.leg_measurement(leg.rule), leg.run.file).command
        change = f"{_again(scope, leg, names[0])} reproduces it; fix it, then {anew}"
        yield scope.reason(ReasonKind.INCONCLUSIVE, leg.rule.name, says, change)


def _again(scope: Scope, leg: LegSeen, cassette: str) -> str:
    """Return the command that runs one case of a leg again."""
    header = leg.run.record.header
    sides = ["--control", header.control, "--candidate", header.candidate]
    return shlex.join(["parity", *scope.over_corpus("run", "-k", cassette, *sides)])


def _together(scope: Scope, seen: Sequence[LegSeen]) -> Judged:
    about = "all legs have the same corpus and environment"
    found = [
        (leg, f"{leg.run.file.name} was run with {listed(other)}")
        for leg in seen
        if (other := scope.other_packages(leg.run.record.header.environment))
    ]
    for leg in seen[1:]:
        was, now = (each.run.record.header.environment for each in (seen[0], leg))
        differing = [
            f"{name} {was[name]} and {now[name]}"
            for name in sorted({*was} & {*now})
            if was[name] != now[name]
        ]
        if differing:
            names = f"{seen[0].rule.name} and {leg.rule.name}"
            found.append((leg, f"{names} were run with {listed(differing)}"))
    kind = ReasonKind.LEG_OTHER_ENVIRONMENT
    reasons = [
        scope.reason(kind, leg.rule.name, says, scope.leg_measurement(leg.rule))
        for leg, says in found
    ]
    # The condition of the missing leg itself gives the advice.
    legs = {leg.rule.name for leg in seen}
    says = f"{counted(len(scope.current.components['corpus'].files), 'cassette')} here; "
    says += f"{len(legs)} of {counted(len(scope.legs), 'leg')} run on them"
    lacks = scope.lacking(leg.rule for leg in seen)
    return Judged.of("legs", about, says, reasons, lacks=lacks)
