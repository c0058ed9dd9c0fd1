"""A whole measurement: the corpus first, then one generated run for whatever survived it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeVar

from harness.cassette.find import CassetteFile
from harness.detection.catalogue_at import CatalogueAt
from harness.detection.finding import Found, FoundBy
from harness.detection.matrix import Matrix, Outcome
from harness.detection.measuring import CorpusTask, Measured, measure
from harness.detection.sampling import SampleDone, SampleTask, sample_block, sample_tasks
from harness.experiment.backend import Backend
from harness.experiment.pool import WorkerDied, process_workers, worked
from harness.parity.waivers import Waivers

__all__ = ["Measurement", "Told", "look_in_corpus", "look_in_sample"]

_RUNTIMES: Final = ("legacy", "adk")

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What a measurement works with."""

    backend: Backend
    catalogue: CatalogueAt
    files: tuple[CassetteFile, ...]
    trusted: frozenset[str]
    """Names of the cassettes that may start processes."""
    waivers: Waivers
    baselines: Path | None
    kept: Path
    """A folder of this measurement's own, for the good runs."""
    jobs: int
    profile: str
    seed: int
    core: bool
    """Whether the published core can be opened here."""


class Told(Protocol):
    """Is told what goes on."""

    def fault(self, name: str, found: Found | None) -> None:
        """A fault has been through the corpus."""
        ...

    def block(self, examples: int, sought: int) -> None:
        """So many scenarios have been run by now, and so many faults are still sought."""
        ...

    def waiting(self) -> None:
        """Nothing has finished for some seconds."""
        ...


def look_in_corpus(plan: Measurement, matrix: Matrix, told: Told) -> None:
    """Look for every fault of the matrix in the corpus; fills in `Row.corpus` as it goes."""
    rows = {row.fault.name: row for row in matrix.rows}
    tasks = [
        CorpusTask(
            fault=name,
            catalogue=plan.catalogue,
            files=plan.files,
            trusted=plan.trusted,
            waivers=plan.waivers,
            kept=plan.kept,
            baselines=plan.baselines,
        )
        for name in rows
    ]
    with closing(_worked(plan, measure, tasks, told)) as outcomes:
        for task, outcome in outcomes:
            done = _died(task.fault, outcome) if isinstance(outcome, WorkerDied) else outcome
            rows[task.fault].corpus = done
            told.fault(task.fault, done.found)


def look_in_sample(
    plan: Measurement, matrix: Matrix, enough: Callable[[], bool], told: Told
) -> None:
    """Look for the survivors in a sample until `enough` says so; fills in `Row.generated`.

    Of several findings of one fault the one of the earliest block counts, whoever was quicker.
    """
    rows = {row.fault.name: row for row in matrix.rows if row.outcome is Outcome.SURVIVED}
    blocks: dict[str, int] = {}

    def sought() -> Collection[str]:
        return [] if enough() else [name for name in rows if name not in blocks]

    first = SampleTask(
        number=0,
        profile=plan.profile,
        seed=plan.seed,
        faults=tuple(rows),
        catalogue=plan.catalogue,
        waivers=plan.waivers,
        core=plan.core,
    )
    with closing(_worked(plan, sample_block, sample_tasks(first, sought), told)) as outcomes:
        for task, outcome in outcomes:
            done = _block_died(task, outcome) if isinstance(outcome, WorkerDied) else outcome
            matrix.conditions.examples += done.examples
            for name, part in done.faults.items():
                whole = rows[name].generated = _joined(rows[name].generated, part)
                if part.found is not None and done.number < blocks.get(name, done.number + 1):
                    blocks[name] = done.number
                    whole.found = part.found
            told.block(matrix.conditions.examples, len(rows) - len(blocks))


def _worked(
    plan: Measurement, function: Callable[[Task], Result], tasks: Iterable[Task], told: Told
) -> Generator[tuple[Task, Result | WorkerDied], None, None]:
    if plan.jobs > 1 or plan.backend.limits is not None:
        workers = process_workers(plan.backend, _RUNTIMES, forked=plan.jobs == 1)
        # One ahead for each worker: what is handed out is run to its end, whatever the time says.
        yield from worked(function, tasks, plan.jobs, workers, ahead=1, waiting=told.waiting)
    else:
        yield from _here(function, tasks)


def _here(
    function: Callable[[Task], Result], tasks: Iterable[Task]
) -> Iterator[tuple[Task, Result]]:
    for task in tasks:
        yield task, function(task)


def _joined(whole: Measured | None, part: Measured) -> Measured:
    if whole is None:
        return part
    whole.met += part.met
    whole.left_out.update(part.left_out)
    whole.unsteady.extend(part.unsteady)
    whole.untouched += part.untouched
    return whole


def _died(fault: str, died: WorkerDied) -> Measured:
    why = str(died)
    found = Found(cassette="", by=FoundBy.CRASH, channel="", place=why, says=why, met=0)
    return Measured(fault=fault, found=found)


def _block_died(task: SampleTask, died: WorkerDied) -> SampleDone:
    """Which of its faults did that nobody can tell: the block shows nothing of any."""
    done = SampleDone(number=task.number)
    for name in task.faults:
        done.faults[name] = Measured(fault=name, left_out={task.name: str(died)})
    return done
