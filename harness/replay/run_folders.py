"""The folder of a run: locked while in use, so that a later process can remove it if it was left.

A killed process cannot remove the folder of its run. Its lock ends with the process, so a folder
without a lock was left, and the next start removes it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from harness.errors import ReplayFailure
from services.leftovers import folder_made

__all__ = ["remove_left_folders", "run_folder"]

_MAKING: Final = "parity~"
"""Prefix of a folder's name until it is locked."""
_MADE: Final = "parity_"
"""Prefix of a locked folder. It differs from that of builds that do not lock, but has the same
length: the length of a run's paths shows in its trace."""
_LEFT: Final = re.compile(f"(?:{_MADE}|{_MAKING})[a-z0-9_]{{8}}")


@contextmanager
def run_folder() -> Iterator[Path]:
    """Make a folder in the temporary folder, and remove it afterwards.

    Its name always has the same length, since traces contain lengths of texts with paths.

    Raises:
        ReplayFailure: the folder cannot be made.
    """
    # Without `dir` Python would silently use another folder if TMPDIR is full.
    asked = os.environ.get("TMPDIR") or None
    try:
        folder, lock = _made(asked)
    except OSError as error:
        problem = f"cannot be made in {asked or 'a temporary folder'}: {error.strerror}"
        mend = "make room, or set TMPDIR to a folder that can be written to"
        raise ReplayFailure("the folder of a run", problem, mend) from error
    try:
        folder_made(str(folder))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _made(asked: str | None) -> tuple[Path, int]:
    """Make a folder and lock it; the lock ends when its descriptor is closed."""
    while True:
        making = Path(tempfile.mkdtemp(prefix=_MAKING, dir=asked))
        folder = making.with_name(making.name.replace(_MAKING, _MADE))
        # Another process may find and remove it before it is locked.
        with suppress(FileNotFoundError):
            lock = os.open(making, os.O_RDONLY | os.O_DIRECTORY)
            with suppress(OSError):  # a file system without locks: a folder left there stays
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                return making.rename(folder), lock
            except BaseException:
                os.close(lock)
                raise


def remove_left_folders() -> None:
    """Remove the folders of runs whose process is gone. What cannot be removed stays."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if _LEFT.fullmatch(entry.name):
                _remove_unlocked(entry.path)


def _remove_unlocked(path: str) -> None:
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # another user's, or gone by now
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(lock).st_uid == os.geteuid():
            shutil.rmtree(path, ignore_errors=True)
    except OSError:  # in use
        return
    finally:
        os.close(lock)
