"""A lock on a file, which one process holds at a time and which ends with that process."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["held"]


@contextmanager
def held(file: Path, *, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock on `file`, which is created and stays.

    Args:
        file: In a folder that exists.
        waiting: Called once before waiting for another process.

    Raises:
        OSError: the file cannot be created, or its file system has no locks.
    """
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
