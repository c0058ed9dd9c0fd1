"""Reports of what a run would leave behind if it were killed, so that a listener can clean up.

Process groups and folders outlive a program that is killed with SIGKILL. The product itself has no
listener; the harness has one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

__all__ = ["Kind", "child_started", "folder_made", "leftovers_reported_to"]

Kind: TypeAlias = Literal["child", "folder"]

_listeners: list[Callable[[Kind, str], None]] = []


def child_started(pid: int) -> None:
    """Report a process that leads a session of its own."""
    _report("child", str(pid))


def folder_made(path: str) -> None:
    """Report a folder that the program removes when it ends."""
    _report("folder", path)


@contextmanager
def leftovers_reported_to(listener: Callable[[Kind, str], None]) -> Iterator[None]:
    """Call `listener` with the kind, and the process id or path, of each leftover in the block."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _report(kind: Kind, what: str) -> None:
    for listener in _listeners:
        listener(kind, what)
