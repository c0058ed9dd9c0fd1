"""One child process of the shell tool: its group, its output, its end.

Both of the child's streams go into one pipe, so that their order is the same in every run.

Source: core `services/shellExecutionService.ts`
(`childProcessFallback`), `utils/process-utils.ts`.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.child_start import GroupLeader, program_output, start_child
from services.node_errors import error_code
from services.tools.texts import strip_ansi
from services.wire import js_length, js_slice, js_trim

__all__ = ["ShellProcess", "ShellStartError", "shell_environment"]

_KILL_AFTER_S: Final = 0.2
_GIVE_UP_AFTER_S: Final = 1.0
"""The wait after the last signal, for a pipe that a process outside the tree holds open."""
_REPORTED_LATER: Final = frozenset({"EACCES", "EAGAIN", "EMFILE", "ENFILE", "ENOENT"})
_SNIFFED: Final = 4096
_BINARY_SAMPLE: Final = 512
_MAX_OUTPUT: Final = 16 * 1024 * 1024
_GUARD: Final = "shopt -u promptvars nullglob extglob nocaseglob dotglob;"
"""Switches off the options under which a command expands to something unexpected."""

_GIT_OVERRIDES: Final = (
    ("credential.helper", ""),
    ("core.fsmonitor", ""),
    ("core.hooksPath", ""),
    ("core.sshCommand", ""),
    ("core.pager", "cat"),
    ("core.editor", ""),
    ("sequence.editor", ""),
    ("diff.external", ""),
)


class ShellStartError(Exception):
    """The shell could not be started; the message is Node's."""


