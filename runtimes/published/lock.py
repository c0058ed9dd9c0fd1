"""One process at a time: a lock on a file that ends with the process that holds it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = ["held"]


@contextmanager
def held(file: Path, *, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock on `file`, which is made and stays.

    Args:
        file: in a folder that exists.
        waiting: called once before waiting for another process.

    Raises:
        OSError: the file cannot be made or its file system knows no locks.
    """
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _try(descriptor):
            waiting()
            _wait(descriptor)
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":

    def _try(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _wait(descriptor: int) -> None:
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
            except OSError:  # ten tries in ten seconds are what one call makes
                continue
            return

else:

    def _try(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _wait(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
