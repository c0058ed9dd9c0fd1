"""`ChosenAnswer`: a cassette's answer to a call, as the options and texts of a client of A2A."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from harness.cassette.format import ConfirmationAnswer
from harness.replay.client import Unplayable
from services.tools.contract import ConfirmationOutcome
from services.wire import JsonObject
from surfaces.a2a.playing import ToolCall, ToolCallConfirmation

__all__ = ["SURFACE_NAME", "ChosenAnswer"]

SURFACE_NAME: Final = "A2A client"
_TEXT: Final = "answer"
_FEEDBACK: Final = "feedback"


@dataclass(slots=True)
class ChosenAnswer:
    """The answer to a call, which may ask several questions one after the other."""

    answer: ConfirmationAnswer
    event: JsonObject
    """The side event of the question, which gets the outcome."""
    _asked: int = field(default=0, init=False)
    """The number of questions that are answered."""

    def parts(self, call: ToolCall) -> list[JsonObject]:
        """Return the parts of the message that answers the question of `call`.

        Raises:
            Unplayable: the question does not offer the answer.
        """
        chosen, text, details = self._choice(call)
        self._asked += 1
        offered = _offered(call)
        for option in chosen:
            if option not in offered:
                raise _unplayable(f"the question does not offer `{option}`")
        confirmations = [
            ToolCallConfirmation.read(
                {"tool_call_id": call.tool_call_id, "selected_option_id": option, **details}
            )
            for option in chosen
        ]
        parts: list[JsonObject] = [{"data": each.on_wire()} for each in confirmations]
        return [*parts, {"text": text}] if text else parts

    def _choice(self, call: ToolCall) -> tuple[Sequence[str], str, JsonObject]:
        """Return the chosen options, a text, and further fields of the confirmation."""
        payload, outcome = self.answer.payload or {}, str(self.answer.outcome)
        if self.answer.outcome is not ConfirmationOutcome.PROCEED_ONCE or not payload:
            if _TEXT in _offered(call) and outcome == ConfirmationOutcome.PROCEED_ONCE:
                raise _unplayable("a question of `ask_user` is answered or refused")
            return [outcome], "", {}
        if set(payload) == {"newContent"}:
            return [outcome], "", {"file_details": payload}
        if "approved" in payload:
            return _plan_choice(payload)
        answers = payload.get("answers")
        if not isinstance(answers, Mapping) or not set(map(type, answers.values())) <= {str}:
            raise _unplayable("the answers to questions are texts")
        return _question_choice(call, answers.get(str(self._asked)))


def _plan_choice(payload: Mapping[str, Any]) -> tuple[Sequence[str], str, JsonObject]:
    if payload["approved"] is True:
        modes = {"autoEdit": "proceed_auto_edit", "default": "proceed_once"}
        mode = payload.get("approvalMode", "default")
        return [modes.get(mode, str(mode))], "", {}
    feedback = payload.get("feedback")
    if not isinstance(feedback, str) or not feedback.strip():
        raise _unplayable("a plan is rejected with a feedback")
    return [_FEEDBACK], feedback, {}


def _question_choice(call: ToolCall, answer: str | None) -> tuple[Sequence[str], str, JsonObject]:
    if answer is None:
        return ["skip"], "", {}
    if not answer.strip():
        raise _unplayable("an answer is not empty")
    by_name = {name: option for option, name in _offered(call).items()}
    if answer in by_name:
        return [by_name[answer]], "", {}
    several = answer.split(", ")
    if all(each in by_name for each in several):
        return [by_name[each] for each in several], "", {}
    return [_TEXT], answer, {}


def _offered(call: ToolCall) -> dict[str, str]:
    """Return the id and name of each option of a question."""
    request = call.confirmation_request
    return {} if request is None else {each.id: each.name for each in request.options}


def _unplayable(reason: str) -> Unplayable:
    return Unplayable(SURFACE_NAME, reason)
