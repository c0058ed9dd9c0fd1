"""Preloaded worker processes, which end together with the process that started them."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import warnings
import weakref
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import count
from multiprocessing import connection, forkserver, resource_tracker, util
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext, ForkServerContext
from pathlib import Path
from typing import Any, Final, TypeVar

from harness.debug_log import debug_is_logged, log_debug
from harness.errors import UsageError
from harness.experiment import with_parent
from harness.experiment.announcing import announce_leftover, announce_to, announced, at_work
from harness.experiment.backend import Backend
from harness.experiment.guard import Guard
from harness.experiment.watchdog import Watchdog
from harness.replay.run_folders import remove_left_folders
from harness.signals import leave, leaving_for_certain, terminated_like_interrupted
from parity import own_name
from services.leftovers import leftovers_reported_to

__all__ = ["WatchedExecutor", "worker_processes"]

_TERMINATED: Final = 128 + signal.SIGTERM
"""The exit code of a worker that received SIGTERM."""
_GRACE_S: Final = 5.0
"""Seconds that a worker may take to end its own children before it is killed."""
_HELD_BACK: Final = (signal.SIGINT, signal.SIGTERM)
_LAST: Final = -1000
"""A priority after every other finalizer at the interpreter's exit."""
_until_the_end: Final = ExitStack()

Result = TypeVar("Result")


class WatchedExecutor(ProcessPoolExecutor):
    """An executor over processes; a watchdog, if given, watches their tasks."""

    def __init__(
        self,
        jobs: int,
        context: BaseContext,
        watchdog: Watchdog | None,
        initializer: Callable[..., None],
        initargs: tuple[Any, ...],
    ) -> None:
        super().__init__(jobs, mp_context=context, initializer=initializer, initargs=initargs)
        self._watchdog = watchdog
        self._count = count()
        self._numbers: weakref.WeakKeyDictionary[Future[Any], int] = weakref.WeakKeyDictionary()

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Submit a task, as in any executor.

        This may fork a worker, so signals are blocked meanwhile: the worker must not handle one
        before it is prepared.
        """
        number = next(self._count)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD_BACK)
        try:
            with warnings.catch_warnings():
                # Python warns of a fork beside threads. These hold no lock that a worker needs.
                warnings.simplefilter("ignore", DeprecationWarning)
                future = super().submit(announced, number, _leaving, fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._numbers[future] = number
        if self._watchdog is not None:
            self._watchdog.start()
        return future

    def stopped(self, future: Future[Any]) -> str | None:
        """Return why the watchdog ended the worker of a task, as a clause; `None` if it did not."""
        if self._watchdog is None or future not in self._numbers:
            return None
        return self._watchdog.stopped.get(self._numbers[future])


def _leaving(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Run a task. If the worker receives SIGTERM, unwind the task and exit the process.

    Otherwise the executor would return the exception and take the next task.
    """
    try:
        return function(*args, **kwargs)
    except SystemExit:
        os._exit(_TERMINATED)


@contextmanager
def worker_processes(
    jobs: int,
    *,
    backend: Backend,
    runtimes: Collection[str],
    modules: Collection[str] = (),
    forked: bool = False,
) -> Iterator[Executor]:
    """Open an executor over worker processes that have everything loaded.

    Args:
        jobs: The number of workers.
        backend: Preloads the runtimes in workers; has the limits of each task.
        runtimes: The names of the runtimes to preload.
        modules: The names of further modules that workers import at their start.
        forked: Fork workers from this process instead of from a server, which is faster for one
            worker. Only Linux can do it safely; other systems always use a server.

    An exception in the `with` block ends the workers and their descendants at once.
    """
    remove_left_folders()
    before = set(multiprocessing.active_children())
    context = _context(backend, runtimes, modules, forked=forked and sys.platform == "linux")
    watchdog = None if backend.limits is None else Watchdog(backend.limits)
    pipe = None if watchdog is None else watchdog.pipe
    initargs = (backend, tuple(runtimes), pipe, debug_is_logged())
    executor = WatchedExecutor(jobs, context, watchdog, _prepare, initargs)
    try:
        try:
            with terminated_like_interrupted():
                yield executor
        except BaseException:
            _end(executor, set(multiprocessing.active_children()) - before)
            raise
        executor.shutdown()
    finally:
        if watchdog is not None:
            watchdog.stop()


