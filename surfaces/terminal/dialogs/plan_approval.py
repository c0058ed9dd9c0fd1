"""The approval of a plan. Source: `packages/cli` `ui/components/ExitPlanModeDialog.tsx`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown, Static

from services.state import ApprovalMode
from surfaces.terminal.dialogs.dialog import Dialog
from surfaces.terminal.dialogs.options import Choice, NumberedOptions
from surfaces.terminal.inert import inert

__all__ = ["PlanDialog"]

_CHOICES: Final = (
    Choice(
        label="Yes, automatically accept edits",
        detail="Approves plan and allows tools to run automatically",
    ),
    Choice(
        label="Yes, manually accept edits",
        detail="Approves plan but requires confirmation for each tool",
    ),
    Choice(label="Type your feedback...", free=True),
)
_MODES: Final = (ApprovalMode.AUTO_EDIT, ApprovalMode.DEFAULT)
_SELECT: Final = "Enter to select · ↑/↓ to navigate · Ctrl+G to edit plan · Esc to cancel"
_SUBMIT: Final = "Enter to submit · Ctrl+G to edit plan · Esc to cancel"


class PlanDialog(Dialog[Mapping[str, Any] | None]):
    """Shows a plan; the answer is the payload of the confirmation, `None` for Esc."""

    def __init__(self, plan: str) -> None:
        super().__init__(None)
        self._plan = plan

    def compose(self) -> ComposeResult:
        """The plan, the options, the keys."""
        yield Static("Ready to start implementation?", markup=False, classes="heading")
        with VerticalScroll(classes="body", can_focus=False):
            yield Markdown(inert(self._plan), open_links=False)
        yield NumberedOptions(_CHOICES)
        yield Static(_SELECT, markup=False, id="keys")

    def on_mount(self) -> None:
        """The options have the keys."""
        self.query_one(NumberedOptions).focus()

    def on_numbered_options_typed(self) -> None:
        """Name the keys of the highlighted option."""
        typing = self.query_one(NumberedOptions).on_free
        self.query_one("#keys", Static).update(_SUBMIT if typing else _SELECT)

    def on_numbered_options_chosen(self, event: NumberedOptions.Chosen) -> None:
        """Approve in a mode, or reject with the feedback."""
        event.stop()
        if event.index < len(_MODES):
            self.settle({"approved": True, "approvalMode": str(_MODES[event.index])})
        else:
            self.settle({"approved": False, "feedback": event.text.strip()})
