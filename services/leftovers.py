"""What a run would leave behind if it were killed: somebody may be told, and clean up after it.

Processes in groups of their own, and folders, outlive whoever is killed with SIGKILL. Nobody is
told unless somebody asks: the product has nothing that it would clean up for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

__all__ = ["Kind", "child_started", "folder_made", "told_of_leftovers"]

Kind = Literal["child", "folder"]

_listeners: list[Callable[[Kind, str], None]] = []


def child_started(pid: int) -> None:
    """Tell of a process that leads a session of its own."""
    _tell("child", str(pid))


def folder_made(path: str) -> None:
    """Tell of a folder that will be removed when it is done with."""
    _tell("folder", path)


@contextmanager
def told_of_leftovers(listener: Callable[[Kind, str], None]) -> Iterator[None]:
    """Have `listener` told, of what it is and its process id or path, until this is left."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _tell(kind: Kind, what: str) -> None:
    for listener in _listeners:
        listener(kind, what)
