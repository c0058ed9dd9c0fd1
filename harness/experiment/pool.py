"""Many tasks at once: results as they come, here or through any standard executor."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sized
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from harness.experiment.backend import Backend
from harness.experiment.guard import guarded
from harness.experiment.processes import TERMINATED, worker_processes

__all__ = ["WorkerDied", "Workers", "completed", "process_workers", "worked"]

Task = TypeVar("Task")
Result = TypeVar("Result")


class WorkerDied(Exception):
    """The process that worked on a task is gone: killed, or out of memory."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Where tasks are worked on: the seam for other machines, and for tests."""

    open: Callable[[int], AbstractContextManager[Executor]]
    """Opens an executor over so many workers, which have done nothing yet."""
    deaths: tuple[type[BaseException], ...] = (BrokenExecutor,)
    """What a future raises when its worker is gone."""


def process_workers(
    backend: Backend, runtimes: Collection[str], modules: Collection[str] = ()
) -> Workers:
    """Worker processes of this machine, with these runtimes and modules loaded."""
    return Workers(
        partial(worker_processes, backend=backend, runtimes=tuple(runtimes), modules=tuple(modules))
    )


def completed(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    *,
    jobs: int,
    backend: Backend,
    runtimes: Collection[str],
    started: Callable[[Task], None],
) -> Generator[tuple[Task, Result | WorkerDied], None, None]:
    """Yield each task with its result as soon as it is there.

    Args:
        function: Module-level, so that workers find it by name.
        tasks: What to do. With one job, or one task, they are done in order, in this process.
        jobs: Worker processes.
        backend: What workers preload with.
        runtimes: The runtimes that they preload.
        started: Told of each task when it is handed out; at most two per job are out at a time.

    Closing the generator, or an exception in its consumer, ends workers and what they started.
    """
    count = len(tasks) if isinstance(tasks, Sized) else jobs
    if jobs <= 1 or count <= 1:
        with guarded():
            for task in tasks:
                started(task)
                yield task, function(task)
        return
    workers = process_workers(backend, runtimes)
    yield from worked(function, tasks, min(jobs, count), workers, started=started)


def worked(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    jobs: int,
    workers: Workers,
    *,
    ahead: int = 2,
    started: Callable[[Task], None] = lambda task: None,
) -> Generator[tuple[Task, Result | WorkerDied], None, None]:
    """Yield each task with its result as soon as it is there, all of them done by `workers`.

    A task whose worker died is done once more, alone in a fresh worker: whether it was the cause
    shows then, and the tasks that died with it are not lost.

    Args:
        function: Module-level, so that workers find it by name.
        tasks: What to do; the next is asked for when there is somebody to do it.
        jobs: How many workers.
        workers: Where they are.
        ahead: How many tasks per worker are handed out at a time.
        started: Told of each task when it is handed out.
    """
    source = iter(tasks)
    more = True
    while more:
        orphans: list[Task] = []
        with workers.open(jobs) as executor:
            feed = _Feed(executor, workers.deaths, function, source, jobs * ahead, started)
            for task, result in feed.results():
                if isinstance(result, WorkerDied):
                    orphans.append(task)
                else:
                    yield task, result
            more = feed.broken
        for task in orphans:
            with workers.open(1) as executor:
                alone = _Feed(executor, workers.deaths, function, iter([task]), 1, lambda _: None)
                yield from alone.results()


class _Feed(Generic[Task, Result]):
    """Feeds one executor. `broken` says afterwards that it takes no more tasks."""

    def __init__(
        self,
        executor: Executor,
        deaths: tuple[type[BaseException], ...],
        function: Callable[[Task], Result],
        source: Iterator[Task],
        at_once: int,
        started: Callable[[Task], None],
    ) -> None:
        self.broken = False
        self._executor = executor
        self._deaths = deaths
        self._function = function
        self._source = source
        self._at_once = at_once
        self._started = started
        self._running: dict[Future[Result], Task] = {}

    def results(self) -> Iterator[tuple[Task, Result | WorkerDied]]:
        yield from self._hand_out()
        while self._running:
            done, _ = wait(self._running, return_when=FIRST_COMPLETED)
            for future in done:
                task = self._running.pop(future)
                try:
                    yield task, future.result()
                except self._deaths as error:
                    self.broken = self.broken or isinstance(error, BrokenExecutor)
                    yield task, WorkerDied(str(error))
            yield from self._hand_out()

    def _hand_out(self) -> Iterator[tuple[Task, WorkerDied]]:
        while not self.broken and len(self._running) < self._at_once:
            try:
                task = next(self._source)
            except StopIteration:
                return
            self._started(task)
            try:
                future = self._executor.submit(_leaving, self._function, task)
            except BrokenExecutor as error:
                self.broken = True
                yield task, WorkerDied(str(error))
            else:
                self._running[future] = task


def _leaving(function: Callable[[Task], Result], task: Task) -> Result:
    """Work on `task`; a worker that is told to leave has unwound then, and leaves.

    The executor would hand the exception back and ask for the next task.
    """
    try:
        return function(task)
    except SystemExit:
        os._exit(TERMINATED)
