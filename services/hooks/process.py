"""One hook's child process: its group, its input, its output, its end.

Upstream ends only the shell at the time limit, and then waits until every process that inherited
its pipes has closed them. A hook that hangs can so hold the session, and endless output fills the
memory. Here the time limit ends the whole process group, and output has a limit.

Source: core `hooks/hookRunner.ts`, `executeCommandHook`.
"""

from __future__ import annotations

import asyncio
import shutil
import signal as signals
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any, Final, cast

from services.abort import AbortSignal
from services.child_start import GroupLeader, start_child

__all__ = ["MAX_OUTPUT_BYTES", "Ending", "HookOutcome", "run_hook_process"]

MAX_OUTPUT_BYTES: Final = 16 * 1024 * 1024
"""For each stream; later output is read and dropped."""
_SHELL: Final = "bash"
"""The name under which the core starts it; its own messages begin with that name."""
_KILL_AFTER_S: Final = 0.5
_GIVE_UP_AFTER_S: Final = 1.0
_STDIN: Final = 0
_STDOUT: Final = 1


class Ending(Enum):
    """How a hook's process ended."""

    BY_ITSELF = auto()
    TIMED_OUT = auto()
    ABORTED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOutcome:
    """The result of a hook's process. `exit_code` is None when a signal ended it."""

    ending: Ending
    exit_code: int | None
    stdout: str
    stderr: str


async def run_hook_process(
    command: str,
    *,
    given: bytes,
    folder: Path,
    environment: Mapping[str, str],
    limit_ms: float,
    signal: AbortSignal | None,
) -> HookOutcome:
    """Run `command` in a shell until its output is complete, the limit, or the abort.

    Call it inside the clock's `real_work`; the limit counts real milliseconds.

    Raises:
        OSError: the shell could not be started, for example because `folder` is missing.
        ValueError: the command or a variable cannot be handed to a process (a NUL in it).
    """
    loop = asyncio.get_running_loop()
    process = await _start(command, folder, environment)
    stopped: asyncio.Future[Ending] = loop.create_future()

    def stop(ending: Ending) -> None:
        if not stopped.done():
            stopped.set_result(ending)

    timer = loop.call_later(limit_ms / 1000, stop, Ending.TIMED_OUT)
    off = signal.on_abort(lambda: stop(Ending.ABORTED)) if signal is not None else None
    try:
        process.give(given)
        waited: list[asyncio.Future[Any]] = [process.closed, stopped]
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if not process.closed.done():
            await process.end()
            return process.outcome(stopped.result())
        return process.outcome(Ending.BY_ITSELF)
    finally:
        timer.cancel()
        if off is not None:
            off()
        if not process.closed.done():
            await process.kill()


async def _start(command: str, folder: Path, environment: Mapping[str, str]) -> _HookProcess:
    return await start_child(
        _HookProcess,
        _SHELL,
        "-c",
        command,
        asked=command,
        executable=shutil.which(_SHELL, path=environment.get("PATH")) or _SHELL,
        folder=folder,
        environment=environment,
        end=lambda process: process.kill(),
    )


class _HookProcess(GroupLeader):
    """A running hook. It must be awaited (`closed`) or ended."""

    def __init__(self) -> None:
        self._output = (bytearray(), bytearray())
        loop = asyncio.get_running_loop()
        self._exited: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()
        """Done when the process has ended and its output is closed."""

    def give(self, data: bytes) -> None:
        """Write its input and close it. A hook may ignore its input."""
        self._input.write(data)
        self._input.write_eof()

    async def end(self) -> None:
        """Ask its group to end, and soon make it."""
        self.signal_group(signals.SIGTERM)
        await asyncio.wait([self.closed], timeout=_KILL_AFTER_S)
        await self.kill()

    async def kill(self) -> None:
        """Kill its group; wait for the process, not for others that hold its pipes."""
        self.signal_group(signals.SIGKILL)
        # Also after a cancellation: the process has to be reaped.
        await asyncio.wait([self._exited], timeout=_GIVE_UP_AFTER_S)
        self._drop_input()
        self._child.close()

    def outcome(self, ending: Ending) -> HookOutcome:
        """Its result so far."""
        code = self._child.get_returncode()
        return HookOutcome(
            ending=ending,
            exit_code=code if code is not None and code >= 0 else None,
            stdout=self._output[0].decode(errors="replace"),
            stderr=self._output[1].decode(errors="replace"),
        )

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take a piece of output."""
        taken = self._output[fd - _STDOUT]
        if len(taken) < MAX_OUTPUT_BYTES:
            taken += data[: MAX_OUTPUT_BYTES - len(taken)]

    def process_exited(self) -> None:
        """The process has ended; others may still hold its output."""
        if not self._exited.done():
            self._exited.set_result(None)
        self._drop_input()

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended and its pipes are closed."""
        self._child.close()
        if not self.closed.done():
            self.closed.set_result(None)

    def _drop_input(self) -> None:
        # An empty buffer closes by itself.
        if self._input.get_write_buffer_size():
            self._input.abort()

    @property
    def _input(self) -> asyncio.WriteTransport:
        return cast("asyncio.WriteTransport", self._child.get_pipe_transport(_STDIN))
