"""Runs many tasks at once, in this process or through any standard executor; yields events."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from harness.experiment.backend import Backend
from harness.experiment.events import (
    CaseFinished,
    CaseStarted,
    Event,
    Events,
    RunFinished,
    RunStarted,
    Waiting,
)
from harness.experiment.guard import guarded
from harness.experiment.processes import WatchedExecutor, worker_processes

__all__ = [
    "Died",
    "WorkerDied",
    "Workers",
    "on_demand",
    "process_workers",
    "run_cases",
    "run_on",
    "workers_of",
]

_TICK_S = 1.0

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class WorkerDied:
    """The worker process of a task ended early: it was killed, or ran out of memory."""

    why: str = "its worker process died"
    stopped: bool = False
    """Whether the watchdog ended the worker, because the task exceeded a limit."""

    def __str__(self) -> str:
        """Return the reason why the task has no result."""
        return self.why


Died: TypeAlias = Callable[[Task, WorkerDied], Result]
"""Makes the result of a task whose worker died."""


@dataclass(frozen=True, slots=True)
class Workers:
    """The workers of a run; other machines and tests replace them here."""

    open: Callable[[int], AbstractContextManager[Executor]]
    """Opens an executor over the given number of fresh workers."""
    deaths: tuple[type[BaseException], ...] = (BrokenExecutor,)
    """The exceptions that a future raises when its worker has died."""


def process_workers(
    backend: Backend,
    runtimes: Collection[str],
    modules: Collection[str] = (),
    *,
    forked: bool = False,
) -> Workers:
    """Return worker processes of this machine; see `worker_processes` for the arguments."""
    return Workers(
        partial(
            worker_processes,
            backend=backend,
            runtimes=tuple(runtimes),
            modules=tuple(modules),
            forked=forked,
        )
    )


class _ThisProcess(Executor):
    """Runs a task when it is submitted; `submit` raises the exceptions of the task."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@contextmanager
def _this_process(jobs: int) -> Iterator[Executor]:
    assert jobs == 1, "a process works on one task at a time"
    with guarded(at_once=True):
        yield _ThisProcess()


def workers_of(backend: Backend, runtimes: Collection[str], jobs: int) -> Workers:
    """Return the usual workers: one job needs no server, and without limits no process."""
    if jobs > 1:
        return process_workers(backend, runtimes)
    if backend.limits is not None:
        return process_workers(backend, runtimes, forked=True)
    return Workers(_this_process)


def run_cases(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    died: Died[Task, Result],
    jobs: int,
    backend: Backend,
    runtimes: Collection[str],
) -> Events[Task, Result]:
    """Yield the events of `tasks`.

    Args:
        function: A module-level function, so that workers find it by name.
        tasks: Run in order with one job.
        died: Makes the result of a task whose worker died.
        jobs: The number of worker processes.
        backend: Preloads the runtimes in workers; has the limits of each task.
        runtimes: The names of the runtimes to preload.

    Closing the generator, or an exception in its consumer, ends the workers and their descendants.
    """
    jobs = max(1, min(jobs, len(tasks)))
    # With one worker, a task that is submitted ahead would be journalled before its turn.
    ahead = 1 if jobs == 1 else 2
    workers = workers_of(backend, runtimes, jobs)
    return run_on(workers, function, tasks, jobs, died=died, ahead=ahead)


