"""The approval of a plan. Source: `packages/cli` `ui/components/ExitPlanModeDialog.tsx`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
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
_EDITED: Final = (
    "I have edited the plan or annotated it with feedback. Review the edited plan, update if "
    "necessary, and present it again for approval."
)
_SUBMIT: Final = "Enter to submit · Ctrl+G to edit plan · Esc to cancel"


class PlanDialog(Dialog[Mapping[str, Any] | None]):
    """Shows a plan; the answer is the payload of the confirmation, `None` for Esc.

    Args:
        plan: the plan's Markdown.
        edit: opens the plan's file in the user's editor; returns whether it could.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+g", "edit_plan", show=False)]

    def __init__(self, plan: str, edit: Callable[[], Awaitable[bool]]) -> None:
        super().__init__(None)
        self._plan = plan
        self._edit = edit

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

    async def action_edit_plan(self) -> None:
        """Ctrl+G: let the user edit the plan; the model then reads and presents it again."""
        if await self._edit():
            self.settle({"approved": False, "feedback": _EDITED})

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
