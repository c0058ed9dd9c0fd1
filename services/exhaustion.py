"""Reports shortages: the machine lacks something, or a limit of this product was reached.

The product survives most shortages: a tool answers with an error, a chat recording stops. But what
the session does next depends on the machine, so an observer has to know, although no exception
reaches it. Code that writes a file, formats an error or goes on without an unreadable file calls
`notice`. Code that enforces a limit of this product calls `limited`. Without an observer both do
nothing.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

__all__ = ["Shortage", "limit_reached", "limited", "notice", "noticing"]

_LACKING: Final = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EROFS,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
    }
)
"""Errors that a session can cause by itself (a missing file, a name too long) are not listed."""

E = TypeVar("E", bound=Exception)

_listeners: list[Callable[[Shortage], None]] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """Something that the machine lacked, or a limit."""

    problem: str
    """The system's message: `No space left on device`."""
    path: str | None = None
    """The file or folder that was used, where that is known."""
    by_limit: bool = False
    """The machine lacks nothing: a limit of this product was reached."""


def notice(error: BaseException, path: object = None) -> None:
    """Report `error` if the machine caused it; likewise its causes and the errors in a group.

    Args:
        error: The exception.
        path: The file or folder in use; a path in the error takes precedence.
    """
    if not _listeners:
        return
    pending: list[BaseException | None] = [error]
    seen: set[int] = set()
    while pending:
        current = pending.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        pending += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            pending += current.exceptions
        elif isinstance(current, MemoryError):
            _report(Shortage(problem=os.strerror(errno.ENOMEM)))
        elif isinstance(current, OSError) and current.errno in _LACKING:
            used = path if current.filename is None else current.filename
            shown = None if used is None else str(used)
            _report(Shortage(problem=os.strerror(current.errno), path=shown))


def limit_reached(what: str) -> None:
    """Report that a limit of this product cut something off; `what` says which, without a dot."""
    _report(Shortage(problem=what, by_limit=True))


def limited(error: E) -> E:
    """Report that a limit of this product was reached, and return `error` to be raised."""
    limit_reached(str(error).rstrip("."))
    return error


@contextmanager
def noticing(listener: Callable[[Shortage], None]) -> Iterator[None]:
    """Pass each shortage in this process to `listener` until the `with` block ends.

    Several sessions in one process share the machine, so each observer receives all shortages.
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _report(shortage: Shortage) -> None:
    for listener in _listeners:
        listener(shortage)
