"""Whose problem a red run is, in one line that follows from the run's results.

Differences between two complete runs come first. After them come reasons why cases could not be
compared: files that do not load, baselines that do not fit, limits of the machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from harness.canonical import printable
from harness.errors import LoadProblem
from harness.explain import first_cause
from harness.parity.divergence import Kind
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import WaiverStatus
from harness.sides import base_names, baseline_folder
from harness.triage.changes import OURS, ChangeKind, Changes
from harness.triage.signs import Sign, Whose, sign_of
from harness.wording import counted, listed
from services.redaction import redacted

__all__ = ["Blame", "Reported", "Whose", "blame"]

_UPSTREAM: Final = "upstream"
_NOT_OURS: Final = frozenset({ChangeKind.DISTRIBUTION, ChangeKind.SYSTEM, ChangeKind.ASKED})


class Reported(Protocol):
    """The parts of a `RunReport` that are used here; `harness.report` imports this module."""

    @property
    def control(self) -> str:
        """The side that is assumed to be right."""

    @property
    def candidate(self) -> str:
        """The side that is judged."""

    @property
    def cases(self) -> Sequence[CaseResult]:
        """The settled results."""

    @property
    def problems(self) -> Sequence[LoadProblem]:
        """The files that could not be loaded."""

    @property
    def waivers(self) -> Sequence[WaiverStatus]:
        """The state of each waiver."""

    @property
    def planned(self) -> int:
        """Number of cases to run."""

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped the run."""

    @property
    def partial(self) -> bool:
        """Whether cases are missing."""

    @property
    def verdict(self) -> CaseVerdict:
        """The run's verdict."""

    @property
    def since(self) -> Changes | None:
        """The changes since the last green run, if known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """Whose problem a red run is."""

    whose: Whose
    says: str
    """The name and the reason: printable, redacted, without a final stop."""
    sure: bool = False
    """Whether it follows from the results; otherwise it is only likely."""
    also: tuple[str, ...] = ()
    """Further problems, which may belong to others."""

    @property
    def line(self) -> str:
        """The first line of a red run's report."""
        how = "" if self.sure or self.whose is Whose.UNKNOWN else "probably "
        more = f"; also: {'; '.join(self.also)}" if self.also else ""
        return f"whose problem: {how}{self.whose.value}: {self.says}{more}"


def blame(report: Reported) -> Blame | None:
    """Whose problem the run is; `None` if its verdict is parity."""
    since = report.since
    divergent = [case for case in report.cases if case.verdict is CaseVerdict.DIVERGENT]
    undecided = [case for case in report.cases if case.verdict is CaseVerdict.INCONCLUSIVE]
    answers = []
    if divergent:
        answers.append(_of_divergent(report, divergent, since))
    if report.problems:
        answers.append(_of_problems(report))
    answers += _of_undecided(undecided)
    if not answers and (report.partial or report.verdict is not CaseVerdict.PARITY):
        return _of_lacking(report)
    if not answers:
        return None
    first, *others = answers
    return replace(first, also=tuple(other.says for other in others))


def _of_divergent(report: Reported, cases: Sequence[CaseResult], since: Changes | None) -> Blame:
    says = f"{counted(len(cases), 'case')} {'diverges' if len(cases) == 1 else 'diverge'}"
    expired = [w.id for w in report.waivers if w.state in ("expired", "exceeded") and w.count]
    if expired:
        why = f"{says}, and the waiver {', '.join(expired)} no longer covers its differences"
        return _blame(Whose.RUNTIME, f"{_candidate(report, cases)}: {why}")
    outside = None if since is None else _outside(report, says, since)
    return outside or _of_runtime(report, cases, says, since)


def _outside(report: Reported, says: str, since: Changes) -> Blame | None:
    """Return the blame if nothing of this project's code changed since the last green run."""
    if not since.green:
        return None
    changed = [change for change in since.changes if change.kind is not ChangeKind.OTHER]
    kinds = {change.kind for change in changed}
    lines = [change.line for change in changed[:3]]
    if len(changed) > 3:
        lines.append(f"and {len(changed) - 3} more")
    only = "; ".join(lines)
    reason = f"{says}, and since the last green run ({since.since}) only this changed: {only}"
    core = {ChangeKind.CORE, ChangeKind.BASELINES}
    if kinds & core and kinds <= core | _NOT_OURS and _core_is_a_side(report):
        return _blame(Whose.BASELINE, reason)
    if ChangeKind.DISTRIBUTION in kinds and kinds <= _NOT_OURS:
        return _blame(Whose.DEPENDENCY, reason)
    if ChangeKind.SYSTEM in kinds and kinds <= _NOT_OURS:
        return _blame(Whose.MACHINE, reason)
    if ChangeKind.CASSETTES in kinds and kinds <= {*_NOT_OURS, ChangeKind.CASSETTES}:
        return _blame(Whose.CASSETTE, f"{reason}; a changed cassette may show an old difference")
    return None


