"""Many tasks at once: results as they come, in this process or in preloaded worker processes."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection, forkserver
from multiprocessing.context import ForkServerContext
from typing import Final, TypeVar

from harness.experiment.backend import Backend

__all__ = ["WorkerDied", "completed"]

Task = TypeVar("Task")
Result = TypeVar("Result")

_TERMINATED: Final = 128 + signal.SIGTERM
_GRACE_S: Final = 5.0
"""How long a worker may take to end its own children before it is killed."""


class WorkerDied(Exception):
    """The process that worked on a task is gone: killed, or out of memory."""


def completed(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    jobs: int,
    backend: Backend,
    runtimes: Collection[str],
    started: Callable[[Task], None],
) -> Generator[tuple[Task, Result | WorkerDied], None, None]:
    """Yield each task with its result as soon as it is there.

    Args:
        function: Module-level, so that workers find it by name.
        tasks: What to do. With one job they are done in order, in this process.
        jobs: Worker processes.
        backend: What workers preload with.
        runtimes: The runtimes that they preload.
        started: Told of each task when it is handed out; at most two per job are out at a time.

    Closing the generator, or an exception in its consumer, ends workers and what they started.
    """
    if jobs <= 1 or len(tasks) <= 1:
        for task in tasks:
            started(task)
            yield task, function(task)
        return
    orphans: list[Task] = []
    with _workers(min(jobs, len(tasks)), backend, runtimes) as executor:
        for task, result in _through(executor, function, tasks, 2 * jobs, started):
            if isinstance(result, WorkerDied):
                orphans.append(task)
            else:
                yield task, result
    # A dead worker takes the whole pool with it; alone, each task shows whether it was the cause.
    for task in orphans:
        with _workers(1, backend, runtimes) as executor:
            yield from _through(executor, function, [task], 1, lambda task: None)


def _through(
    executor: Executor,
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    at_once: int,
    started: Callable[[Task], None],
) -> Iterator[tuple[Task, Result | WorkerDied]]:
    """Feed an executor, whichever it is, `at_once` tasks ahead."""
    waiting = list(reversed(tasks))
    running: dict[Future[Result], Task] = {}
    while waiting or running:
        while waiting and len(running) < at_once:
            task = waiting.pop()
            started(task)
            try:
                running[executor.submit(_leaving, function, task)] = task
            except BrokenProcessPool as error:
                yield task, WorkerDied(str(error))
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            task = running.pop(future)
            try:
                yield task, future.result()
            except BrokenProcessPool as error:
                yield task, WorkerDied(str(error))


@contextmanager
def _workers(jobs: int, backend: Backend, runtimes: Collection[str]) -> Iterator[Executor]:
    before = set(multiprocessing.active_children())
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(backend.modules(runtimes))
    _start_server(context)
    executor = ProcessPoolExecutor(
        jobs,
        mp_context=context,
        initializer=_prepare,
        initargs=(backend, tuple(runtimes)),
    )
    try:
        with _terminated_like_interrupted():
            yield executor
    except BaseException:
        _end(executor, set(multiprocessing.active_children()) - before)
        raise
    executor.shutdown()


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM unwind this process too; by default it ends at once and leaves its workers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _start_server(context: ForkServerContext) -> None:
    """Start the server that workers are forked from; return when it has loaded everything.

    It is deaf to Ctrl-C and to termination from its first instruction (being ignored is inherited
    by a new program): it ends with this process, and without it nobody could tell when a worker
    has ended. Waiting for it with a process that does nothing keeps real workers from starting when
    nobody is there any more.
    """
    deaf = (signal.SIGINT, signal.SIGTERM)
    heard = [signal.signal(number, signal.SIG_IGN) for number in deaf]
    try:
        forkserver.ensure_running()
    finally:
        for number, handler in zip(deaf, heard, strict=True):
            signal.signal(number, handler)
    first = context.Process(target=_nothing)
    first.start()
    first.join()


def _nothing() -> None:
    """What the server's first child does."""


def _end(executor: ProcessPoolExecutor, workers: set[multiprocessing.process.BaseProcess]) -> None:
    """Stop now: queued tasks are dropped, workers get to end their children, then are killed."""
    executor.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join(_GRACE_S)
        if worker.is_alive():
            worker.kill()
    # The executor's own thread must be over before the interpreter's end, which would trip over it.
    executor.shutdown()


def _prepare(backend: Backend, runtimes: Collection[str]) -> None:
    """Make a worker ready. The terminal's Ctrl-C is the parent's to handle; it sends SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    logging.getLogger().addHandler(logging.NullHandler())
    backend.preload(runtimes)


def _end_with_parent() -> None:
    """A worker would wait for ever for tasks of a parent that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(_TERMINATED)


def _leaving(function: Callable[[Task], Result], task: Task) -> Result:
    """Work on `task`; a worker that is told to leave has unwound then, and leaves.

    The executor would hand the exception back and ask for the next task.
    """
    try:
        return function(task)
    except SystemExit:
        os._exit(_TERMINATED)


def _leave(number: int, frame: object) -> None:
    # Unwinds what runs, so that it ends the processes it started; once is enough.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(128 + number)
