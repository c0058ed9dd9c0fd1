"""`Approvals`: confirmations of tool calls, from the question on the bus to the answer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Final

from textual.widget import Widget

from services.ide.companion import IdeCompanion
from services.message_bus import MessageBus, ToolConfirmationResponse
from services.progress import CallKey, CallQuestion
from services.regular_files import read_regular
from services.shell.syntax import has_redirection
from services.state import ApprovalMode
from services.tools.contract import ConfirmationDetails, ConfirmationOutcome
from surfaces.allowed import Allowed
from surfaces.terminal.call_words import CallShown
from surfaces.terminal.dialogs.ask_user import AskUserDialog
from surfaces.terminal.dialogs.confirmation import confirmation_dialog
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.dialogs.plan_approval import PlanDialog

__all__ = ["Approvals", "EditText"]

EditText = Callable[[str, str, Widget | None], Awaitable[str | None]]
"""Lets the user edit a text in a program of their own: the file's name, the text, and what stays
visible while a user without a program chooses one. `None`: there is no program."""
_MOST_PLAN: Final = 1_000_000
_CANCEL: Final = ConfirmationOutcome.CANCEL
_ONCE: Final = ConfirmationOutcome.PROCEED_ONCE


class Approvals:
    """Asks about calls in `host`, and publishes the answers.

    Args:
        host: where the dialogs open.
        bus: gets the answers.
        ide: shows changes in the IDE as well.
        allowed: what the user may allow.
        edit: opens the user's editor.
        refused: called when the user has refused a call.
    """

    def __init__(
        self,
        host: DialogHost,
        bus: MessageBus,
        ide: IdeCompanion,
        allowed: Allowed,
        *,
        edit: EditText,
        refused: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self._host = host
        self._bus = bus
        self._ide = ide
        self._allowed = allowed
        self._edit = edit
        self._refused = refused
        self._ending: asyncio.Task[None] | None = None
        self._asking: dict[CallKey, tuple[CallQuestion, asyncio.Task[None]]] = {}

    def ask(self, question: CallQuestion, call: CallShown) -> None:
        """Ask about `call` when it is its turn."""
        self._withdraw(question.call)
        task = asyncio.create_task(self._ask(question, call), name="confirmation")
        self._asking[question.call] = question, task

    def moved(self, call: CallKey, status: str) -> None:
        """Withdraw the question of a call that no longer waits."""
        if status == "awaiting_approval":
            return
        if status == "cancelled" and call in self._asking:
            # The user has refused it in the IDE: that ends the request, as a refusal here does.
            self._ending = asyncio.create_task(self._refused(), name="refused")
        self._withdraw(call)

    def mode_changed(self, mode: ApprovalMode) -> None:
        """Allow the waiting calls that need no question in `mode`."""
        for question, _ in list(self._asking.values()):
            details = question.details
            if details is not None and _covered(mode, details):
                self._publish(question, _ONCE)

    def close(self) -> None:
        """Withdraw every question."""
        for call in list(self._asking):
            self._withdraw(call)

    def _withdraw(self, call: CallKey) -> None:
        _, task = self._asking.pop(call, (None, None))
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def _ask(self, question: CallQuestion, call: CallShown) -> None:
        outcome, payload = await self._answer(question.details, call)
        self._asking.pop(question.call, None)
        self._publish(question, outcome, payload)
        if outcome is _CANCEL:
            await self._refused()

    async def _answer(
        self, details: ConfirmationDetails | None, call: CallShown
    ) -> tuple[ConfirmationOutcome, Mapping[str, Any] | None]:
        if details is None:
            return _CANCEL, None
        if details.type == "ask_user":
            answers = await self._host.ask(AskUserDialog(details.fields["questions"]))
            return (_CANCEL, None) if answers is None else (_ONCE, {"answers": answers})
        if details.type == "exit_plan_mode":
            dialog = PlanDialog(_plan(details), lambda: self._edit_plan(details))
            payload = await self._host.ask(dialog)
            return (_CANCEL, None) if payload is None else (_ONCE, payload)
        editable = not self._ide.reviews_changes
        while True:
            outcome = await self._host.ask(
                confirmation_dialog(call, details, self._allowed, editable=editable)
            )
            if outcome is not ConfirmationOutcome.MODIFY_WITH_EDITOR:
                return outcome, await self._edited_in_ide(outcome, details)
            name = str(details.fields.get("fileName") or "file")
            text = str(details.fields.get("newContent") or "")
            edited = await self._edit(
                name, text, confirmation_dialog(call, details, self._allowed, editable=editable)
            )
            if edited is not None:  # Without an editor, the question stays open.
                return _ONCE, {"newContent": edited}

    async def _edit_plan(self, details: ConfirmationDetails) -> bool:
        """Open the plan in the user's editor, and write what the user leaves in it."""
        file = Path(details.fields["planPath"])
        edited = await self._edit(file.name, _plan(details), None)
        if edited is None:
            return False
        await asyncio.to_thread(file.write_text, edited, encoding="utf-8")
        return True

    async def _edited_in_ide(
        self, outcome: ConfirmationOutcome, details: ConfirmationDetails
    ) -> Mapping[str, Any] | None:
        """Close the change in the IDE; the payload has the text if the user edited it there."""
        if details.type != "edit":
            return None
        path = str(details.fields.get("filePath"))
        text = await self._ide.settle(path, accepted=outcome is not _CANCEL)
        return {"newContent": text} if text and text != details.fields.get("newContent") else None

    def _publish(
        self,
        question: CallQuestion,
        outcome: ConfirmationOutcome,
        payload: Mapping[str, Any] | None = None,
    ) -> None:
        self._bus.publish(
            ToolConfirmationResponse(
                correlation_id=question.correlation_id,
                confirmed=outcome is not _CANCEL,
                outcome=outcome,
                payload=payload,
            )
        )


def _covered(mode: ApprovalMode, details: ConfirmationDetails) -> bool:
    """Whether `mode` allows a call without a question.

    Source: `packages/cli` `ui/hooks/useGeminiStream.ts`, `handleApprovalModeChange`.
    """
    if details.type in ("ask_user", "exit_plan_mode"):
        return False
    if mode is ApprovalMode.YOLO:
        return True
    if mode is not ApprovalMode.AUTO_EDIT:
        return False
    redirects = details.type == "exec" and has_redirection(str(details.fields.get("command")))
    return details.type == "edit" or redirects


def _plan(details: ConfirmationDetails) -> str:
    with contextlib.suppress(OSError):
        return read_regular(Path(details.fields["planPath"]), _MOST_PLAN).decode("utf-8", "replace")
    return f"The plan cannot be read: {details.fields.get('planPath')}"
