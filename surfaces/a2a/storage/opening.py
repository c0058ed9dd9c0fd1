"""`open_database`: the database that the environment names, or the file of the project."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from services.model.errors import FatalConfigError
from surfaces.a2a.storage.database import Database
from surfaces.a2a.storage.postgres import SCHEMES, postgres_database
from surfaces.a2a.storage.sqlite import sqlite_database

__all__ = ["open_database"]


def open_database(url: str | None, file: Path) -> Database:
    """Open the database at `url`; without one, `file`.

    Raises:
        FatalConfigError: it cannot be used.
    """
    if not url:
        return sqlite_database(file)
    scheme = urlsplit(url).scheme
    if scheme not in SCHEMES:
        raise FatalConfigError(
            f"The address of the tasks' database begins with {scheme or 'no scheme'!r}; "
            "write postgresql://USER:PASSWORD@HOST/DATABASE"
        )
    return postgres_database(url)
