"""`sqlite_database`: the tasks in a file. One server at a time has it."""

from __future__ import annotations

import fcntl
import sqlite3
from pathlib import Path
from typing import IO, Final

from services.model.errors import FatalConfigError
from surfaces.a2a.storage.database import Database, DatabaseFailed
from surfaces.a2a.storage.sql import SqlDatabase

__all__ = ["sqlite_database"]

_FAILURES: Final = (sqlite3.Error, OSError)


def sqlite_database(file: Path) -> Database:
    """Open the file, which is created with its folder if it is missing.

    Raises:
        FatalConfigError: another server has the file, or it cannot be used.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock_file = file.with_suffix(".lock")
        lock_file.touch(mode=0o600)
        lock = lock_file.open("r+")
    except OSError as error:
        raise FatalConfigError(f"The tasks cannot be kept in {file}: {error}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise FatalConfigError(
            f"Another server has the tasks in {file}; end it, or start this one in another folder"
        ) from error
    try:
        return _SqliteDatabase(file, lock)
    except DatabaseFailed as error:
        lock.close()
        raise FatalConfigError(
            f"The tasks in {file} cannot be read: {error}; move the file away"
        ) from error


class _SqliteDatabase(SqlDatabase):
    def __init__(self, file: Path, lock: IO[str]) -> None:
        self._lock = lock
        self._file = file
        super().__init__(self._opened, _FAILURES)

    def close(self) -> None:
        """Close the file, and let another server have it."""
        super().close()
        self._lock.close()

    def _opened(self) -> sqlite3.Connection:
        self._file.touch(mode=0o600)
        connection = sqlite3.connect(self._file, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            # What was written must also survive a loss of power.
            connection.execute("PRAGMA synchronous=FULL")
        except sqlite3.Error:
            connection.close()
            raise
        return connection
