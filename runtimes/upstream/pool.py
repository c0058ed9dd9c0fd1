"""Warm drivers: importing the core takes more than a second, a turn a few milliseconds.

A driver serves one session at a time. After a session that ended well it waits here for the next
one. A driver that broke, was interrupted, or reports leftovers of a session is ended. The pool
belongs to the Python process and outlives event loops; its drivers end with the process.
"""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from multiprocessing import util
from pathlib import Path
from typing import Any, Final

from runtimes.contract import RuntimeUnavailable
from runtimes.published import UpstreamUnavailable, find_node, package_folder
from runtimes.upstream.connection import Connection
from runtimes.upstream.process import DRIVER, DriverBroken, DriverProcess
from services.clock import Clock

__all__ = ["Lease", "Statistics", "close_idle", "lease", "statistics"]

_IDLE_AT_MOST: Final = 4
_SESSIONS_AT_MOST: Final = 200
"""The core leaks at least a fifth of a megabyte with every session."""
_MEMORY_AT_MOST: Final = 1 << 30
_START_S: Final = 60.0


@dataclass(slots=True)
class Statistics:
    """How sessions got their drivers, over the life of this process."""

    sessions: int = 0
    started: int = 0
    """Drivers started; the other sessions found a warm one."""
    retired: int = 0
    """Drivers ended because a session left something behind, was cut off, or broke."""


statistics: Final = Statistics()
_idle: list[DriverProcess] = []


@dataclass(slots=True)
class Lease:
    """A driver for one session. The holder sets `reusable` after a session without leftovers."""

    process: DriverProcess
    connection: Connection
    reusable: bool = False
    memory: int = 0
    """Bytes, as last reported by the driver."""


@asynccontextmanager
async def lease(version: str, clock: Clock) -> AsyncIterator[Lease]:
    """Take a driver for `version` of the core, warm if there is one.

    Raises:
        RuntimeUnavailable: node or the package is missing.
        DriverBroken: the driver did not start, or the package lacks what is needed of it.
    """
    process = _warm(version)
    fresh = process is None
    process = process or _started(version)
    statistics.sessions += 1
    process.sessions += 1
    process.fresh_errors()
    taken = Lease(process, Connection(process, clock))
    try:
        if fresh:
            await _until_ready(taken, version, clock)
        yield taken
    finally:
        taken.connection.detach()
        if taken.reusable and _worth_keeping(taken):
            _idle.append(process)
        else:
            statistics.retired += not taken.reusable
            process.close()


def close_idle() -> None:
    """End the drivers that wait for work."""
    while _idle:
        _idle.pop().close()


def _warm(version: str) -> DriverProcess | None:
    for process in list(_idle):
        if process.version != version:
            continue
        _idle.remove(process)
        if process.running:
            return process
        process.close()
    return None


def _worth_keeping(taken: Lease) -> bool:
    return (
        len(_idle) < _IDLE_AT_MOST
        and taken.process.sessions < _SESSIONS_AT_MOST
        and taken.memory < _MEMORY_AT_MOST
        and taken.process.running
    )


def _started(version: str) -> DriverProcess:
    if not statistics.started:
        # Workers of a process pool leave without `atexit`; they do run these.
        atexit.register(close_idle)
        util.Finalize(None, close_idle, exitpriority=100)
    try:
        command = driver_command(find_node(), package_folder(version))
    except UpstreamUnavailable as missing:
        raise RuntimeUnavailable(missing.problem, missing.mend) from None
    statistics.started += 1
    try:
        return DriverProcess(command, version)
    except OSError as error:
        raise DriverBroken(f"the driver cannot be started: {error}") from None


def driver_command(node: Path, package: Path) -> list[str | Path]:
    """The command that starts a driver, without its pipes."""
    return [node, DRIVER, package]


async def _until_ready(taken: Lease, version: str, clock: Clock) -> None:
    """Wait until a new driver has imported the core."""
    ready: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    def unusable(message: dict[str, object]) -> None:
        missing = message.get("missing")
        names = ", ".join(map(str, missing)) if isinstance(missing, list) else ""
        ready.set_result(
            f"version {version} of the core lacks what is needed of it: {names}"
            if names
            else f"version {version} of the core cannot be imported: {message.get('message')}"
        )

    handlers = taken.connection.handlers
    handlers["ready"] = lambda message: ready.set_result(None)
    handlers["unusable"] = unusable
    broken = taken.connection.broken
    either: set[asyncio.Future[Any]] = {ready, broken}
    with clock.real_work():
        await asyncio.wait(either, timeout=_START_S, return_when=asyncio.FIRST_COMPLETED)
    if ready.done():
        problem = ready.result()
        if problem is not None:
            raise DriverBroken(f"{problem}; use another version")
    elif broken.done():
        raise broken.result()
    else:
        raise DriverBroken(f"the driver was not ready after {_START_S:g} s")
