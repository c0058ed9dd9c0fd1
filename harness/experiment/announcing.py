"""The worker's side of the watchdog: announces the begin and the end of each case.

The messages go through a pipe that all workers of a pool write to. Each is shorter than what a
pipe takes in one piece, so a worker that is killed leaves no half of a message behind.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Final, Literal, TypeVar, get_args

from services.leftovers import Kind

__all__ = [
    "Announcement",
    "announce_leftover",
    "announce_to",
    "announced",
    "at_work",
    "case_begins",
]

Result = TypeVar("Result")

What = Literal["begins", "started", "ends"]
"""A case begins, it has started a process, it has ended."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """A worker's message about its task."""

    what: What
    pid: int
    """The worker's."""
    guard: int
    """The process id of the worker's guard, which has to outlive the worker; 0 for none."""
    number: int
    """The number of the task in its pool, or the id of a process that was started."""

    def __bytes__(self) -> bytes:
        """The form that travels."""
        return f"{self.what} {self.pid} {self.guard} {self.number}".encode()

    @classmethod
    def parse(cls, message: bytes) -> Announcement:
        """The inverse of `bytes`."""
        word, pid, guard, number = message.decode().split()
        (what,) = (each for each in get_args(What) if each == word)
        return cls(what, int(pid), int(guard), int(number))


@dataclass(slots=True)
class _Worker:
    """This process, where it is a worker that is watched."""

    pipe: Connection | None = None
    guard: int = 0
    task: int = 0
    at_work: bool = False

    def say(self, what: What, number: int | None = None) -> None:
        if self.pipe is not None:
            number = self.task if number is None else number
            message = Announcement(what, os.getpid(), self.guard, number)
            self.pipe.send_bytes(bytes(message))


_worker: Final = _Worker()


def announce_to(pipe: Connection, guard: int) -> None:
    """Make this process a worker whose tasks are announced in `pipe`.

    Args:
        pipe: The end to write to.
        guard: The process id of its guard.
    """
    _worker.pipe, _worker.guard = pipe, guard


def announce_leftover(kind: Kind, what: str) -> None:
    """Say that a process was started which leads a session: a listener of `services.leftovers`."""
    if kind == "child":
        _worker.say("started", int(what))


def announced(task: int, function: Callable[..., Result], *arguments: object) -> Result:
    """Call `function` as the task of that number, announced before and after."""
    _worker.task, _worker.at_work = task, True
    _worker.say("begins")
    try:
        return function(*arguments)
    finally:
        _worker.say("ends")
        _worker.at_work = False


def at_work() -> bool:
    """Whether this process is a worker that works on a task."""
    return _worker.at_work


def case_begins() -> None:
    """Announce the next case of a task with several: the limits start anew. Only for workers."""
    _worker.say("begins")
