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
from services.leftovers import leftovers_reported_to

__all__ = ["WatchedExecutor", "worker_processes"]

_TERMINATED: Final = 128 + signal.SIGTERM
"""The exit code of a worker that received SIGTERM."""
_GRACE_S: Final = 5.0
"""How long a worker may take to end its own children before it is killed."""
_HELD_BACK: Final = (signal.SIGINT, signal.SIGTERM)
_LAST: Final = -1000
"""The priority of what is done when everything else of the interpreter's end is."""
_FIRST: Final = ("parity_entry.ours_first", with_parent.__name__)
"""What a server imports before anything else, where this process has imported it."""
_until_the_end: Final = ExitStack()

Result = TypeVar("Result")


class WatchedExecutor(ProcessPoolExecutor):
    """An executor over processes whose tasks a watchdog watches, where there is one."""

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
        """As any executor's.

        A worker may be forked here, so signals wait: the worker must not take them for its own
        before it is prepared for them.
        """
        number = next(self._count)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD_BACK)
        try:
            with warnings.catch_warnings():
                # Python warns of forks beside threads. They hold nothing that a worker needs.
                warnings.simplefilter("ignore", DeprecationWarning)
                future = super().submit(announced, number, _leaving, fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._numbers[future] = number
        if self._watchdog is not None:
            self._watchdog.start()
        return future

    def stopped(self, future: Future[Any]) -> str | None:
        """Why the watchdog ended the worker of a task, in words; `None` where it did not."""
        if self._watchdog is None or future not in self._numbers:
            return None
        return self._watchdog.stopped.get(self._numbers[future])


def _leaving(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Work on a task; a worker that received SIGTERM has unwound then, and leaves.

    The executor would hand the exception back and ask for the next task.
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
    """An executor over worker processes that have everything loaded.

    Args:
        jobs: How many.
        backend: What they preload with, and the limits of each task.
        runtimes: The runtimes that they preload.
        modules: What else they have imported from the start, by name.
        forked: Fork them from this process instead of from a server. One worker is there sooner
            that way. Only Linux can do it safely; elsewhere there is a server in any case.

    Leaving by an exception ends them, and what they started, at once.
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
    """Where workers come from, everything loaded."""
    if forked:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # this process may take a warning for an error
            backend.preload(runtimes)
        return multiprocessing.get_context("fork")
    context = multiprocessing.get_context("forkserver")
    first = [name for name in _FIRST if name in sys.modules]
    context.set_forkserver_preload([*first, *backend.modules(runtimes), *modules])
    _start_server(context)
    return context


def _start_server(context: ForkServerContext) -> None:
    """Start the server that workers are forked from; return when it has loaded everything.

    It is deaf to Ctrl-C and to termination from its first instruction (being ignored is inherited
    by a new program): it ends with this process, and without it the end of a worker would go
    unnoticed. Waiting for it with a process that does nothing keeps real workers from starting
    after this process has ended.

    Raises:
        UsageError: the server's socket cannot be made.
    """
    deaf = (signal.SIGINT, signal.SIGTERM)
    heard = [signal.signal(number, signal.SIG_IGN) for number in deaf]
    if threading.current_thread() is threading.main_thread():
        # It would end with any other thread, were it that one which started it.
        os.environ[with_parent.PARENT] = str(os.getpid())
    _guard_sockets()
    try:
        with with_parent.server_environment():
            with _silent():
                resource_tracker.ensure_running()
            forkserver.ensure_running()
    except OSError as error:  # most often a TMPDIR too long for the name of a socket
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
    """Have the folder of the server's socket removed, even if this process is killed."""
    guard = Guard()
    guard.start()
    guard.add("folder", util.get_temp_dir())
    # After Python itself has removed it: it complains of a folder that is gone.
    util.Finalize(None, guard.__exit__, args=(None, None, None), exitpriority=_LAST)


@contextmanager
def _silent() -> Iterator[None]:
    """Let what is started in here write its errors to nowhere.

    Python's resource tracker removes the semaphores of a process that was killed, which is what it
    is for. It complains of each on the standard error that it was started with.
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


def _prepare(
    backend: Backend, runtimes: Collection[str], pipe: Connection | None, debug: bool
) -> None:
    """Make a worker ready. The terminal's Ctrl-C is the parent's to handle; it sends SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD_BACK)
    with_parent.end_with_parent()
    _until_the_end.enter_context(leaving_for_certain())
    # For as long as the worker is there: the guard sees to what a killed one leaves behind.
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
    # What is loaded stays: the collector need not walk it, which would copy the server's memory.
    gc.freeze()


def _leave(number: int, frame: object) -> None:
    """Unwind the task that is worked on; without one there is nothing to unwind, or to print."""
    if not at_work():
        os._exit(_TERMINATED)
    leave(number, frame)


def _end_with_parent() -> None:
    """A worker would wait for ever for tasks of a parent that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(_TERMINATED)
