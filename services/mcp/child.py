"""A server's process: its group, its pipes, its end.

The process leads a group of its own, which ends with it. Its standard error is read and only
logged: a full pipe would stop the server, as the core's does.

Source: the MCP TypeScript SDK's `client/stdio`.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from services.child_start import GroupLeader, start_child
from services.mcp.errors import McpConnectionError
from services.mcp.limits import MESSAGE_BYTES
from services.node_errors import error_code
from services.redaction import redacted

__all__ = ["ChildProcess"]

logger = logging.getLogger(__name__)

_GRACE_S: Final = 1.0
"""From SIGTERM to SIGKILL."""
_LAST_WAIT_S: Final = 1.0
"""After SIGKILL, for a pipe that something outside the group holds open."""
_AHEAD: Final = 8 * 1024 * 1024
"""Bytes of whole lines read ahead before the server has to wait."""
_SHOWN: Final = 2000


class ChildProcess(GroupLeader):
    """A running server that sends lines. Make one with `start`; the caller must `end` it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._pieces: list[bytes] = []
        self._held = 0
        self._lines: deque[bytes] = deque()
        self._ahead = 0
        self._at_end = False
        self._news = asyncio.Event()
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the process has ended and its pipes are closed."""

    @classmethod
    async def start(
        cls,
        name: str,
        command: str,
        args: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
    ) -> ChildProcess:
        """Start `command` in `folder`.

        Raises:
            McpConnectionError: `spawn <command> ENOENT`, for example.
        """

        async def end(process: ChildProcess) -> None:
            process.kill()

        try:
            return await start_child(
                lambda: cls(name),
                command,
                *args,
                folder=folder,
                environment=environment,
                end=end,
            )
        except OSError as error:
            raise McpConnectionError(f"spawn {command} {error_code(error)}") from error
        except ValueError as error:
            raise McpConnectionError(f"spawn {command} EINVAL") from error

    def write(self, line: bytes) -> None:
        """Send a line; it is buffered until the server reads it.

        Raises:
            McpConnectionError: it has ended.
        """
        stdin = self._child.get_pipe_transport(0)
        if self._at_end or stdin is None or stdin.is_closing():
            raise McpConnectionError("Not connected")
        cast("asyncio.WriteTransport", stdin).write(line)

    async def read_line(self) -> bytes | None:
        """The next line without its line end; `None` after the last line."""
        while not self._lines:
            if self._at_end:
                return None
            self._news.clear()
            await self._news.wait()
        line = self._lines.popleft()
        self._ahead -= len(line)
        if self._ahead < _AHEAD:
            self._stdout.resume_reading()
        return line

    async def end(self) -> None:
        """End the group, by SIGTERM and then by SIGKILL, and return when it has ended."""
        try:
            if not self.closed.done():
                self.signal_group(signal.SIGTERM)
                await asyncio.wait([self.closed], timeout=_GRACE_S)
            if not self.closed.done():
                self.signal_group(signal.SIGKILL)
                await asyncio.wait([self.closed], timeout=_LAST_WAIT_S)
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill the group at once, even if its leader has ended."""
        self.signal_group(signal.SIGKILL)
        self._child.close()
        self._finish()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take a piece of output."""
        if fd != 1:
            # To search a text for secrets takes time, which nothing is gained by without a log.
            if logger.isEnabledFor(logging.DEBUG):
                said = redacted(data.decode(errors="replace"))
                logger.debug("[MCP STDERR (%s)]: %r", self._name, said[:_SHOWN])
            return
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._pieces.append(line)
            complete = b"".join(self._pieces)
            self._pieces, self._held = [], 0
            self._lines.append(complete)
            self._ahead += len(complete)
        if rest:
            self._pieces.append(rest)
            self._held += len(rest)
        if self._held > MESSAGE_BYTES:
            logger.error("MCP server '%s' sent an endless line; giving it up", self._name)
            self._pieces, self._held = [], 0
            self.signal_group(signal.SIGKILL)
        elif self._ahead > _AHEAD:
            self._stdout.pause_reading()
        if whole:
            self._news.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """A pipe is closed; without standard input and output there is no connection."""
        if fd != 2:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended and its pipes are closed."""
        self._finish()

    def _stop(self) -> None:
        self._at_end = True
        self._news.set()

    def _finish(self) -> None:
        self._stop()
        if not self.closed.done():
            self.closed.set_result(None)

    @property
    def _stdout(self) -> asyncio.ReadTransport:
        return cast("asyncio.ReadTransport", self._child.get_pipe_transport(1))
