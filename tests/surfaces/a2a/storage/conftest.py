"""Databases: SQLite, and a PostgreSQL server of the test's own where one is installed."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from surfaces.a2a.storage.database import Database
from surfaces.a2a.storage.postgres import postgres_database
from surfaces.a2a.storage.sqlite import sqlite_database

Open = Callable[[], Database]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def open_database(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens the same database each time; a database that is open keeps others out."""
    if request.param == "sqlite":
        return lambda: sqlite_database(tmp_path / "tasks.sqlite")
    url = request.getfixturevalue("postgres")
    name = f"test_{tmp_path.name}".replace("-", "_").lower()[:60]
    _psql(url, f"CREATE SCHEMA {name}")
    own = f"{url}&options=-csearch_path%3D{name}"
    return lambda: postgres_database(own)


@pytest.fixture
def database(open_database: Open) -> Iterator[Database]:
    """An open database."""
    opened = open_database()
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL server that listens on a socket in a folder."""
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    folder = Path(subprocess.check_output(["mktemp", "-d", "/tmp/pg-XXXXXX"], text=True).strip())
    owner = None
    if os.geteuid() == 0:
        # PostgreSQL refuses to run for root.
        owner = next((name for name in ("postgres", "nobody") if _is_user(name)), None)
        if owner is None:
            pytest.skip("PostgreSQL does not run for root, and there is no other user")
        shutil.chown(folder, owner)
    data = folder / "data"

    def run(*words: str | Path) -> None:
        subprocess.run(words, check=True, capture_output=True, user=owner)

    run(programs / "initdb", "-D", data, "-U", "test", "-A", "trust", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    control = (programs / "pg_ctl", "-D", data, "-w", "-l", folder / "log")
    run(*control, "-o", options, "start")
    try:
        yield f"postgresql://test@/postgres?host={folder}"
    finally:
        run(*control, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path | None:
    """The folder with `initdb`."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders else None


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _psql(url: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)