def run_on(
    workers: Workers,
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    jobs: int,
    *,
    died: Died[Task, Result],
    ahead: int = 1,
    seconds: Callable[[], float] = time.perf_counter,
) -> Events[Task, Result]:
    """Run `tasks` in `workers` and yield the events.

    A task whose worker died runs once more, alone in a fresh worker. That shows whether the task
    was the cause, and saves the other tasks of the broken pool. A task that the watchdog stopped
    does not run again: it was the cause.

    Args:
        workers: The workers that run the tasks.
        function: A module-level function, so that workers find it by name.
        tasks: Iterated lazily: the next task is taken when a worker is free.
        jobs: The number of workers.
        died: Makes the result of a task whose worker died.
        ahead: The number of tasks per worker that are submitted at a time.
        seconds: A module-level monotonic clock, which times the tasks.
    """
    yield RunStarted(len(tasks) if isinstance(tasks, Sized) else None)
    work = partial(_timed, function, seconds)
    source = iter(tasks)
    more = True
    while more:
        with workers.open(jobs) as executor:
            feed = _Feed(executor, workers.deaths, work, source, jobs * ahead)
            yield from feed.events()
            more = feed.broken
        for task, death in feed.lost():
            if death.stopped:
                yield CaseFinished(task, died(task, death))
                continue
            with workers.open(1) as executor:
                alone = _Feed(executor, workers.deaths, work, iter([task]), 1, again=True)
                yield from alone.events()
            for _, final in alone.lost():
                yield CaseFinished(task, died(task, final))
    yield RunFinished()


@contextmanager
def on_demand(
    function: Callable[[Task], Result], workers: Workers, died: Died[Task, Result]
) -> Iterator[Callable[[Task], Result]]:
    """Provide a function that calls `function` in one worker, which stays for the next task.

    A fresh worker replaces one that died; `died` makes the result of its task.
    """
    asked: list[Task] = []
    events = run_on(workers, function, iter(asked.pop, object()), 1, died=died)
    results = (event.result for event in events if isinstance(event, CaseFinished))

    def ask(task: Task) -> Result:
        asked.append(task)
        return next(results)

    with closing(events):
        yield ask


@dataclass(slots=True)
class _Feed(Generic[Task, Result]):
    """Submits tasks to one executor."""

    executor: Executor
    deaths: tuple[type[BaseException], ...]
    work: Callable[[Task], tuple[Result, float]]
    source: Iterator[Task]
    at_once: int
    again: bool = False
    """Whether the tasks were started before, by a worker that died."""
    broken: bool = False
    """Whether the executor is broken and accepts no more tasks."""
    _running: dict[Future[tuple[Result, float]], Task] = field(default_factory=dict)
    _lost: list[tuple[Task, Future[tuple[Result, float]] | None]] = field(default_factory=list)

    def events(self) -> Iterator[Event[Task, Result]]:
        """Yield the events of the tasks, until no task or no worker remains."""
        yield from self._hand_out()
        while self._running:
            done, _ = wait(self._running, timeout=_TICK_S, return_when=FIRST_COMPLETED)
            if not done:
                yield Waiting()
            for future in done:
                task = self._running.pop(future)
                try:
                    result, took_ms = future.result()
                except self.deaths as error:
                    self.broken = self.broken or isinstance(error, BrokenExecutor)
                    self._lost.append((task, future))
                else:
                    yield CaseFinished(task, result, took_ms)
            yield from self._hand_out()

    def lost(self) -> Iterator[tuple[Task, WorkerDied]]:
        """Yield the tasks whose workers died, with the reasons. Call it after the executor closed.

        Until then, the watchdog may end another worker of a broken pool, which does not end by
        itself.
        """
        executor = self.executor
        for task, future in self._lost:
            why = None
            if isinstance(executor, WatchedExecutor) and future is not None:
                why = executor.stopped(future)
            yield task, WorkerDied() if why is None else WorkerDied(why, stopped=True)

    def _hand_out(self) -> Iterator[Event[Task, Result]]:
        while not self.broken and len(self._running) < self.at_once:
            try:
                task = next(self.source)
            except StopIteration:
                return
            if not self.again:
                yield CaseStarted(task)
            try:
                self._running[self.executor.submit(self.work, task)] = task
            except BrokenExecutor:
                self.broken = True
                self._lost.append((task, None))


def _timed(
    function: Callable[[Task], Result], seconds: Callable[[], float], task: Task
) -> tuple[Result, float]:
    """Return the result of a task, and the milliseconds that it took in the worker."""
    begun = seconds()
    result = function(task)
    return result, (seconds() - begun) * 1000