def shell_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """The variables of a command: `inherited`, plain pagers, Git without prompts and hooks."""
    environment = {
        **inherited,
        "GEMINI_CLI": "1",
        "TERM": "xterm-256color",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    given = inherited.get("GIT_CONFIG_COUNT", "")
    count = int(given) if given.isdecimal() else 0
    for number, (key, value) in enumerate(_GIT_OVERRIDES, count):
        environment[f"GIT_CONFIG_KEY_{number}"] = key
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return {
        **environment,
        "GIT_CONFIG_COUNT": str(count + len(_GIT_OVERRIDES)),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GH_PROMPT_DISABLED": "1",
        "GCM_INTERACTIVE": "never",
        "DISPLAY": "",
        "DBUS_SESSION_BUS_ADDRESS": "",
    }


@dataclass(slots=True)
class _Output:
    """The decoded output so far; binary output is counted and not kept."""

    text: str = ""
    truncated: bool = False
    binary_bytes: int = 0
    is_binary: bool = False


class ShellProcess(GroupLeader):
    """A running `bash -c`. Make one with `start`; it must be awaited or killed."""

    def __init__(
        self, on_output: Callable[[str | int], None], on_start: Callable[[int], None] | None
    ) -> None:
        """`on_output` gets each piece of text, or the number of bytes of binary output so far."""
        self._on_output = on_output
        self._on_start = on_start
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = b""
        self._started = False
        self._output = _Output()
        self._timers: list[asyncio.TimerHandle] = []
        self._group: list[int] = []
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the process has ended and its output is complete, or after the last wait."""

    @classmethod
    async def start(
        cls,
        command: str,
        *,
        folder: Path,
        environment: Mapping[str, str],
        on_output: Callable[[str | int], None],
        on_start: Callable[[int], None] | None = None,
    ) -> ShellProcess:
        """Start `command` in `folder`, leading its own process group, without input.

        `on_start` gets the process id before any output.

        Raises:
            ShellStartError: `spawn /usr/bin/bash ENOENT`, for example for a missing folder.
        """
        executable = shutil.which("bash", path=environment.get("PATH")) or "bash"
        try:
            return await start_child(
                lambda: cls(on_output, on_start),
                executable,
                "-c",
                f"{_GUARD} {command}",
                folder=folder,
                environment=environment,
                end=lambda process: process.kill_and_wait(),
                stdin=subprocess.DEVNULL,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise ShellStartError(_start_failure(executable, error)) from error

    @property
    def exit_code(self) -> int | None:
        """The exit code; `None` while the process runs and after a signal."""
        code = self._child.get_returncode()
        return code if code is not None and code >= 0 else None

    @property
    def ended_by(self) -> int | None:
        """The number of the signal that ended it."""
        code = self._child.get_returncode()
        return -code if code is not None and code < 0 else None

    @property
    def text(self) -> str:
        """The output so far, without escape sequences and outer white space."""
        text = self._output.text
        if self._output.truncated:
            text += (
                "\n[GEMINI_CLI_WARNING: Output truncated. The buffer is limited to "
                f"{_MAX_OUTPUT // (1024 * 1024)}MB.]"
            )
        return js_trim(strip_ansi(text))

    @property
    def raw_text(self) -> str:
        """The output so far, without escape sequences, with outer white space."""
        return strip_ansi(self._output.text)

    def divert(self, on_output: Callable[[str | int], None]) -> None:
        """Pass the output to another receiver from now on."""
        self._on_output = on_output

    def end(self) -> None:
        """Terminate every process of the command, and kill them soon after."""
        if self.closed.done() or self._timers:
            return
        self._signal_all(signal.SIGTERM)
        self._later(_KILL_AFTER_S, self.kill)

    def kill(self) -> None:
        """Kill every process of the command."""
        if self.closed.done():
            return
        self._signal_all(signal.SIGKILL)
        self._later(_GIVE_UP_AFTER_S, self._finish)

    async def kill_and_wait(self) -> None:
        """Kill every process of the command, and wait for the end."""
        self.kill()
        await asyncio.wait([self.closed])

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process has been started."""
        super().connection_made(transport)
        if self._on_start is not None:
            self._on_start(self.pid)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take a piece of output."""
        output = self._output
        if not output.is_binary and len(self._head) < _SNIFFED:
            self._head += data
            if b"\0" in self._head[:_BINARY_SAMPLE]:
                output.is_binary = True
                output.binary_bytes = len(self._head)
                self._on_output(output.binary_bytes)
                return
        if output.is_binary:
            output.binary_bytes += len(data)
            self._on_output(output.binary_bytes)
            return
        self._take(self._decoder.decode(data))

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended and its pipe is closed."""
        if not self._output.is_binary:
            self._take(self._decoder.decode(b"", final=True))
        self._finish()

    def _take(self, text: str) -> None:
        if text and not self._started:
            self._started = True
            text = text.removeprefix("\ufeff")
        if not text:
            return
        output = self._output
        output.text += text
        surplus = js_length(output.text) - _MAX_OUTPUT if len(output.text) > _MAX_OUTPUT // 2 else 0
        if surplus > 0:
            output.text = js_slice(output.text, surplus)
            output.truncated = True
        self._on_output(text)

    def _finish(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._child.close()
        if not self.closed.done():
            self.closed.set_result(None)

    def _later(self, delay_s: float, action: Callable[[], None]) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(delay_s, action))

    def _signal_all(self, number: signal.Signals) -> None:
        """Signal the group, and the processes of its tree outside the group."""
        self._group = [*dict.fromkeys([*self._group, *_descendants(self.pid)])]
        self.signal_group(number)
        for pid in self._group:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def _start_failure(executable: str, error: OSError) -> str:
    """Node's message, which names the program only in errors after its call has returned."""
    code = error_code(error)
    return f"spawn {executable} {code}" if code in _REPORTED_LATER else f"spawn {code}"


def _descendants(pid: int) -> list[int]:
    """The processes below `pid`, deepest first."""
    children: dict[int, list[int]] = {}
    for child, parent in _process_table():
        children.setdefault(parent, []).append(child)
    found: list[int] = []
    pending = [pid]
    while pending:
        below = children.get(pending.pop(), [])
        found.extend(below)
        pending.extend(below)
    return found[::-1]


def _process_table() -> list[tuple[int, int]]:
    """Every process with its parent."""
    proc = Path("/proc")
    if (proc / "self" / "stat").exists():
        table: list[tuple[int, int]] = []
        for entry in proc.iterdir():
            if entry.name.isdecimal():
                with suppress(OSError, IndexError, ValueError):
                    # The name in parentheses may contain any text; the parent is second after it.
                    fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                    table.append((int(entry.name), int(fields[1])))
        return table
    listing = program_output("ps", "-A", "-o", "pid=,ppid=")
    rows = (line.split() for line in listing.splitlines())
    return [(int(row[0]), int(row[1])) for row in rows if len(row) == 2]
