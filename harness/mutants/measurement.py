"""A whole measurement: the good runs of the corpus first, then one mutant after the other."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeVar

from harness.cassette.find import CassetteFile
from harness.errors import ReplayFailure
from harness.experiment.backend import Backend
from harness.experiment.events import follow_whole, on_finished, on_waiting
from harness.experiment.pool import Died, WorkerDied, run_on, workers_of
from harness.mutants.checks import UNENDED, Checks, CheckTask
from harness.mutants.choosing import FoundBefore, Reach
from harness.mutants.infection import Probes, has_probe
from harness.mutants.measuring import (
    Case,
    GoodTask,
    LookTask,
    MutantTask,
    Run,
    Seeing,
    Table,
    Unknown,
    find_out,
    find_out_checks,
    look,
    measure,
)
from harness.mutants.mutant import Mutant
from harness.mutants.reach import Lines
from harness.mutants.result import Finding, Measured, Outcome
from harness.mutants.show import MutantProgress
from harness.mutants.source import Source
from harness.mutants.store import RUNTIMES, GoodRun, Store
from harness.mutants.wording import words_of
from harness.parity.waivers import Waivers
from harness.whole_file import write_whole

__all__ = ["Measurement", "Prepared"]

_TABLE: Final = "table"
_PROBES: Final = "probes"
_TOGETHER: Final = 8
"""Cases whose good runs are made by one process."""
_FIRST: Final = 40
"""Runs of a mutant before the checks, and before it is found out which others can show it."""
_LOOKS: Final = 25
"""Runs in which probes are looked at by one process."""
_WORTH: Final = 1.5
"""Looking at probes must save so many times what it costs: many mutants are found soon anyway."""

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The cases that mutants are run with."""

    table: Path
    cases: tuple[Case, ...]
    reach: Reach
    left_out: dict[str, str]
    """Case to the reason why it can show nothing."""

    def task(
        self,
        mutant: Mutant,
        runs: Sequence[Run],
        every: Sequence[Run] | None = None,
        checks: Sequence[str] = (),
    ) -> MutantTask:
        """A task for some runs of a mutant; `every` are all that will be made, if more."""
        by = [{case for case, name in every or runs if name == each} for each in RUNTIMES]
        both = frozenset(by[0] & by[1])
        return MutantTask(
            mutant=mutant, table=self.table, runs=tuple(runs), both=both, checks=tuple(checks)
        )

    def seconds(self, runs: Iterable[Run]) -> float:
        """How long good runs took."""
        return sum(self.reach.facts[case][name].seconds for case, name in runs)


@dataclass(frozen=True, slots=True)
class _Begun:
    """A mutant that its first runs did not show."""

    mutant: Mutant
    done: Measured
    made: int
    """How many cases it has met."""
    left: Sequence[Run]


