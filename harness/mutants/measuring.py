"""The units of work of a worker process: a case's good runs, and a mutant against its cases."""

from __future__ import annotations

import importlib
import pickle
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from harness.cassette.find import CassetteFile
from harness.detection.playing import Seen
from harness.errors import HarnessError
from harness.experiment.announcing import case_begins
from harness.experiment.backend import real_backend
from harness.http.case import load_found
from harness.mutants import playing
from harness.mutants.checks import CheckTask, finding_of, import_checks, traced_checks
from harness.mutants.choosing import owner_of
from harness.mutants.forked import Answer, Forked, Gone, Raised
from harness.mutants.infection import Probes, looked_at
from harness.mutants.judging import Judge
from harness.mutants.mutant import Mutant
from harness.mutants.patching import Exchange, LiveCode, Text, exchanges, import_anew, put_in
from harness.mutants.reach import Lines
from harness.mutants.result import Finding, Measured, Outcome
from harness.mutants.source import CODE_ROOT, Source, edited
from harness.mutants.store import RUNTIMES, GoodRun, Kept, RunFacts
from harness.parity.waivers import Waivers
from parity import own_name
from runtimes.registry import warm_modules

__all__ = [
    "Case",
    "GoodTask",
    "LookTask",
    "MutantTask",
    "Seeing",
    "Table",
    "Unknown",
    "find_out",
    "find_out_checks",
    "look",
    "measure",
]

Run: TypeAlias = tuple[int, str]
"""Number of a case in the table, and a runtime."""

_CPU_S: Final = 5.0
"""Seconds of CPU time that a run with a mutant in force gets; good ones take hundredths."""
_WALL_S: Final = 60.0
"""Seconds that may pass until a run has ended; what waits for something real is ended before."""
_GOOD_S: Final = 120.0
"""What a good run gets, of either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A case whose good runs are to be made."""

    file: CassetteFile
    trusted: bool
    kept: Kept


@dataclass(frozen=True, slots=True)
class GoodTask:
    """Cases whose good runs are made together: the first run of a process takes longest."""

    cases: tuple[Unknown, ...]

    @property
    def name(self) -> str:
        """For a worker that died in it."""
        return f"{self.cases[0].file.name} and {len(self.cases) - 1} more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A case that has been measured."""

    file: CassetteFile
    trusted: bool
    kept: Kept
    digests: dict[str, str]
    """Runtime to the digest of its good run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What all mutants of a measurement are run with; workers read it from a file."""

    cases: tuple[Case, ...]
    waivers: Waivers
    baselines: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantTask:
    """A mutant to run."""

    mutant: Mutant
    table: Path
    runs: tuple[Run, ...]
    """Number of a case in the table and a runtime, in the order in which they are run."""
    both: frozenset[int] = frozenset()
    """Cases in which both runtimes execute the mutant."""
    checks: tuple[str, ...] = ()
    """Checks of the suite that are made where no run shows the mutant."""

    @property
    def name(self) -> str:
        """For progress, and for a worker that died in it."""
        return self.mutant.fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class LookTask:
    """Runs of unchanged code in which probes are looked at."""

    table: Path
    probes: Path
    """A file with the `Probes`."""
    runs: tuple[Run, ...]

    @property
    def name(self) -> str:
        """For a worker that died in it."""
        return f"{len(self.runs)} runs with probes"


Seeing: TypeAlias = dict[Run, frozenset[int] | None]
"""Run to the numbers of the mutants that may show in it; `None`: any may."""


def find_out(task: GoodTask) -> dict[str, GoodRun]:
    """Make the good runs of cases, runtime by runtime, and keep them; by case."""
    _live()
    good: dict[str, GoodRun] = {}
    runs: dict[str, dict[str, playing.Traced]] = {}
    for case in task.cases:
        reason = _unplayable(case)
        if reason is not None:
            good[case.file.name] = GoodRun(left_out=reason)
    for runtime in RUNTIMES:
        left: Sequence[Unknown] = [case for case in task.cases if case.file.name not in good]
        while left:
            left = _traced(left, runtime, runs, good)
    for case in task.cases:
        name = case.file.name
        if name not in good:
            good[name] = _kept(case, runs[name])
    return good


def find_out_checks(task: CheckTask) -> Mapping[str, Lines]:
    """Find out what checks of the suite execute."""
    return traced_checks(task.names, partial(_fresh, playing.traced_check))


