"""Notices work that a run began and did not finish: forgotten awaits, lost errors, open streams."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import sysconfig
import threading
import warnings
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any, Final

__all__ = ["Unfinished", "unfinished_work"]

_ON_UNAWAITED: Final = "_warn_unawaited_coroutine"
"""What CPython calls for a coroutine that nothing awaited. It gets the coroutine itself; a filter
of warnings, such as the one against ADK's own, would hide the public warning."""
_INSTALLED: Final = tuple(
    f"{sysconfig.get_path(name)}{os.sep}" for name in ("stdlib", "purelib", "platlib")
)
_listening: dict[int, Unfinished] = {}
"""Thread to what its run leaves. Runs of several threads share Python's one function."""
_python_warns: Final = getattr(warnings, _ON_UNAWAITED)


class Unfinished:
    """Collects what a run leaves unfinished, one sentence each without a full stop, each once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._found: dict[str, None] = {}

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything found so far, sorted: the order of destruction is no behaviour."""
        return tuple(sorted(self._found))

    def watch_generators(self) -> None:
        """Notice asynchronous generators that are dropped open, until the loop stops.

        The loop must be running: it has installed hooks of its own, and takes these away with them.
        Generators of installed packages do not count: only the package can close what it iterates
        over. The google-genai client, for example, drops eight of them at a broken line.
        """
        loops_own = sys.get_asyncgen_hooks().finalizer

        def finalize(generator: AsyncGenerator[Any, Any]) -> None:
            code = getattr(generator, "ag_code", None)
            if code is None or not code.co_filename.startswith(_INSTALLED):
                where = _named(generator, code)
                self._found[f"the asynchronous generator {where} was dropped and not closed"] = None
            if loops_own is not None:
                loops_own(generator)

        sys.set_asyncgen_hooks(finalizer=finalize)

    def on_unawaited(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Note a coroutine that was made and never awaited."""
        where = _named(coroutine, getattr(coroutine, "cr_code", None))
        self._found[f"the coroutine {where} was never awaited"] = None

    def on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Note what the loop reports: an error that nothing retrieved, or a callback's."""
        error = context.get("exception")
        why = "" if error is None else f": {type(error).__name__}: {error}"
        if error is None and isinstance(task := context.get("task"), asyncio.Task):
            coroutine = task.get_coro()
            why = f": {_named(coroutine, getattr(coroutine, 'cr_code', None))}"
        self._found[f"{str(context['message']).rstrip('.!')}{why}"] = None

    def settle(self) -> None:
        """Collect garbage, and note the tasks that still run."""
        gc.collect()
        for task in asyncio.all_tasks(self._loop):
            coroutine = task.get_coro()
            code = getattr(coroutine, "cr_code", None)
            self._found[f"a task still runs {_named(coroutine, code)}"] = None


@contextmanager
def unfinished_work(loop: asyncio.AbstractEventLoop) -> Iterator[Unfinished]:
    """Notice what a run on `loop`, in this thread, leaves unfinished.

    Call `watch_generators` inside the loop, and `settle` once the run has returned. Then nothing
    refers to what the run has dropped, and Python destroys it at once.
    """
    found = Unfinished(loop)
    loop.set_exception_handler(found.on_loop_error)
    _listening[threading.get_ident()] = found
    setattr(warnings, _ON_UNAWAITED, _unawaited)
    try:
        with _older_objects_set_aside():
            yield found
    finally:
        del _listening[threading.get_ident()]
        loop.set_exception_handler(None)


@contextmanager
def _older_objects_set_aside() -> Iterator[None]:
    """Let the collector pass over what lived before: the modules alone take 0.1 s."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _unawaited(coroutine: Coroutine[Any, Any, Any]) -> None:
    found = _listening.get(threading.get_ident())
    if found is None:
        _python_warns(coroutine)
    else:
        found.on_unawaited(coroutine)


def _named(made: object, code: CodeType | None) -> str:
    """The name of a coroutine or generator, with the module of its code where it is known."""
    name = str(getattr(made, "__qualname__", type(made).__name__))
    return name if code is None else f"{name} ({code.co_filename}:{code.co_firstlineno})"