def _may_show(seen: frozenset[int] | None, probe: int | None) -> bool:
    """Whether a run may show the mutant of that probe; `None`: it is not known, or has no probe."""
    return seen is None or probe is None or probe in seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What a measurement works with."""

    backend: Backend
    jobs: int
    files: Sequence[tuple[CassetteFile, bool]]
    """The cases, and whether each may start processes."""
    store: Store
    folder: Path
    """A folder of this measurement's own."""
    waivers: Waivers
    baselines: Path | None
    sources: Sequence[Source]
    """The modules in which names are looked up."""
    most_runs: int
    """Runs of one mutant at most; a mutant that these do not find survives."""
    checks: Checks = field(default_factory=Checks)
    """The suite's checks beside the cases."""

    def prepare(self, progress: MutantProgress) -> Prepared:
        """Find out what the cases reach, as far as that is not known.

        Raises:
            KeyboardInterrupt: the user's; what was found out by then is kept.
            ReplayFailure: a check of the suite does not end with good code.
        """
        good: dict[str, GoodRun] = {}
        unknown: list[Unknown] = []
        for file, trusted in self.files:
            kept = self.store.kept(file)
            known = kept.good()
            if known is None:
                unknown.append(Unknown(file=file, trusted=trusted, kept=kept))
            else:
                good[file.name] = known

        def take(task: GoodTask, found: dict[str, GoodRun]) -> None:
            good.update(found)
            progress.case(len(found))

        def died(task: GoodTask, death: WorkerDied) -> dict[str, GoodRun]:
            return {case.file.name: GoodRun(left_out=death.why) for case in task.cases}

        if unknown:
            progress.cases(len(unknown))
            tasks = [
                GoodTask(tuple(unknown[at : at + _TOGETHER]))
                for at in range(0, len(unknown), _TOGETHER)
            ]
            self._follow(find_out, tasks, died, take, progress)
        return self._prepared(good, self._checked(progress))

    def _checked(self, progress: MutantProgress) -> Mapping[str, Lines]:
        """What the suite's checks execute; found out where it is not known."""
        if not self.checks.names:
            return {}
        known = self.store.checks(self.checks.digest)
        if known is not None:
            return known
        found: dict[str, Lines] = {}

        def died(task: CheckTask, death: WorkerDied) -> Mapping[str, Lines]:
            raise ReplayFailure(task.name, death.why, UNENDED)

        def take(_: CheckTask, lines: Mapping[str, Lines]) -> None:
            found.update(lines)

        self._follow(find_out_checks, [CheckTask(self.checks.names)], died, take, progress)
        self.store.keep_checks(self.checks.digest, found)
        return found

    def _prepared(self, good: dict[str, GoodRun], checks: Mapping[str, Lines]) -> Prepared:
        cases: list[Case] = []
        facts = []
        for file, trusted in self.files:
            known = good[file.name]
            if known.left_out:
                continue
            digests = {name: run.digest for name, run in known.facts.items()}
            kept = self.store.kept(file)
            cases.append(Case(file=file, trusted=trusted, kept=kept, digests=digests))
            facts.append(known.facts)
        table = Table(cases=tuple(cases), waivers=self.waivers, baselines=self.baselines)
        place = self.folder / _TABLE
        write_whole(place, pickle.dumps(table, pickle.HIGHEST_PROTOCOL))
        left_out = {name: each.left_out for name, each in good.items() if each.left_out}
        words = [words_of(case.file.path.read_text(errors="replace")) for case in cases]
        reach = Reach(facts, self.sources, checks, words)
        return Prepared(table=place, cases=table.cases, reach=reach, left_out=left_out)

    def run(
        self,
        prepared: Prepared,
        mutants: Sequence[Mutant],
        take: Callable[[Mutant, Measured], None],
        progress: MutantProgress,
    ) -> None:
        """Run mutants that are reached; `take` is called for each as it is done.

        Raises:
            KeyboardInterrupt: the user's.
        """
        before = FoundBefore()
        numbers = {case.file.name: number for number, case in enumerate(prepared.cases)}
        waiting: list[_Begun] = []

        def end(mutant: Mutant, done: Measured) -> None:
            take(mutant, done)
            progress.mutant(mutant, done)

        def first() -> Iterator[MutantTask]:
            for mutant in mutants:
                runs = prepared.reach.ordered(mutant, before)
                first = runs[: min(_FIRST, self.most_runs)]
                yield prepared.task(mutant, first, runs, prepared.reach.checks_of(mutant))

        def begun(task: MutantTask, done: Measured) -> None:
            if done.finding is not None and done.finding.case in numbers:
                before.add(task.mutant, done.finding, numbers[done.finding.case])
            runs = prepared.reach.ordered(task.mutant, before)
            done = replace(done, reached=len(runs) + len(task.checks))
            made = frozenset(task.runs)
            left = [run for run in runs if run not in made]
            if left and len(made) < self.most_runs and done.outcome is Outcome.SURVIVED:
                waiting.append(_Begun(task.mutant, done, len(made), left))
            else:
                end(task.mutant, done)

        progress.mutants(len(mutants))
        self._follow(measure, first(), _died, begun, progress)
        with_probes = [each for each in waiting if has_probe(each.mutant)]
        seeing = self._looked(prepared, with_probes, progress)
        probes = {each.mutant.fingerprint: number for number, each in enumerate(with_probes)}
        by_name = {each.mutant.fingerprint: each for each in waiting}

        def rest() -> Iterator[MutantTask]:
            for each in waiting:
                probe = probes.get(each.mutant.fingerprint)
                again = [(numbers[name], RUNTIMES[0]) for name in each.done.changed]
                may = [run for run in each.left if _may_show(seeing.get(run), probe)]
                left = may[: self.most_runs - each.made]
                yield prepared.task(each.mutant, [*again, *left])

        def finished(task: MutantTask, done: Measured) -> None:
            end(task.mutant, by_name[task.mutant.fingerprint].done.and_then(done))

        self._follow(measure, rest(), _died, finished, progress)

    def _looked(
        self, prepared: Prepared, waiting: Sequence[_Begun], progress: MutantProgress
    ) -> Seeing:
        """In which runs the mutants that wait may show; nothing where finding out costs more."""
        runs = sorted({run for each in waiting for run in each.left})
        saved = sum(prepared.seconds(each.left) for each in waiting)
        if saved < _WORTH * prepared.seconds(runs):
            return {}
        place = self.folder / _PROBES
        probes = Probes([each.mutant for each in waiting])
        write_whole(place, pickle.dumps(probes, pickle.HIGHEST_PROTOCOL))
        tasks = [
            LookTask(table=prepared.table, probes=place, runs=tuple(runs[at : at + _LOOKS]))
            for at in range(0, len(runs), _LOOKS)
        ]
        seeing: Seeing = {}

        def died(task: LookTask, death: WorkerDied) -> Seeing:
            return dict.fromkeys(task.runs)

        self._follow(look, tasks, died, lambda _, seen: seeing.update(seen), progress)
        return seeing

    def _follow(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task] | Iterator[Task],
        died: Died[Task, Result],
        take: Callable[[Task, Result], None],
        progress: MutantProgress,
    ) -> None:
        workers = workers_of(self.backend, RUNTIMES, self.jobs)
        events = run_on(workers, function, tasks, self.jobs, died=died)
        follow_whole(events, on_waiting(progress.update), on_finished(take))


def _died(task: MutantTask, death: WorkerDied) -> Measured:
    """A mutant whose worker was ended from outside: it used too much memory."""
    finding = Finding(case="", runtime="", by=Outcome.TIME_LIMIT, place=death.why)
    return Measured(
        fingerprint=task.mutant.fingerprint,
        outcome=Outcome.TIME_LIMIT,
        finding=finding,
        reached=len(task.runs),
    )
