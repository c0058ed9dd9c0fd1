"""SIGTERM that unwinds what runs, so that it ends the processes and folders it has begun."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["leave", "terminated_like_interrupted"]


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM unwind this process too; by default it ends at once and leaves what it began."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def leave(number: int, frame: object) -> None:
    """A handler of signals that unwinds the process; once is enough."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(128 + number)
