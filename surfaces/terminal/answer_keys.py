"""The keys that give an answer in a dialog, for programs that play the user of a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from services.interaction.questions import (
    FallbackIntent,
    LoopChoice,
    NewAgentsChoice,
    TrustChoice,
    ValidationIntent,
)
from services.state import ApprovalMode
from services.tools.contract import ConfirmationOutcome
from surfaces.terminal.dialogs.ask_user import AskUserDialog
from surfaces.terminal.dialogs.dialog import ChoiceDialog, Dialog, DialogHost
from surfaces.terminal.dialogs.plan_approval import PlanDialog

__all__ = ["ESCAPE", "OpenQuestion", "Text", "open_question"]

ESCAPE: Final = "escape"
CONFIRMATION: Final = "confirmation"
_KINDS: Final[Mapping[type, str]] = {
    ConfirmationOutcome: CONFIRMATION,
    FallbackIntent: "fallback",
    ValidationIntent: "validation",
    LoopChoice: "loop",
    TrustChoice: "trust",
    NewAgentsChoice: "new_agents",
    bool: "sign_in",
}


@dataclass(frozen=True, slots=True)
class Text:
    """A text that the user writes."""

    text: str


Keys = Sequence[str | Text]


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """An open dialog. Two values are equal if they are about the same dialog."""

    dialog: Dialog[Any]

    @property
    def kind(self) -> str:
        """`confirmation`, or the kind of the session's question; `other` for a command's."""
        if isinstance(self.dialog, AskUserDialog | PlanDialog):
            return CONFIRMATION
        if isinstance(self.dialog, ChoiceDialog):
            answers = self.dialog.answers
            return _KINDS.get(type(answers[0]), "other")
        return "other"

    def keys(self, answer: object, payload: Mapping[str, Any] | None = None) -> Keys | None:
        """Return the keys that give this answer; `None`: the dialog does not offer it.

        `payload` is what the answer to a confirmation carries.
        """
        dialog = self.dialog
        if answer == ConfirmationOutcome.CANCEL or answer is None:
            return (ESCAPE,)
        if isinstance(dialog, AskUserDialog):
            return _ask_user_keys(dialog.questions, (payload or {}).get("answers"))
        if isinstance(dialog, PlanDialog):
            return _plan_keys(payload or {})
        if isinstance(dialog, ChoiceDialog) and payload is None:
            found = [n for n, each in enumerate(dialog.answers, 1) if each == answer]
            return (str(found[0]),) if found else None
        return None


def open_question(host: DialogHost) -> OpenQuestion | None:
    """Return the dialog that `host` shows and that has no answer yet."""
    for dialog in host.query(Dialog):
        if not dialog.answered.done():
            return OpenQuestion(dialog)
    return None


def _plan_keys(payload: Mapping[str, Any]) -> Keys | None:
    if payload.get("approved"):
        mode = payload.get("approvalMode")
        return {ApprovalMode.AUTO_EDIT: ("1",), ApprovalMode.DEFAULT: ("2",)}.get(mode)  # type: ignore[arg-type]  # a StrEnum equals its text
    feedback = payload.get("feedback")
    return ("3", Text(feedback), "enter") if feedback else None


def _ask_user_keys(questions: Sequence[Mapping[str, Any]], answers: Any) -> Keys | None:
    if not isinstance(answers, Mapping):
        return None
    keys: list[str | Text] = []
    for number, question in enumerate(questions):
        answer = answers.get(str(number))
        page = ["tab"] if answer is None else _page_keys(question, str(answer))
        if page is None or (answer is None and len(questions) == 1):
            return None
        keys += page
    return [*keys, "enter"] if len(questions) > 1 else keys


def _page_keys(question: Mapping[str, Any], answer: str) -> list[str | Text] | None:
    """Return the keys that answer one question and go on to the next page."""
    kind = question.get("type")
    if kind == "yesno":
        return {"Yes": ["1"], "No": ["2"]}.get(answer)  # type: ignore[return-value]  # invariance
    if kind != "choice":
        return [Text(answer), "enter"]
    if question.get("multiSelect"):
        return None
    labels = [str(option.get("label")) for option in question.get("options") or ()]
    if answer in labels:
        return [str(labels.index(answer) + 1)]
    return [str(len(labels) + 1), Text(answer), "enter"]