def _unplayable(case: Unknown) -> str | None:
    """Why a case cannot be run here."""
    try:
        reason = None if case.trusted else real_backend().starts_processes(load_found(case.file))
    except HarnessError as error:
        return str(error)
    return reason and f"not run: {reason}; give --trust if you trust it"


def _traced(
    cases: Sequence[Unknown],
    runtime: str,
    runs: dict[str, dict[str, playing.Traced]],
    good: dict[str, GoodRun],
) -> Sequence[Unknown]:
    """Run cases in one process, up to one that ends it; the cases behind that one."""
    with Forked(partial(_fresh, playing.traced), cpu_s=_GOOD_S, wall_s=_GOOD_S) as forked:
        for number, case in enumerate(cases, 1):
            case_begins()
            found = forked.ask(playing.request(case.file, runtime, trusted=case.trusted))
            if isinstance(found, Gone):
                good[case.file.name] = GoodRun(left_out=f"{runtime} exceeded its limits")
                return cases[number:]
            if isinstance(found, Raised):
                good[case.file.name] = GoodRun(left_out=found.says)
            else:
                runs.setdefault(case.file.name, {})[runtime] = found
    return ()


def _kept(case: Unknown, runs: dict[str, playing.Traced]) -> GoodRun:
    facts = {
        runtime: RunFacts(digest=seen.digest, lines=lines, seconds=seconds)
        for runtime, (seen, lines, seconds) in runs.items()
    }
    good = GoodRun(facts=facts)
    case.kept.keep(good, {runtime: seen for runtime, (seen, _, _) in runs.items()})
    return good


def measure(task: MutantTask) -> Measured:
    """Run a mutant's cases up to the first that shows it."""
    begun = time.perf_counter()
    run = _Run(task, _table(task.table), _source(task.mutant.place.file))
    finding = run.find()
    return Measured(
        fingerprint=task.mutant.fingerprint,
        outcome=Outcome.SURVIVED if finding is None else finding.by,
        finding=finding,
        reached=len(task.runs),
        runs=run.runs,
        anew=run.found is None,
        unsteady=tuple(run.unsteady),
        left_out=tuple(run.left_out),
        changed=tuple(sorted(run.changed)),
        seconds=round(time.perf_counter() - begun, 3),
    )


def look(task: LookTask) -> Seeing:
    """Run cases with probes in force."""
    table = _table(task.table)
    found, unknown = _probes(task.probes)
    begin = partial(_looking, found)
    seeing: Seeing = {}
    left = list(task.runs)
    while left:
        with Forked(begin, cpu_s=_CPU_S, wall_s=_WALL_S) as forked:
            while left:
                number, runtime = run = left.pop(0)
                case = table.cases[number]
                case_begins()
                seen = forked.ask(playing.request(case.file, runtime, trusted=case.trusted))
                seeing[run] = None
                if isinstance(seen, Gone):
                    break
                if not isinstance(seen, Raised) and seen[0] == case.digests[runtime]:
                    seeing[run] = seen[1] | unknown
    return seeing


def _looking(found: Sequence[Exchange]) -> Answer:
    """Put probes into a forked process; what answers there gives a run's digest and what it saw."""
    looks = looked_at(found)
    fresh = _fresh(playing.answer)

    def answer(asked: playing.Request) -> tuple[str, frozenset[int]]:
        looks.clear()
        digest: str = fresh(asked).digest
        return digest, looks.seen

    return answer


