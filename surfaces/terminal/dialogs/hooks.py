"""`HooksDialog`. Source: `packages/cli` `ui/components/HooksDialog.tsx`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from services.hooks.system import KnownHook
from surfaces.commands.builtin.hooks import hook_lines
from surfaces.terminal.dialogs.dialog import Dialog
from surfaces.terminal.inert import inert_line

__all__ = ["HooksDialog"]

_NONE: Final = "No hooks configured."
_WARNING: Final = (
    "Hooks can execute arbitrary commands on your system. Only use hooks from sources you trust. "
    "Review hook scripts carefully."
)
_DOCS: Final = "Learn more: https://geminicli.com/docs/hooks"
_TIP: Final = (
    "Tip: Use /hooks enable <hook-name> or /hooks disable <hook-name> to toggle individual hooks. "
    "Use /hooks enable-all or /hooks disable-all to toggle all hooks at once."
)


class HooksDialog(Dialog[None]):
    """The hooks of the session. The arrows scroll; Esc closes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "escape", show=False)]

    def __init__(self, hooks: Sequence[KnownHook]) -> None:
        super().__init__(None)
        self._hooks = hooks

    def compose(self) -> ComposeResult:
        """The warning, the hooks, the keys."""
        with VerticalScroll(classes="body"):
            yield Static(Text("\n").join(self._lines()), markup=False)
        yield Static("(Press Esc to close)", markup=False, classes="keys")

    def on_mount(self) -> None:
        """The list has the keys."""
        self.query_one(VerticalScroll).focus()

    def _lines(self) -> Iterable[Text]:
        if not self._hooks:
            yield Text(_NONE)
            return
        yield Text("Security Warning:", style="bold yellow")
        yield Text(f"{_WARNING}\n", style="yellow")
        yield Text(f"{_DOCS}\n")
        yield Text("Configured Hooks\n", style="bold")
        for line in hook_lines(self._hooks):
            yield Text(f"  {' ' * (len(line) - len(line.lstrip()))}{inert_line(line.lstrip())}")
        yield Text(f"\n{_TIP}", style="dim")
