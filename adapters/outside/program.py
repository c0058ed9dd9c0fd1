"""`Program`: a child process whose output is lines, with the model server in its environment."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from adapters.problems import AgentBroke
from services.child_start import GroupLeader, start_child

__all__ = ["Program", "start_program"]

_GRACE_S: Final = 5.0
"""Real seconds for a program to end by itself."""
_LONGEST_LINE: Final = 64 * 1024 * 1024
_LAST_WORDS: Final = 2000


class Program(GroupLeader):
    """A child process. `lines` are what it writes to its standard output."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__()
        self.name = words[0]
        self._output = asyncio.StreamReader(limit=_LONGEST_LINE)
        self._errors = bytearray()
        self._ended = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep what it wrote; of its standard error only the end."""
        if fd == 1:
            self._output.feed_data(data)
        else:
            self._errors = (self._errors + data)[-_LAST_WORDS:]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Its output ends."""
        if fd == 1:
            self._output.feed_eof()

    def process_exited(self) -> None:
        """It has ended."""
        self._ended.set()

    def write(self, message: Mapping[str, Any]) -> None:
        """Write a JSON object as a line to its standard input."""
        pipe: Any = self._child.get_pipe_transport(0)
        if not pipe.is_closing():
            pipe.write(json.dumps(message).encode() + b"\n")

    async def read(self) -> dict[str, Any]:
        """Return the next JSON object that it writes.

        Raises:
            AgentBroke: it writes something else, or ends.
        """
        try:
            line = await self._output.readline()
        except ValueError as error:
            raise AgentBroke(f"writes a line of more than {_LONGEST_LINE:,} bytes") from error
        if not line:
            await self._ended.wait()
            raise AgentBroke(self.ending)
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            shown = line.decode("utf-8", "replace").strip()[:100]
            raise AgentBroke(f"writes a line that is no JSON object: {shown!r}")
        return message

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self._ended.is_set()

    @property
    def ending(self) -> str:
        """How it ended, in words, with the last line of its standard error."""
        code = self._child.get_returncode()
        said = self._errors.decode("utf-8", "replace").strip().splitlines()
        why = f" ({said[-1].strip()})" if said else ""
        return f"ends before it has answered, with exit code {code}{why}"

    async def stop(self, *, serves: bool = False) -> None:
        """End it: close its input, wait, and kill all that is left of its group.

        A program that `serves` does not read its input, and gets SIGTERM.
        """
        pipe: Any = self._child.get_pipe_transport(0)
        pipe.close()
        if serves:
            self.signal_group(signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                await self._ended.wait()
        self.signal_group(signal.SIGKILL)
        await self._ended.wait()
        self._child.close()


async def start_program(
    words: Sequence[str], folder: Path, variables: Mapping[str, str]
) -> Program:
    """Start a program in a folder, with further variables.

    Raises:
        AgentBroke: it cannot be started.
    """
    try:
        return await start_child(
            lambda: Program(words),
            *words,
            folder=folder,
            environment={**os.environ, **variables},
            end=lambda program: program.stop(),
            stdin=subprocess.PIPE,
        )
    except OSError as error:
        raise AgentBroke(f"cannot be started: {words[0]}: {error.strerror}") from error
