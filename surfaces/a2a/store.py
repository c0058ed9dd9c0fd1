"""`TaskStore`: the tasks' documents in an SQLite file.

The store of a2a-sdk keeps tasks of protocol 1.x, whose messages cannot hold every document of the
published dialect unchanged.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
from pathlib import Path
from typing import Final

from services.model.errors import FatalConfigError
from services.wire import JsonObject
from surfaces.a2a.record import TaskRecord

__all__ = ["TaskStore"]

_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS tasks "
    "(id TEXT PRIMARY KEY, document TEXT NOT NULL, waiting TEXT NOT NULL, saved_ms INTEGER)"
)
_SAVE: Final = "INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?)"
_PRUNE: Final = (
    "DELETE FROM tasks WHERE saved_ms < ? OR id NOT IN "
    "(SELECT id FROM tasks ORDER BY saved_ms DESC LIMIT ?)"
)
_FULL_SYNC: Final = "PRAGMA synchronous=FULL"
_MOST_TASKS: Final = 10_000
_OLDEST_MS: Final = 30 * 24 * 60 * 60 * 1000


class TaskStore:
    """The tasks of one server. One server at a time has the file.

    Args:
        file: the SQLite file; its folder is created.
        now_ms: the time; tasks that nothing has touched for 30 days are deleted.

    Raises:
        FatalConfigError: another server has the file, or it cannot be used.
    """

    def __init__(self, file: Path, now_ms: int) -> None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock_file = file.with_suffix(".lock")
            lock_file.touch(mode=0o600)
            self._lock = lock_file.open("r+")
        except OSError as error:
            raise FatalConfigError(f"The tasks cannot be kept in {file}: {error}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            raise FatalConfigError(
                f"Another server has the tasks in {file}; end it, or start this one in another "
                "folder"
            ) from error
        try:
            file.touch(mode=0o600)
            self._database = sqlite3.connect(file)
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute(_FULL_SYNC)
            self._database.execute(_SCHEMA)
            self._database.execute(_PRUNE, (now_ms - _OLDEST_MS, _MOST_TASKS))
            self._database.commit()
        except (OSError, sqlite3.Error) as error:
            self._lock.close()
            raise FatalConfigError(
                f"The tasks in {file} cannot be read: {error}; move the file away"
            ) from error

    def save(self, record: TaskRecord, now_ms: int) -> None:
        """Write a task."""
        document = json.dumps(record.document, ensure_ascii=False)
        row = (record.id, document, json.dumps(record.waiting), now_ms)
        with self._database:
            self._database.execute(_SAVE, row)

    def load(self, task_id: str) -> TaskRecord | None:
        """The task with this id."""
        found = self._database.execute(
            "SELECT document, waiting FROM tasks WHERE id = ?", (task_id,)
        ).fetchone()
        return None if found is None else _record(*found)

    def unfinished(self) -> list[TaskRecord]:
        """The tasks whose turn had not ended, or that waited for an approval."""
        rows = self._database.execute("SELECT document, waiting FROM tasks").fetchall()
        records = [_record(*row) for row in rows]
        return [each for each in records if each.waiting or each.state in ("submitted", "working")]

    def close(self) -> None:
        """Close the file, and let another server have it."""
        self._database.close()
        self._lock.close()


def _record(document: str, waiting: str) -> TaskRecord:
    loaded: JsonObject = json.loads(document)
    record = TaskRecord(loaded)
    record.waiting = json.loads(waiting)
    return record
