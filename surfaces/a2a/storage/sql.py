"""`SqlDatabase`: the tasks in tables. SQLite and PostgreSQL read the same statements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

from surfaces.a2a.saved import Change, Stored
from surfaces.a2a.storage.database import DatabaseFailed, Found, Page, Query

__all__ = ["SqlDatabase"]

T = TypeVar("T")

_TASKS: Final = (
    "CREATE TABLE IF NOT EXISTS a2a_tasks (id TEXT PRIMARY KEY, context_id TEXT NOT NULL, "
    "state TEXT NOT NULL, status_ms BIGINT NOT NULL, saved_ms BIGINT NOT NULL, "
    "head TEXT NOT NULL, waiting TEXT NOT NULL, callbacks TEXT NOT NULL, first BIGINT NOT NULL)"
)
_MESSAGES_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS a2a_messages (task_id TEXT NOT NULL, number BIGINT NOT NULL, "
    "document TEXT NOT NULL, PRIMARY KEY (task_id, number))"
)
_ARTIFACTS_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS a2a_artifacts (task_id TEXT NOT NULL, place BIGINT NOT NULL, "
    "document TEXT NOT NULL, PRIMARY KEY (task_id, place))"
)
_BY_STATUS: Final = "CREATE INDEX IF NOT EXISTS a2a_tasks_by_status ON a2a_tasks (status_ms, id)"
_BY_AGE: Final = "CREATE INDEX IF NOT EXISTS a2a_tasks_by_age ON a2a_tasks (saved_ms)"
_SCHEMA: Final = (_TASKS, _MESSAGES_TABLE, _ARTIFACTS_TABLE, _BY_STATUS, _BY_AGE)
_SAVE_TASK: Final = (
    "INSERT INTO a2a_tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
    "state = excluded.state, status_ms = excluded.status_ms, saved_ms = excluded.saved_ms, "
    "head = excluded.head, waiting = excluded.waiting, callbacks = excluded.callbacks, "
    "first = excluded.first"
)
_SAVE_MESSAGE: Final = (
    "INSERT INTO a2a_messages VALUES (?, ?, ?) ON CONFLICT (task_id, number) DO UPDATE SET "
    "document = excluded.document"
)
_SAVE_ARTIFACT: Final = (
    "INSERT INTO a2a_artifacts VALUES (?, ?, ?) ON CONFLICT (task_id, place) DO UPDATE SET "
    "document = excluded.document"
)
_FORGET_MESSAGES: Final = "DELETE FROM a2a_messages WHERE task_id = ? AND number < ?"
_LOAD: Final = "SELECT head, waiting, callbacks, first FROM a2a_tasks WHERE id = ?"
_MESSAGES: Final = "SELECT document FROM a2a_messages WHERE task_id = ? ORDER BY number"
_ARTIFACTS: Final = "SELECT document FROM a2a_artifacts WHERE task_id = ? ORDER BY place"
_UNFINISHED: Final = (
    "SELECT id FROM a2a_tasks WHERE state IN ('submitted', 'working') OR waiting <> '[]' "
    "ORDER BY saved_ms, id"
)
_DUE: Final = "SELECT id FROM a2a_tasks WHERE callbacks LIKE ? ORDER BY saved_ms, id"
_DUE_MARK: Final = '%"_due":true%'
_TOO_OLD: Final = "SELECT id FROM a2a_tasks WHERE saved_ms < ? LIMIT 1000"
_TOO_MANY: Final = "SELECT id FROM a2a_tasks ORDER BY saved_ms DESC, id LIMIT 1000 OFFSET ?"
_DELETE: Final = (
    "DELETE FROM a2a_messages WHERE task_id = ?",
    "DELETE FROM a2a_artifacts WHERE task_id = ?",
    "DELETE FROM a2a_tasks WHERE id = ?",
)


class SqlDatabase:
    """Tables behind a connection of Python's database API.

    One call of `prune` deletes at most two thousand tasks, so that it does not hold up the others.

    Args:
        connect: opens a connection that begins transactions by itself; it makes sure that no other
            server has the tasks, and raises `failures` or `DatabaseFailed`.
        failures: the errors of the connection.
        mark: how a statement names a parameter.
    """

    def __init__(
        self,
        connect: Callable[[], Any],
        failures: tuple[type[Exception], ...],
        *,
        mark: str = "?",
    ) -> None:
        self._connect = connect
        self._failures = failures
        self._mark = mark
        self._connection: Any = None
        self._done(lambda: [self._run(statement) for statement in _SCHEMA])

    def write(self, changes: Sequence[Change]) -> None:
        """Write all changes, or none."""
        self._done(lambda: self._write(changes))

    def load(self, task_id: str) -> Stored | None:
        """The task with this id."""
        return self._done(lambda: self._load(task_id))

    def unfinished(self) -> list[str]:
        """The ids of the tasks whose turn had not ended, or that waited for an approval."""
        return self._done(lambda: [row[0] for row in self._run(_UNFINISHED).fetchall()])

    def due(self) -> list[str]:
        """The ids of the tasks for which a callback is due."""
        return self._done(lambda: [row[0] for row in self._run(_DUE, (_DUE_MARK,)).fetchall()])

    def page(self, query: Query) -> Page:
        """The tasks that match."""
        return self._done(lambda: self._page(query))

    def prune(self, before_ms: int, most: int, kept: Collection[str]) -> None:
        """Delete tasks saved before a time, and the oldest beyond `most`, but none of `kept`."""
        self._done(lambda: self._prune(before_ms, most, kept))

    def close(self) -> None:
        """End the connection, and let another server have the tasks."""
        self._drop()

    def _done(self, work: Callable[[], T]) -> T:
        """What `work` returns, as one transaction.

        After a failure the next call opens another connection: this one may have broken off.

        Raises:
            DatabaseFailed: it could not be done, and nothing was.
        """
        try:
            if self._connection is None:
                self._connection = self._connect()
            found = work()
            self._connection.commit()
        except self._failures as error:
            self._drop()
            text = str(error).partition("\n")[0] or type(error).__name__
            raise DatabaseFailed(text) from error
        return found

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(*self._failures):  # It may have broken off.
                connection.close()

    def _run(self, statement: str, values: Sequence[Any] = ()) -> Any:
        cursor = self._connection.cursor()
        cursor.execute(self._spelled(statement), values)
        return cursor

    def _run_each(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        many = list(rows)
        if many:
            self._connection.cursor().executemany(self._spelled(statement), many)

    def _spelled(self, statement: str) -> str:
        return statement.replace("?", self._mark)

    def _write(self, changes: Sequence[Change]) -> None:
        self._run_each(_SAVE_TASK, map(_row, changes))
        self._run_each(
            _SAVE_MESSAGE,
            ((each.task_id, *message) for each in changes for message in each.messages),
        )
        self._run_each(
            _SAVE_ARTIFACT,
            ((each.task_id, *artifact) for each in changes for artifact in each.artifacts),
        )
        self._run_each(
            _FORGET_MESSAGES, ((each.task_id, each.first) for each in changes if each.first)
        )

    def _load(self, task_id: str) -> Stored | None:
        row = self._run(_LOAD, (task_id,)).fetchone()
        if row is None:
            return None
        messages = tuple(each[0] for each in self._run(_MESSAGES, (task_id,)).fetchall())
        artifacts = tuple(each[0] for each in self._run(_ARTIFACTS, (task_id,)).fetchall())
        head, waiting, callbacks, first = row
        return Stored(
            head=head,
            waiting=waiting,
            callbacks=callbacks,
            first=first,
            messages=messages,
            artifacts=artifacts,
        )

    def _page(self, query: Query) -> Page:
        wanted: list[tuple[str, Any]] = [
            ("context_id = ?", query.context_id),
            ("state = ?", query.state),
            ("status_ms >= ?", query.since_ms),
        ]
        asked = [(test, value) for test, value in wanted if value is not None]
        where = " AND ".join(["1 = 1", *(test for test, _ in asked)])
        values = [value for _, value in asked]
        counted = self._run(f"SELECT COUNT(*) FROM a2a_tasks WHERE {where}", values)  # noqa: S608
        total = counted.fetchone()[0]
        if query.after is not None:
            where += " AND (status_ms, id) < (?, ?)"
            values.extend(query.after)
        rows = self._run(
            f"SELECT id, status_ms FROM a2a_tasks WHERE {where} "  # noqa: S608 - our own words
            "ORDER BY status_ms DESC, id DESC LIMIT ?",
            [*values, query.most + 1],
        ).fetchall()
        found = tuple(Found(*row) for row in rows[: query.most])
        return Page(found, total, len(rows) > query.most)

    def _prune(self, before_ms: int, most: int, kept: Collection[str]) -> None:
        rows = [
            *self._run(_TOO_OLD, (before_ms,)).fetchall(),
            *self._run(_TOO_MANY, (most,)).fetchall(),
        ]
        gone = {row[0] for row in rows} - set(kept)
        for statement in _DELETE:
            self._run_each(statement, ((task_id,) for task_id in gone))


def _row(change: Change) -> tuple[Any, ...]:
    return (
        change.task_id,
        change.context_id,
        change.state,
        change.status_ms,
        change.saved_ms,
        change.head,
        change.waiting,
        change.callbacks,
        change.first,
    )