@dataclass(slots=True)
class _Run:
    """One mutant's runs."""

    task: MutantTask
    table: Table
    source: Source
    runs: int = 0
    unsteady: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    changed: Mapping[str, Seen] = field(default_factory=dict)
    """Cases in which legacy does something else, which no comparison shows so far."""
    text: Text = field(init=False)
    found: list[Exchange] | None = field(init=False)
    """What of the live functions is exchanged; `None` where all is imported anew."""

    def __post_init__(self) -> None:
        mutant, source = self.task.mutant, self.source
        changed = edited(source.text, mutant.change.edits)
        import_checks(self.task.checks)
        self.text = Text(own_name(source.module), CODE_ROOT / source.file, source.text, changed)
        function = mutant.place.function
        live = _live()
        self.found = exchanges(self.text, function, live) if function else None

    def find(self) -> Finding | None:
        """What shows the mutant first, and shows it again."""
        judge = Judge(
            owner=owner_of(self.task.mutant.place),
            waivers=self.table.waivers,
            baselines=self.table.baselines,
        )
        self.changed = judge.changed
        with self._forked() as forked:
            for number, runtime in self.task.runs:
                finding = self._look(judge, forked, number, runtime)
                if finding is None:
                    continue
                if self._again(judge, forked, number, runtime, finding):
                    return finding
                self.unsteady.append(f"{finding.case}: {finding.place}")
                if finding.by is Outcome.TIME_LIMIT:
                    return self._rest(judge, number, runtime)
            return self._checked(forked)

    def _checked(self, forked: Forked) -> Finding | None:
        """What the suite's checks find, and find again."""
        for name in self.task.checks:
            case_begins()
            self.runs += 1
            finding = finding_of(name, forked.ask(name))
            ended = finding is not None and finding.by is Outcome.TIME_LIMIT
            if finding is not None and (ended or finding_of(name, forked.ask(name)) is not None):
                return finding
        return None

    def _rest(self, judge: Judge, number: int, runtime: str) -> Finding | None:
        """Go on behind a case whose process was ended, in a new one."""
        done = self.task.runs.index((number, runtime)) + 1
        with self._forked() as forked:
            for again, other in self.task.runs[done:]:
                finding = self._look(judge, forked, again, other)
                if finding is not None and self._again(judge, forked, again, other, finding):
                    return finding
        return None

    def _look(self, judge: Judge, forked: Forked, number: int, runtime: str) -> Finding | None:
        case = self.table.cases[number]
        case_begins()
        self.runs += 1
        run = forked.ask(playing.request(case.file, runtime, trusted=case.trusted))
        judged = judge.look(
            case.file,
            runtime,
            run,
            kept=case.kept,
            good_digest=case.digests[runtime],
            both=number in self.task.both,
        )
        if judged.left_out:
            self.left_out.append(f"{case.file.name}: {judged.left_out}")
        return judged.finding

    def _again(
        self, judge: Judge, forked: Forked, number: int, runtime: str, finding: Finding
    ) -> bool:
        """Whether the case shows it once more, and the good runtime does what it did before."""
        case = self.table.cases[number]
        asked = playing.request(case.file, runtime, trusted=case.trusted)
        ended = finding.by is not Outcome.FOUND
        if not ended and self._look(judge, forked, number, runtime) is None:
            return False
        case_begins()
        with Forked(partial(_fresh, playing.answer), cpu_s=_GOOD_S, wall_s=_GOOD_S) as good:
            now = good.ask(asked)
        return isinstance(now, Seen) and now.digest == case.digests[runtime]

    def _forked(self) -> Forked:
        return Forked(self._prepare, cpu_s=_CPU_S, wall_s=_WALL_S)

    def _prepare(self) -> Answer:
        if self.found is not None:
            put_in(self.found)
            return _fresh(playing.answer)
        import_anew(self.text, _modules())
        answer: Answer = sys.modules[playing.__name__].__dict__["answer"]
        return answer


def _fresh(answer: Answer) -> Answer:
    """What plays cases in a process that has our modules as they were imported.

    Nothing that functions of ours cache for the process is carried from one case to the next.
    """

    def fresh(asked: playing.Request) -> Any:
        _live().clear_caches()
        return answer(asked)

    return fresh


@lru_cache(maxsize=1)
def _live() -> LiveCode:
    """The functions of this process, looked at once, when all that plays cases is imported."""
    for name in _modules():
        importlib.import_module(own_name(name))
    return LiveCode(CODE_ROOT)


def _modules() -> list[str]:
    return [*playing.MODULES, *warm_modules(list(RUNTIMES))]


@lru_cache(maxsize=1)
def _table(file: Path) -> Table:
    table: Any = pickle.loads(file.read_bytes())  # noqa: S301 - written for this measurement
    assert isinstance(table, Table)
    return table


@lru_cache(maxsize=1)
def _probes(file: Path) -> tuple[list[Exchange], set[int]]:
    """What puts the probes of a file into a process, and the numbers of those that cannot be."""
    probes: Any = pickle.loads(file.read_bytes())  # noqa: S301 - written for this measurement
    assert isinstance(probes, Probes)
    return probes.exchanges(_source, _live())


@lru_cache(maxsize=64)
def _source(file: str) -> Source:
    return Source.read(CODE_ROOT, CODE_ROOT / file)
