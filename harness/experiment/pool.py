"""Many tasks at once: results as they come, here or through any standard executor."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sized
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from harness.experiment.backend import Backend
from harness.experiment.guard import guarded
from harness.experiment.processes import TERMINATED, WatchedExecutor, worker_processes

__all__ = ["WorkerDied", "Workers", "completed", "on_demand", "process_workers", "worked"]

_TICK_S = 1.0

Task = TypeVar("Task")
Result = TypeVar("Result")


class WorkerDied(Exception):
    """The process that worked on a task is gone: killed, or out of memory.

    As text it is the reason why nothing came of the task.

    Attributes:
        stopped: The watchdog ended it, since the task went over a limit.
    """

    def __init__(self, why: str = "its worker process died", *, stopped: bool = False) -> None:
        super().__init__(why)
        self.stopped = stopped


@dataclass(frozen=True, slots=True)
class Workers:
    """Where tasks are worked on: the seam for other machines, and for tests."""

    open: Callable[[int], AbstractContextManager[Executor]]
    """Opens an executor over so many workers, which have done nothing yet."""
    deaths: tuple[type[BaseException], ...] = (BrokenExecutor,)
    """What a future raises when its worker is gone."""


def process_workers(
    backend: Backend,
    runtimes: Collection[str],
    modules: Collection[str] = (),
    *,
    forked: bool = False,
) -> Workers:
    """Worker processes of this machine: the arguments are those of `worker_processes`."""
    return Workers(
        partial(
            worker_processes,
            backend=backend,
            runtimes=tuple(runtimes),
            modules=tuple(modules),
            forked=forked,
        )
    )


def completed(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    *,
    jobs: int,
    backend: Backend,
    runtimes: Collection[str],
    started: Callable[[Task], None],
    waiting: Callable[[], None] = lambda: None,
) -> Generator[tuple[Task, Result | WorkerDied], None, None]:
    """Yield each task with its result as soon as it is there.

    Args:
        function: Module-level, so that workers find it by name.
        tasks: What to do. With one job, or one task, they are done in order; in this process if the
            backend has no limits to watch.
        jobs: Worker processes.
        backend: What workers preload with, and the limits of each task.
        runtimes: The runtimes that they preload.
        started: Told of each task when it is handed out; at most two per job are out at a time.
        waiting: Called each second in which no worker has finished a task.

    Closing the generator, or an exception in its consumer, ends workers and what they started.
    """
    count = len(tasks) if isinstance(tasks, Sized) else jobs
    if jobs <= 1 or count <= 1:
        if backend.limits is not None:
            alone = process_workers(backend, runtimes, forked=True)
            # What is handed out ahead would be begun, as the journal has it, before its turn.
            yield from worked(function, tasks, 1, alone, ahead=1, started=started, waiting=waiting)
            return
        with guarded():
            for task in tasks:
                started(task)
                yield task, function(task)
        return
    workers = process_workers(backend, runtimes)
    yield from worked(function, tasks, min(jobs, count), workers, started=started, waiting=waiting)


def worked(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    jobs: int,
    workers: Workers,
    *,
    ahead: int = 2,
    started: Callable[[Task], None] = lambda task: None,
    waiting: Callable[[], None] = lambda: None,
) -> Generator[tuple[Task, Result | WorkerDied], None, None]:
    """Yield each task with its result as soon as it is there, all of them done by `workers`.

    A task whose worker died is done once more, alone in a fresh worker: whether it was the cause
    shows then, and the tasks that died with it are not lost. One that the watchdog stopped is not:
    it was the cause.

    Args:
        function: Module-level, so that workers find it by name.
        tasks: What to do; the next is asked for when there is somebody to do it.
        jobs: How many workers.
        workers: Where they are.
        ahead: How many tasks per worker are handed out at a time.
        started: Told of each task when it is handed out.
        waiting: Called each second in which no worker has finished a task.
    """
    source = iter(tasks)
    more = True
    while more:
        with workers.open(jobs) as executor:
            feed = _Feed(executor, workers.deaths, function, source, jobs * ahead, started, waiting)
            yield from feed.results()
            more = feed.broken
        for task, died in feed.lost():
            if died.stopped:
                yield task, died
                continue
            with workers.open(1) as executor:
                alone = _Feed(
                    executor, workers.deaths, function, iter([task]), 1, lambda _: None, waiting
                )
                yield from alone.results()
            yield from alone.lost()


@contextmanager
def on_demand(
    function: Callable[[Task], Result], workers: Workers
) -> Iterator[Callable[[Task], Result | WorkerDied]]:
    """A function that does what `function` does, in a worker that waits for the next task.

    A worker that died is replaced.
    """
    asked: list[Task] = []
    outcomes = worked(function, iter(asked.pop, object()), 1, workers, ahead=1)

    def ask(task: Task) -> Result | WorkerDied:
        asked.append(task)
        return next(outcomes)[1]

    with closing(outcomes):
        yield ask


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
        waiting: Callable[[], None],
    ) -> None:
        self.broken = False
        self._executor = executor
        self._deaths = deaths
        self._function = function
        self._source = source
        self._at_once = at_once
        self._started = started
        self._waiting = waiting
        self._running: dict[Future[Result], Task] = {}
        self._lost: list[tuple[Task, Future[Result] | None]] = []

    def results(self) -> Iterator[tuple[Task, Result]]:
        """Yield what workers hand back, until there is no more to do or to do it with."""
        self._hand_out()
        while self._running:
            done, _ = wait(self._running, timeout=_TICK_S, return_when=FIRST_COMPLETED)
            if not done:
                self._waiting()
            for future in done:
                task = self._running.pop(future)
                try:
                    yield task, future.result()
                except self._deaths as error:
                    self.broken = self.broken or isinstance(error, BrokenExecutor)
                    self._lost.append((task, future))
            self._hand_out()

    def lost(self) -> Iterator[tuple[Task, WorkerDied]]:
        """Yield the tasks whose workers died. Why is known once the executor is closed.

        Until then the watchdog may end another worker of a broken pool, which does not leave by
        itself.
        """
        executor = self._executor
        for task, future in self._lost:
            why = None
            if isinstance(executor, WatchedExecutor) and future is not None:
                why = executor.stopped(future)
            yield task, WorkerDied() if why is None else WorkerDied(why, stopped=True)

    def _hand_out(self) -> None:
        while not self.broken and len(self._running) < self._at_once:
            try:
                task = next(self._source)
            except StopIteration:
                return
            self._started(task)
            try:
                future = self._executor.submit(_leaving, self._function, task)
            except BrokenExecutor:
                self.broken = True
                self._lost.append((task, None))
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
