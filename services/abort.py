"""Cancellation as a value: one controller, and a signal that any number of readers observe.

A reader asks (`aborted`), awaits (`wait`) or subscribes (`on_abort`). A signal cancels no task.

Source: the web platform's `AbortController`, which the legacy core passes to its model layer and
scheduler.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

__all__ = [
    "AbortController",
    "AbortError",
    "AbortSignal",
    "cancellation_or_abort",
    "until_aborted",
]

T = TypeVar("T")


class AbortError(Exception):
    """Work ended because its signal was aborted. `name` is the wire's error name."""

    name = "AbortError"

    def __init__(self, message: str = "The operation was aborted.") -> None:
        super().__init__(message)


class AbortSignal:
    """Whether work is to end. Made by an `AbortController`."""

    __slots__ = ("_aborted", "_listeners", "reason")

    def __init__(self) -> None:
        self._aborted = False
        self._listeners: dict[object, Callable[[], None]] = {}
        self.reason: str | None = None
        """The reason given with the abort, if any (for example `LOOP_DETECTED`)."""

    @property
    def aborted(self) -> bool:
        """True from the first abort on."""
        return self._aborted

    def raise_if_aborted(self) -> None:
        """Raise `AbortError` when aborted."""
        if self._aborted:
            raise AbortError

    def on_abort(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` once at the abort (now, if it has been); returns the unsubscribe."""
        if self._aborted:
            listener()
            return lambda: None
        key = object()
        self._listeners[key] = listener

        def off() -> None:
            self._listeners.pop(key, None)

        return off

    async def wait(self) -> None:
        """Return when aborted."""
        if self._aborted:
            return
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def finish() -> None:
            if not done.done():
                done.set_result(None)

        off = self.on_abort(finish)
        try:
            await done
        finally:
            off()

    def _abort(self, reason: str | None) -> None:
        if self._aborted:
            return
        self._aborted = True
        self.reason = reason
        listeners = list(self._listeners.values())
        self._listeners.clear()
        for listener in listeners:
            listener()


class AbortController:
    """Owns one `AbortSignal`."""

    __slots__ = ("signal",)

    def __init__(self) -> None:
        self.signal = AbortSignal()

    def abort(self, reason: str | None = None) -> None:
        """Abort the signal; the second and later calls do nothing."""
        self.signal._abort(reason)


def cancellation_or_abort(error: asyncio.CancelledError) -> AbortError | asyncio.CancelledError:
    """What a `CancelledError` means in the running task.

    Returns:
        `error` itself where this task is being cancelled. Otherwise something that the task awaited
        was cancelled: an `AbortError`, which is the one error that JavaScript has for both.
    """
    task = asyncio.current_task()
    return error if task is None or task.cancelling() else AbortError()


async def until_aborted(work: Coroutine[Any, Any, T], signal: AbortSignal) -> T:
    """Await `work`, ending it early when `signal` is aborted.

    The work is cancelled and awaited before `AbortError` is raised, so nothing outlives the call.
    What the work itself raises is raised unchanged.
    """
    if signal.aborted:
        work.close()
        raise AbortError
    task = asyncio.get_running_loop().create_task(work)
    off = signal.on_abort(lambda: void(task.cancel()))
    try:
        await asyncio.wait([task])
    finally:
        off()
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
    if task.cancelled():
        raise AbortError
    return task.result()


def void(_: object) -> None:
    """Drop a result where a callback must return nothing."""
