"""A whole measurement: the corpus first, then one generated run for the faults that survived."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from harness.detection.finding import Found, FoundBy
from harness.detection.good import Corpus
from harness.detection.matrix import Matrix, Outcome
from harness.detection.measuring import CorpusTask, Measured, measure
from harness.detection.sampling import SampleDone, SampleTask, sample_block, sample_tasks
from harness.detection.show import FaultProgress
from harness.experiment.backend import Backend
from harness.experiment.events import follow_whole, on_finished, on_waiting
from harness.experiment.pool import Died, WorkerDied, run_on, workers_of

__all__ = ["Measurement", "look_in_corpus", "look_in_sample"]

_RUNTIMES: Final = ("legacy", "adk")

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """The settings of a measurement."""

    backend: Backend
    corpus: Corpus
    jobs: int
    profile: str
    seed: int
    core: bool
    """Whether the published core can be opened here."""


def look_in_corpus(plan: Measurement, matrix: Matrix, progress: FaultProgress) -> None:
    """Look for every fault of the matrix in the corpus, and fill in `Row.corpus`.

    Raises:
        KeyboardInterrupt: the user's.
    """
    rows = {row.fault.name: row for row in matrix.rows}
    tasks = [CorpusTask(fault=name, corpus=plan.corpus) for name in rows]

    def take(task: CorpusTask, done: Measured) -> None:
        rows[task.fault].corpus = done
        progress.fault(task.fault, done.found)

    _follow(plan, measure, tasks, _died, take, progress)


def look_in_sample(
    plan: Measurement, matrix: Matrix, enough: Callable[[], bool], progress: FaultProgress
) -> None:
    """Look for the survivors in a sample until `enough` holds, and fill in `Row.generated`.

    Of several findings of one fault, the one in the earliest block counts.

    Raises:
        KeyboardInterrupt: the user's.
    """
    rows = {row.fault.name: row for row in matrix.rows if row.outcome is Outcome.SURVIVED}
    blocks: dict[str, int] = {}

    def sought() -> Collection[str]:
        return [] if enough() else [name for name in rows if name not in blocks]

    def take(task: SampleTask, done: SampleDone) -> None:
        matrix.conditions.examples += done.examples
        for name, part in done.faults.items():
            whole = rows[name].generated = _joined(rows[name].generated, part)
            if part.found is not None and done.number < blocks.get(name, done.number + 1):
                blocks[name] = done.number
                whole.found = part.found
        progress.block(matrix.conditions.examples, len(rows) - len(blocks))

    first = SampleTask(
        number=0,
        profile=plan.profile,
        seed=plan.seed,
        faults=tuple(rows),
        catalogue=plan.corpus.catalogue,
        waivers=plan.corpus.waivers,
        core=plan.core,
    )
    _follow(plan, sample_block, sample_tasks(first, sought), _block_died, take, progress)


def _follow(
    plan: Measurement,
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    died: Died[Task, Result],
    take: Callable[[Task, Result], None],
    progress: FaultProgress,
) -> None:
    workers = workers_of(plan.backend, _RUNTIMES, plan.jobs)
    # One task ahead for each worker: tasks that were handed out run to their end.
    events = run_on(workers, function, tasks, plan.jobs, died=died)
    follow_whole(events, on_waiting(progress.update), on_finished(take))


def _joined(whole: Measured | None, part: Measured) -> Measured:
    if whole is None:
        return part
    whole.met += part.met
    whole.left_out.update(part.left_out)
    whole.unsteady.extend(part.unsteady)
    whole.untouched += part.untouched
    return whole


def _died(task: CorpusTask, died: WorkerDied) -> Measured:
    why = died.why
    found = Found(cassette="", kind=FoundBy.CRASH, channel="", place=why, says=why, met=0)
    return Measured(fault=task.fault, found=found)


def _block_died(task: SampleTask, died: WorkerDied) -> SampleDone:
    """The result of a block whose worker died; which fault was the reason is unknown."""
    done = SampleDone(number=task.number)
    for name in task.faults:
        done.faults[name] = Measured(fault=name, left_out={task.name: died.why})
    return done
