"""One writer at a time for a journal: a second one would cut off or mix up the lines of the first.

The lock is a file beside the journal, `.<name>.lock`, with the writer's process id and the time at
which it began. The system releases the lock with the writer's process, however that ends: a lock
file that a killed process left behind blocks no other. Readers need no lock.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from harness.errors import UsageError

__all__ = ["JournalLock", "lock_file"]

_HOLDER: Final = re.compile(rb"(\d{1,10}) (\d{4}-[0-9T:+-]{1,30})\n", re.ASCII)
_MOST_BYTES: Final = 100
_NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})


def lock_file(journal: Path) -> Path:
    """Return the lock file of `journal`."""
    return journal.with_name(f".{journal.name}.lock")


class JournalLock:
    """The lock of one journal, held from construction until `release`."""

    def __init__(self, journal: Path) -> None:
        """Take the lock; if the file system has no locks, print a warning and continue without.

        Raises:
            UsageError: Another process holds it.
            OSError: The lock file cannot be made.
        """
        self._file = lock_file(journal)
        self._descriptor: int | None = None
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        while self._descriptor is None:
            descriptor = os.open(self._file, flags, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                held = os.read(descriptor, _MOST_BYTES)
                os.close(descriptor)
                if isinstance(error, BlockingIOError):
                    raise _held(journal, held) from None
                if error.errno not in _NO_LOCKS:
                    raise
                warning = f"{journal} cannot be locked here: let no other run write to it"
                click.echo(f"parity: {warning}", err=True)
                return
            # The previous holder may have removed the file between the two calls.
            if _is_at(descriptor, self._file):
                self._descriptor = descriptor
            else:
                os.close(descriptor)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with suppress(OSError):  # a full disk: the lock holds without naming its holder
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, f"{os.getpid()} {now}\n".encode())

    def release(self) -> None:
        """Release the lock, and remove its file. A second call does nothing."""
        if self._descriptor is not None:
            with suppress(OSError):
                self._file.unlink()
            os.close(self._descriptor)
            self._descriptor = None


def _held(journal: Path, holder: bytes) -> UsageError:
    found = _HOLDER.fullmatch(holder)
    whose = "another process"
    if found is not None:
        whose = f"process {found[1].decode()} since {found[2].decode()}"
    problem = f"the journal {journal} is being written by {whose}"
    return UsageError(problem, "wait until it has ended, or name another journal")


def _is_at(descriptor: int, file: Path) -> bool:
    ours = os.fstat(descriptor)
    try:
        there = file.lstat()
    except FileNotFoundError:
        return False
    return (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)
