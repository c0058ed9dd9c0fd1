"""A whole measurement: the good runs of the corpus first, then one mutant after the other."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from harness.cassette.find import CassetteFile
from harness.experiment.backend import Backend
from harness.experiment.events import follow_whole, on_finished, on_waiting
from harness.experiment.pool import Died, WorkerDied, run_on, workers_of
from harness.mutants.choosing import FoundBefore, Reach
from harness.mutants.measuring import (
    Case,
    GoodTask,
    MutantTask,
    Table,
    Unknown,
    find_out,
    measure,
)
from harness.mutants.mutant import Mutant
from harness.mutants.result import Finding, Measured, Outcome
from harness.mutants.show import MutantProgress
from harness.mutants.source import Source
from harness.mutants.store import RUNTIMES, GoodRun, Store
from harness.parity.waivers import Waivers
from harness.whole_file import write_whole

__all__ = ["Measurement", "Prepared"]

_TABLE: Final = "table"
_TOGETHER: Final = 8
"""Cases whose good runs are made by one process."""

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

    def prepare(self, progress: MutantProgress) -> Prepared:
        """Find out what the cases reach, as far as that is not known.

        Raises:
            KeyboardInterrupt: the user's; what was found out by then is kept.
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
        return self._prepared(good)

    def _prepared(self, good: dict[str, GoodRun]) -> Prepared:
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
        reach = Reach(facts, self.sources)
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

        def tasks() -> Iterator[MutantTask]:
            for mutant in mutants:
                runs = prepared.reach.ordered(mutant, before)
                by = [{number for number, name in runs if name == each} for each in RUNTIMES]
                both = frozenset(by[0] & by[1])
                yield MutantTask(mutant=mutant, table=prepared.table, runs=tuple(runs), both=both)

        def finished(task: MutantTask, done: Measured) -> None:
            if done.finding is not None and done.finding.case in numbers:
                before.add(task.mutant, done.finding, numbers[done.finding.case])
            take(task.mutant, done)
            progress.mutant(task.mutant, done)

        progress.mutants(len(mutants))
        self._follow(measure, tasks(), _died, finished, progress)

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
