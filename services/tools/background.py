"""The background commands of a session, and the files with their output.

Source: core `services/shellExecutionService.ts` (`background`, `listBackgroundProcesses`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.tools.texts import truncate_text
from services.wire import js_trim

__all__ = ["BackgroundHistory", "BackgroundProcess", "background_log", "completion_note"]

_REMEMBERED: Final = 100
_SHOWN: Final = 5000
"""UTF-16 code units of output that a note about the end of a command contains."""


@dataclass(slots=True)
class BackgroundProcess:
    """A background command; `pid` is the process id that the model sees."""

    pid: int
    command: str
    exit_code: int | None = None
    signal: int | None = None
    running: bool = True
    kill: Callable[[], None] | None = None
    """Ends it; `None` for one that nothing can end."""


class BackgroundHistory:
    """The last hundred background commands, oldest first."""

    def __init__(self) -> None:
        self._processes: dict[int, BackgroundProcess] = {}
        self._listeners: list[Callable[[], None]] = []

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each output and end of a command; the result takes it back."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def wrote(self) -> None:
        """A command has written something into its log."""
        for listener in list(self._listeners):
            listener()

    def __iter__(self) -> Iterator[BackgroundProcess]:
        return iter(list(self._processes.values()))

    def __contains__(self, pid: object) -> bool:
        return pid in self._processes

    def started(self, pid: int, command: str, kill: Callable[[], None] | None = None) -> None:
        """Add `command`, which `kill` ends; drop the oldest entry if there are too many."""
        if len(self._processes) >= _REMEMBERED:
            del self._processes[next(iter(self._processes))]
        self._processes[pid] = BackgroundProcess(pid, command, kill=kill)

    def ended(self, pid: int, *, exit_code: int | None, signal: int | None) -> None:
        """Record the end of the process, if its entry is still there."""
        process = self._processes.get(pid)
        if process is not None:
            process.running, process.exit_code, process.signal = False, exit_code, signal
        self.wrote()


def background_log(home: Path, pid: int) -> Path:
    """The file for the output of background process `pid`."""
    return home / ".gemini" / "tmp" / "background-processes" / f"background-{pid}.log"


def completion_note(behaviour: str, log: Path, output: str) -> str | None:
    """The note for running agents about the end of a background command; `None` for no note.

    Args:
        behaviour: `inject` for a note with the output, `notify` for one without it; with any other
            value there is no note.
        log: the file with the output.
        output: the output.
    """
    if behaviour not in ("inject", "notify"):
        return None
    note = f"[Background command completed successfully. Output saved to {log}]"
    if behaviour == "inject":
        note += f"\n\n{truncate_text(output, _SHOWN, '...[TRUNCATED]')}"
    note = js_trim(note).replace("</output>", "&lt;/output&gt;")
    return f"<output>\n{note}\n</output>"
