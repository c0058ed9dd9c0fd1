"""Starts child processes; services start them nowhere else.

A confined session starts none. A cancelled start leaves no process behind.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar, cast

from services.confinement import may_start
from services.leftovers import child_started

__all__ = ["GroupLeader", "program_output", "start_child"]


class GroupLeader(asyncio.SubprocessProtocol):
    """A child that `start_child` has started: it leads a process group of its own."""

    _child: asyncio.SubprocessTransport
    """The process and its pipes. The loop gives it before it calls anything else here."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process has been started."""
        self._child = cast("asyncio.SubprocessTransport", transport)
        child_started(self._child.get_pid())

    @property
    def pid(self) -> int:
        """The process id, which is the group's id too."""
        return self._child.get_pid()

    def signal_group(self, number: signal.Signals) -> None:
        """Signal every process of the group that is still there."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


P = TypeVar("P", bound=asyncio.SubprocessProtocol)


async def start_child(
    protocol: Callable[[], P],
    program: str,
    *args: str,
    folder: Path,
    environment: Mapping[str, str],
    end: Callable[[P], Awaitable[object]],
    asked: str | None = None,
    executable: str | None = None,
    stdin: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> P:
    """Start `program` as the leader of a session of its own, its output in a pipe.

    If the caller is cancelled meanwhile, the start finishes first and `end` ends the child. The
    child may run before the loop has connected its pipes; the loop itself would kill the child
    alone, and leave its children.

    Args:
        protocol: makes what receives the child's output and its end.
        program: the program's name, which becomes its argument 0.
        args: the program's arguments.
        folder: the working folder.
        environment: all variables of the child.
        end: ends a child that was started for a cancelled caller.
        asked: the command as its author wrote it, where the arguments differ.
        executable: the program's file, where that is not `program`.
        stdin: the child's input, as `subprocess` takes it.
        stderr: the child's error output, likewise.

    Raises:
        Refused: the session is confined.
        OSError: the program cannot be started, for example because `folder` is missing.
        ValueError: an argument or a variable has a NUL in it.
    """
    may_start(asked or " ".join((program, *args)))
    loop = asyncio.get_running_loop()

    async def spawn() -> P:
        _, child = await loop.subprocess_exec(
            protocol,
            program,
            *args,
            executable=executable,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        return child

    starting = loop.create_task(spawn())
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.wait([starting])
        if not starting.cancelled() and starting.exception() is None:
            await end(starting.result())
        raise


def program_output(*words: str, timeout_s: float | None = None) -> str:
    """Run a program of the system to its end and return its output as text.

    Raises:
        Refused: the session is confined.
        TimeoutError: it has not ended after `timeout_s` seconds; it is killed.
        OSError: the program cannot be started.
    """
    may_start(" ".join(words))
    try:
        ended = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=timeout_s
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"{words[0]} has not ended after {timeout_s} s") from error
    return ended.stdout
