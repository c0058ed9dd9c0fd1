"""`list_background_processes` and `read_background_output`.

Source: core `tools/shellBackgroundTools.ts`.
"""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path
from typing import ClassVar, Final

from services.abort import AbortSignal
from services.node_errors import node_error_message
from services.tools.background import BackgroundProcess, background_log
from services.tools.base import BuiltinInvocation, DeclarativeTool, failed
from services.tools.contract import ToolErrorType, ToolExecution, ToolKind, ToolResult
from services.tools.parameters import arguments, integer
from services.wire import JsonObject

__all__ = ["ListBackgroundProcessesTool", "ReadBackgroundOutputTool"]

_LOADED_BYTES: Final = 64 * 1024
_DEFAULT_LINES: Final = 100
_SYMLINK: Final = (
    "Symbolic link detected at predicted log path. Access is denied for security reasons."
)


class ListBackgroundProcessesTool(DeclarativeTool):
    """Lists the background commands of the session."""

    name = "list_background_processes"
    display_name = "List Background Processes"
    kind = ToolKind.READ
    description = (
        "List the shell commands of this session that went to the background, ended or not."
    )
    parameters: ClassVar[JsonObject] = arguments()


@ListBackgroundProcessesTool.builds
class _ListProcesses(BuiltinInvocation):
    shown_name = ListBackgroundProcessesTool.name

    def description(self) -> str:
        return (
            "Lists all active and recently completed background processes for the current session."
        )

    async def execute(self, execution: ToolExecution) -> ToolResult:
        lines = [_line(process) for process in self.host.background_history]
        content = "\n".join(lines) or "No background processes found."
        return ToolResult(llm_content=content, return_display=content)


def _line(process: BackgroundProcess) -> str:
    line = f"- [PID {process.pid}] {'RUNNING' if process.running else 'EXITED'}: "
    line += f"`{process.command}`"
    if process.exit_code is not None:
        line += f" (Exit Code: {process.exit_code})"
    if process.signal:
        line += f" (Signal: {process.signal})"
    return line


class ReadBackgroundOutputTool(DeclarativeTool):
    """Reads the end of a background command's log."""

    name = "read_background_output"
    display_name = "Read Background Output"
    kind = ToolKind.READ
    description = "Read the last lines that a shell command in the background has written."
    parameters: ClassVar[JsonObject] = arguments(
        ["pid"],
        pid=integer("Process id of the command."),
        lines=integer("How many lines, counted from the end; 100 unless given.", minimum=1),
        delay_ms=integer("Wait this many milliseconds first, so that it can get going."),
    )


@ReadBackgroundOutputTool.builds
class _ReadOutput(BuiltinInvocation):
    shown_name = ReadBackgroundOutputTool.name

    @property
    def _pid(self) -> int:
        return int(self.params["pid"])

    def description(self) -> str:
        return f"Reading output for background process {self._pid}"

    async def execute(self, execution: ToolExecution) -> ToolResult:
        delay = self.params.get("delay_ms")
        if delay and delay > 0:
            with self.host.clock.real_work():
                await _pause(delay / 1000, execution.signal)
        pid = self._pid
        if pid not in self.host.background_history:
            return failed(
                f"Background process history lookup failed for PID {pid}",
                ToolErrorType.EXECUTION_FAILED,
                display="Access denied.",
                llm=(
                    f"Access denied. Background process ID {pid} not found in this session's "
                    "history."
                ),
            )
        log = background_log(self.host.workspace.home, pid)
        if not log.exists():
            return failed(
                f"Log file not found at {log}",
                ToolErrorType.EXECUTION_FAILED,
                display=f"No log found for PID {pid}",
                llm=(
                    f"No output log found for process ID {pid}. It might not have produced output "
                    "or was cleaned up."
                ),
            )
        try:
            lines = _last_lines(log)
        except OSError as error:
            return _unreadable(error, log, pid)
        content = "Log is empty." if lines is None else self._report(lines)
        return ToolResult(llm_content=content, return_display=content)

    def _report(self, lines: list[str]) -> str:
        wanted = int(self.params.get("lines") or _DEFAULT_LINES)
        header = "Full Log Output:"
        if wanted < len(lines):
            header = f"Showing last {wanted} of {len(lines)} lines:"
        return f"{header}\n" + "\n".join(lines[-wanted:])


async def _pause(seconds: float, signal: AbortSignal) -> None:
    """Wait in real time. An abort ends the wait; upstream would go on waiting."""
    aborted = asyncio.get_running_loop().create_task(signal.wait())
    try:
        await asyncio.wait([aborted], timeout=seconds)
    finally:
        aborted.cancel()
        await asyncio.wait([aborted])


def _last_lines(log: Path) -> list[str] | None:
    """The complete lines in the last 64 KiB; `None` for an empty log.

    Raises:
        OSError: the file cannot be read, or is a link.
    """
    with os.fdopen(os.open(log, os.O_RDONLY | os.O_NOFOLLOW), "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        position = max(0, size - _LOADED_BYTES)
        stream.seek(position)
        content = stream.read(size - position).decode(errors="replace")
    if not content:
        return None
    lines = content.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines[1:] if position else lines


def _unreadable(error: OSError, log: Path, pid: int) -> ToolResult:
    if error.errno == errno.ELOOP:
        return failed(
            _SYMLINK,
            ToolErrorType.EXECUTION_FAILED,
            display=f"Symlink detected for PID {pid}",
            llm=_SYMLINK,
        )
    message = node_error_message(error, "open", log)
    return failed(
        message,
        ToolErrorType.EXECUTION_FAILED,
        display="Failed to read log.",
        llm=f"Error reading background log: {message}",
    )