def _context(
    backend: Backend, runtimes: Collection[str], modules: Collection[str], *, forked: bool
) -> BaseContext:
    """Return the context that workers start from, with everything loaded."""
    if forked:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # this process may turn warnings into errors
            backend.preload(runtimes)
        return multiprocessing.get_context("fork")
    context = multiprocessing.get_context("forkserver")
    first = with_parent.__name__
    context.set_forkserver_preload([first, *backend.modules(runtimes), *map(own_name, modules)])
    _start_server(context)
    return context


def _start_server(context: ForkServerContext) -> None:
    """Start the server that workers are forked from; return when it has loaded everything.

    The server ignores SIGINT and SIGTERM from its first instruction (a new program inherits ignored
    signals), because it reports the end of workers; it ends with this process. A first child that
    does nothing shows that the server is ready, so no real worker starts after this process ended.

    Raises:
        UsageError: The server's socket cannot be made.
    """
    deaf = (signal.SIGINT, signal.SIGTERM)
    heard = [signal.signal(number, signal.SIG_IGN) for number in deaf]
    if threading.current_thread() is threading.main_thread():
        # If another thread started the server, the server would end with that thread.
        os.environ[with_parent.PARENT] = str(os.getpid())
    _guard_sockets()
    try:
        with with_parent.server_environment():
            with _silent():
                resource_tracker.ensure_running()
            forkserver.ensure_running()
    except OSError as error:  # usually TMPDIR is too long for the name of a socket
        problem = f"the server of workers cannot listen in {tempfile.gettempdir()}: {error}"
        raise UsageError(
            problem, "set TMPDIR to a folder with a shorter name, or give -n 1"
        ) from error
    finally:
        os.environ.pop(with_parent.PARENT, None)
        for number, handler in zip(deaf, heard, strict=True):
            signal.signal(number, handler)
    first = context.Process(target=_nothing)
    first.start()
    first.join()


@cache
def _guard_sockets() -> None:
    """Report the folder of the server's socket to the guard, which removes it in any case."""
    guard = Guard()
    guard.start()
    guard.add("folder", util.get_temp_dir())
    # After Python has removed the folder, since Python complains if it is gone.
    util.Finalize(None, guard.__exit__, args=(None, None, None), exitpriority=_LAST)


@contextmanager
def _silent() -> Iterator[None]:
    """Discard the standard error of processes that start inside the `with` block.

    Python's resource tracker removes the semaphores of a killed process, and prints a warning for
    each to the standard error that it was started with.
    """
    try:
        kept = os.dup(2)
    except OSError:  # this process was started without one
        yield
        return
    with Path(os.devnull).open("wb") as nowhere:
        try:
            os.dup2(nowhere.fileno(), 2)
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _nothing() -> None:
    """Do nothing: the target of the server's first child."""


def _end(executor: ProcessPoolExecutor, workers: set[multiprocessing.process.BaseProcess]) -> None:
    """Stop now: drop queued tasks, give workers time to end their children, then kill them."""
    executor.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join(_GRACE_S)
        if worker.is_alive():
            worker.kill()
    # The executor's own thread must end before the interpreter's exit, which would fail otherwise.
    executor.shutdown()


def _prepare(
    backend: Backend, runtimes: Collection[str], pipe: Connection | None, debug: bool
) -> None:
    """Prepare a worker. It ignores Ctrl-C: the parent handles it and sends SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD_BACK)
    with_parent.end_with_parent()
    _until_the_end.enter_context(leaving_for_certain())
    # Stays open while the worker runs: the guard cleans up after a killed worker.
    guard = _until_the_end.enter_context(Guard())
    _until_the_end.enter_context(leftovers_reported_to(guard.add))
    if pipe is not None:
        announce_to(pipe, guard.start())
        _until_the_end.enter_context(leftovers_reported_to(announce_leftover))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if debug:
        log_debug()
    else:
        logging.getLogger().addHandler(logging.NullHandler())
    backend.preload(runtimes)
    # The garbage collector skips loaded modules: a walk would copy memory shared with the server.
    gc.freeze()


def _leave(number: int, frame: object) -> None:
    """Unwind the current task; without a task, exit at once without output."""
    if not at_work():
        os._exit(_TERMINATED)
    leave(number, frame)


def _end_with_parent() -> None:
    """End this worker with its parent; it would otherwise wait for tasks for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(_TERMINATED)
