"""`postgres_database`: the tasks in PostgreSQL (extra `a2a-postgres`), for one server at a time.

The store of a2a-sdk keeps tasks of protocol 1.x, whose messages cannot hold every document of the
published dialect unchanged; so the tables are those of SQLite.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from services.model.errors import FatalConfigError
from surfaces.a2a.storage.database import Database, DatabaseFailed
from surfaces.a2a.storage.sql import SqlDatabase

__all__ = ["SCHEMES", "postgres_database"]

SCHEMES: Final = frozenset({"postgres", "postgresql"})
_LOCK: Final = "SELECT pg_try_advisory_lock(hashtext(current_schema() || '.a2a_tasks'))"
_TIMEOUT_S: Final = 10


def postgres_database(url: str) -> Database:
    """Open the database at `url`.

    Raises:
        FatalConfigError: it cannot be reached, another server has its tasks, or the driver is
            missing.
    """
    where = _without_password(url)
    try:
        import psycopg
    except ImportError as error:
        raise FatalConfigError(
            "Tasks in PostgreSQL need a driver; run: pip install 'parity[a2a-postgres]'"
        ) from error

    def connect() -> Any:
        connection = psycopg.connect(
            url, connect_timeout=_TIMEOUT_S, keepalives_idle=_TIMEOUT_S, autocommit=False
        )
        row = connection.execute(_LOCK).fetchone()
        if row is None or not row[0]:
            connection.close()
            raise DatabaseFailed("another server has the tasks; end it, or choose another schema")
        return connection

    try:
        return SqlDatabase(connect, (psycopg.Error,), mark="%s")
    except DatabaseFailed as error:
        raise FatalConfigError(f"The tasks in {where} cannot be read: {error}") from error


def _without_password(url: str) -> str:
    """The address for a message."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or 'localhost'}{parts.path}"
