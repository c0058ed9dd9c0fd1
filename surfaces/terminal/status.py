"""The lines around the input: activity, mode, and the footer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.table import Table
from rich.text import Text
from textual.reactive import reactive
from textual.widgets import Static

from services.state import ApprovalMode
from surfaces.terminal.inert import inert_line
from surfaces.terminal.live import LiveSession

__all__ = ["ActivityLine", "Footer", "ModeLine", "known_beside"]

_MODES: Final = {
    ApprovalMode.DEFAULT: ("", "Shift+Tab to accept edits"),
    ApprovalMode.AUTO_EDIT: ("auto-accept edits", "Shift+Tab to plan"),
    ApprovalMode.PLAN: ("plan", "Shift+Tab to manual"),
    ApprovalMode.YOLO: ("YOLO", "Ctrl+Y"),
}
_FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_TICK_S: Final = 0.25


def _both_ends(left: Text, right: Text) -> Table:
    line = Table.grid(expand=True)
    line.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    line.add_column(justify="right", no_wrap=True)
    line.add_row(left, right)
    return line


def known_beside(session: LiveSession | None) -> list[str]:
    """What the model knows beside the conversation: open files, memory files, servers, skills.

    Source: `packages/cli` `ui/components/ContextSummaryDisplay.tsx`.
    """
    if session is None:
        return []
    services = session.services
    editor = services.ide.context.present
    counts = (
        (len(editor.files) if editor else 0, "open file", " (F4 to view)"),
        (services.prompts.memory_files, "GEMINI.md file", ""),
    )
    return [f"{n} {what}{'s' * (n > 1)}{more}" for n, what, more in counts if n]


class ActivityLine(Static):
    """What the agent does at the moment; nothing moves while it is idle."""

    activity: reactive[str | None] = reactive(None)
    hint: reactive[str] = reactive("")
    """What a key would do that is pressed again."""

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._ticks = 0
        self.covered = False
        """Whether a dialog covers the line: then it must not redraw the screen."""

    def on_mount(self) -> None:
        """Prepare the animation."""
        self._timer = self.set_interval(_TICK_S, self._tick, pause=True)
        self._show()

    def watch_activity(self, before: str | None, now: str | None) -> None:
        """Begin or end the animation."""
        if not self.is_mounted:
            return
        if before is None and now is not None:
            self._ticks = 0
            self._timer.resume()
        elif now is None:
            self._timer.pause()
        self._show()

    def watch_hint(self) -> None:
        """Show the hint."""
        if self.is_mounted:
            self._show()

    def _tick(self) -> None:
        self._ticks += 1
        if not self.covered:
            self._show()

    def _show(self) -> None:
        if self.activity is None or self.hint:
            self.update(_both_ends(Text(f" {self.hint}"), Text("? for shortcuts", style="dim")))
            return
        frame = _FRAMES[self._ticks % len(_FRAMES)]
        seconds = int(self._ticks * _TICK_S)
        words = f" {frame} {inert_line(self.activity)} (esc to cancel, {seconds}s)"
        self.update(_both_ends(Text(words), Text("? for shortcuts", style="dim")))


class ModeLine(Static):
    """The approval mode, and what the model knows beside the conversation."""

    def show(self, mode: ApprovalMode, known: Sequence[str], *, shell: bool = False) -> None:
        """Show the mode, and what is `known`."""
        name, key = ("shell mode enabled", "esc to disable") if shell else _MODES[mode]
        left = Text(" ").append(name, style="bold").append(" " if name else "").append(key, "dim")
        self.update(_both_ends(left, Text(f"{' · '.join(known)} ", style="dim")))


class Footer(Static):
    """What Vim's keys do, the folder, the model, and how much of its context is left."""

    def show(
        self, folder: str, model: str, left_percent: int | None, vim_mode: str | None = None
    ) -> None:
        """Show these values; without `left_percent` nothing was sent yet."""
        left = f"[{vim_mode}] {inert_line(folder)}" if vim_mode else inert_line(folder)
        right = inert_line(model)
        if left_percent is not None:
            right += f" ({left_percent}% context left)"
        self.update(_both_ends(Text(f" {left}", style="dim"), Text(f"{right} ")))
