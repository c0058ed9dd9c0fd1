"""`TasksDialog`: the background commands and their output.

Source: `packages/cli` `ui/components/BackgroundTaskDisplay.tsx`, `ui/key/keyBindings.ts`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from services.regular_files import MOST_TEXT, read_regular
from services.tools.background import BackgroundHistory, BackgroundProcess, background_log
from surfaces.commands.builtin.tasks import task_line
from surfaces.terminal.dialogs.dialog import Dialog
from surfaces.terminal.dialogs.options import Choice, NumberedOptions
from surfaces.terminal.inert import inert, inert_line

__all__ = ["TasksDialog"]

_CHOOSE: Final = "Select Process (Enter to select, Ctrl+K to kill, Esc to cancel):"
_KEYS: Final = "Close (Ctrl+B) | Kill (Ctrl+K) | List (Ctrl+L)"
_LAST: Final = 200
"""The lines of output that are shown."""


class TasksDialog(Dialog[None]):
    """One background command with its output, or the list of them.

    Args:
        background: the commands of the session.
        home: where their logs are.
    """

    can_focus = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+b", "close", show=False),
        Binding("ctrl+k", "kill", show=False),
        Binding("ctrl+l", "list", show=False),
        Binding("up", "scroll_output(-1)", show=False),
        Binding("down", "scroll_output(1)", show=False),
    ]

    def __init__(self, background: BackgroundHistory, home: Path) -> None:
        super().__init__(None)
        self._background = background
        self._home = home
        self._listed: list[BackgroundProcess] = []
        self._shown: BackgroundProcess | None = None
        self._off: Callable[[], None] | None = None

    def compose(self) -> ComposeResult:
        """The list or the output, and where the log is."""
        yield Static(markup=False, id="tasks-heading", classes="heading")
        yield NumberedOptions([], id="tasks")
        with VerticalScroll(classes="body", can_focus=False):
            yield Static(markup=False, id="task-output")
        yield Static(markup=False, id="task-log", classes="keys")

    async def on_mount(self) -> None:
        """Show the list, or the only command; follow what commands write."""
        self._off = self._background.subscribe(self._show_output)
        running = [each for each in self._background if each.running]
        if len(running) == 1:
            self._show(running[0])
        else:
            self.action_list()

    def on_unmount(self) -> None:
        """Follow nothing any more."""
        if self._off is not None:
            self._off()

    def action_close(self) -> None:
        """Ctrl+B: close."""
        self.settle(None)

    def action_list(self) -> None:
        """Ctrl+L: the list, or from the list to the highlighted command."""
        options = self.query_one("#tasks", NumberedOptions)
        if self._shown is None and options.highlighted is not None and self._listed:
            self._show(self._listed[options.highlighted])
            return
        self._shown = None
        self._listed = list(self._background)
        options.offer([Choice(label=inert_line(task_line(each))) for each in self._listed])
        self._draw()

    def action_kill(self) -> None:
        """Ctrl+K: end the command."""
        task = self._shown
        if task is None:
            highlighted = self.query_one("#tasks", NumberedOptions).highlighted
            task = self._listed[highlighted] if highlighted is not None else None
        if task is not None and task.running and task.kill is not None:
            task.kill()

    def action_scroll_output(self, lines: int) -> None:
        """Scroll the output."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def on_numbered_options_chosen(self, event: NumberedOptions.Chosen) -> None:
        """Show the command."""
        event.stop()
        self._show(self._listed[event.index])

    def _show(self, task: BackgroundProcess) -> None:
        self._shown = task
        self._draw()

    def _draw(self) -> None:
        options = self.query_one("#tasks", NumberedOptions)
        options.display = self._shown is None
        self.query_one(VerticalScroll).display = self._shown is not None
        if self._shown is None:
            self.query_one("#tasks-heading", Static).update(Text(_CHOOSE, style="bold"))
            self.query_one("#task-log", Static).update("")
            options.focus()
            return
        self.focus()
        self._show_output()

    def _show_output(self) -> None:
        task = self._shown
        if task is None:
            labels = [inert_line(task_line(each)) for each in self._listed]
            self.query_one("#tasks", NumberedOptions).relabel(labels)
            return
        log = background_log(self._home, task.pid)
        heading = self.line(Text(f"{inert_line(task_line(task))}   {_KEYS}", style="bold"))
        self.query_one("#tasks-heading", Static).update(heading)
        self.query_one("#task-output", Static).update(inert(_tail(log)))
        self.query_one("#task-log", Static).update(f"Log: {inert_line(str(log))}")
        self.query_one(VerticalScroll).scroll_end(animate=False)


def _tail(log: Path) -> str:
    """The last lines of a log."""
    try:
        text = read_regular(log, MOST_TEXT).decode("utf-8", "replace")
    except OSError as error:
        return f"The log cannot be read: {error.strerror}"
    return "\n".join(text.splitlines()[-_LAST:])