def _of_runtime(
    report: Reported, cases: Sequence[CaseResult], says: str, since: Changes | None
) -> Blame:
    candidate = _candidate(report, cases)
    kinds = Counter(found.kind for case in cases if (found := first_cause(case)) is not None)
    if kinds and set(kinds) == {Kind.UNINHERITED}:
        reason = f"{says} in requests that both sides send and the published core does not"
        return _blame(Whose.RUNTIME, f"services, which both sides share: {reason}")
    if kinds and set(kinds) == {Kind.NONDETERMINISTIC}:
        reason = f"{says}: its runs differ from each other, those of the control do not"
        return _blame(Whose.RUNTIME, f"{candidate}: {reason}", sure=True)
    touched = _touched_runtimes(report, cases, since)
    if len(touched) == 1:
        what = _named(since, {touched[0].partition("@")[0]})
        reason = f"{says}, and only the code of this runtime changed since {_since(since)}{what}"
        return _blame(Whose.RUNTIME, f"{touched[0]}: {reason}")
    if touched:
        reason = f"{says}, and code of {' and '.join(touched)} changed since {_since(since)}"
        return _blame(Whose.RUNTIME, f"{candidate}: {reason}{_named(since, touched)}")
    code = frozenset() if since is None else since.kinds
    if ChangeKind.SERVICES in code and ChangeKind.RUNTIMES not in code:
        reason = f"{says}, and only shared code changed since {_since(since)}"
        return _blame(Whose.RUNTIME, f"services, or {candidate}'s use of them: {reason}")
    reason = f"{says}, and the control {report.control} is taken to be right"
    return _blame(Whose.RUNTIME, f"{candidate}: {reason}")


def _of_problems(report: Reported) -> Blame:
    first = report.problems[0]
    count = counted(len(report.problems), "file")
    failed = all("the harness failed" in problem.message for problem in report.problems)
    says = f"{count} cannot be loaded: {first.message}"
    return _blame(Whose.UNKNOWN if failed else Whose.CASSETTE, says, sure=not failed)


def _of_undecided(cases: Sequence[CaseResult]) -> list[Blame]:
    """Return a blame for each reason, the commonest first; unknown reasons come last."""
    counts: Counter[Sign] = Counter()
    examples: dict[Sign, CaseResult] = {}
    for case in cases:
        sign = sign_of(case)
        counts[sign] += 1
        examples.setdefault(sign, case)
    order = sorted(counts, key=lambda sign: (sign.whose is Whose.UNKNOWN, -counts[sign], sign.says))
    return [
        _blame(
            sign.whose,
            f"{counted(counts[sign], 'case')} {sign.says} (first {_example(examples[sign])})",
            sure=sign.sure,
        )
        for sign in order
    ]


def _of_lacking(report: Reported) -> Blame:
    judged = f"{len(report.cases)} of {report.planned} cases were judged"
    if report.interrupted:
        return _blame(Whose.MACHINE, f"the run was interrupted: {judged}", sure=True)
    if report.partial:
        return _blame(Whose.MACHINE, f"the run did not finish: {judged}")
    return _blame(Whose.UNKNOWN, f"nothing was compared: {judged}")


def _touched_runtimes(
    report: Reported, cases: Sequence[CaseResult], since: Changes | None
) -> list[str]:
    """Return the sides whose code changed since the last green run, if no other code did.

    What both of two runtimes of a project have may concern either; what one of them has alone
    comes first.
    """
    if since is None or not since.green or since.kinds & OURS != {ChangeKind.RUNTIMES}:
        return []
    sides = dict.fromkeys((_control(report, cases), _candidate(report, cases)))
    theirs = since.third_party
    shared = frozenset.intersection(*theirs.values()) if len(theirs) > 1 else frozenset()
    alone = {name for name, files in theirs.items() if files - shared}
    folders = {file.split("/")[1] for file in since.own_files} | (alone or set(theirs))
    found = [side for side in sides if side.partition("@")[0] in folders]
    # Code between the folders, or in a third one, may concern either side.
    return found if len(folders) == len(found) else []


def _named(since: Changes | None, runtimes: Collection[str]) -> str:
    """Name the files of third parties' runtimes that changed, and the commits; else nothing."""
    assert since is not None
    files = {file for name in runtimes for file in since.third_party.get(name, ())}
    if not files:
        return ""
    commits = f" ({listed(since.commits, 2)})" if since.commits else ""
    return f": {listed(sorted(files))}{commits}"


def _since(since: Changes | None) -> str:
    assert since is not None
    return f"{'the last green run' if since.green else 'the run'} ({since.since})"


def _core_is_a_side(report: Reported) -> bool:
    names = {report.control, report.candidate}
    names |= {name for case in report.cases for name in case.runtimes}
    return any(_UPSTREAM in base_names(name) or baseline_folder(name) is not None for name in names)


def _control(report: Reported, cases: Sequence[CaseResult]) -> str:
    return next((case.runtimes[0] for case in cases if case.runtimes[0]), report.control)


def _candidate(report: Reported, cases: Sequence[CaseResult]) -> str:
    return next((case.runtimes[1] for case in cases if case.runtimes[1]), report.candidate)


def _example(case: CaseResult) -> str:
    return f"{case.cassette}: {next(iter((*case.blockers, *case.doubts)), '')}"


def _blame(whose: Whose, says: str, *, sure: bool = False) -> Blame:
    return Blame(whose=whose, says=printable(redacted(says)), sure=sure)
