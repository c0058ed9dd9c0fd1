"""Preloaded worker processes, which end together with whoever started them."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Collection, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import connection, forkserver
from multiprocessing.context import ForkServerContext
from typing import Final

from harness.experiment import with_parent
from harness.experiment.backend import Backend
from harness.experiment.guard import guarded
from harness.signals import leave, terminated_like_interrupted

__all__ = ["TERMINATED", "worker_processes"]

TERMINATED: Final = 128 + signal.SIGTERM
"""What a worker that was told to leave exits with."""
_GRACE_S: Final = 5.0
"""How long a worker may take to end its own children before it is killed."""
_guards: Final = ExitStack()


@contextmanager
def worker_processes(
    jobs: int, *, backend: Backend, runtimes: Collection[str], modules: Collection[str] = ()
) -> Iterator[Executor]:
    """An executor over worker processes that have everything loaded.

    Args:
        jobs: How many.
        backend: What they preload with.
        runtimes: The runtimes that they preload.
        modules: What else they have imported from the start, by name.

    Leaving by an exception ends them, and what they started, at once.
    """
    before = set(multiprocessing.active_children())
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([with_parent.__name__, *backend.modules(runtimes), *modules])
    _start_server(context)
    executor = ProcessPoolExecutor(
        jobs,
        mp_context=context,
        initializer=_prepare,
        initargs=(backend, tuple(runtimes)),
    )
    try:
        with terminated_like_interrupted():
            yield executor
    except BaseException:
        _end(executor, set(multiprocessing.active_children()) - before)
        raise
    executor.shutdown()


def _start_server(context: ForkServerContext) -> None:
    """Start the server that workers are forked from; return when it has loaded everything.

    It is deaf to Ctrl-C and to termination from its first instruction (being ignored is inherited
    by a new program): it ends with this process, and without it nobody could tell when a worker
    has ended. Waiting for it with a process that does nothing keeps real workers from starting when
    nobody is there any more.
    """
    deaf = (signal.SIGINT, signal.SIGTERM)
    heard = [signal.signal(number, signal.SIG_IGN) for number in deaf]
    if threading.current_thread() is threading.main_thread():
        # It would end with any other thread, were it that one which started it.
        os.environ[with_parent.PARENT] = str(os.getpid())
    try:
        forkserver.ensure_running()
    finally:
        os.environ.pop(with_parent.PARENT, None)
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
    signal.signal(signal.SIGTERM, leave)
    # For as long as the worker is there: the guard sees to what a killed one leaves behind.
    _guards.enter_context(guarded())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    logging.getLogger().addHandler(logging.NullHandler())
    backend.preload(runtimes)


def _end_with_parent() -> None:
    """A worker would wait for ever for tasks of a parent that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(TERMINATED)
