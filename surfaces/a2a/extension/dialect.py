"""`ExtensionDialect`: a task's updates and answers in the dialect of the extension.

Source: RFC "Gemini CLI A2A Development-Tool Extension", 3.2 and appendix A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from services.scheduler.calls import CallStatus
from services.scheduler.states import ToolCall
from services.tools.contract import ConfirmationOutcome
from services.wire import JsonObject
from surfaces.a2a.calls import Answer
from surfaces.a2a.extension import schema
from surfaces.a2a.extension.calls import created_as, is_open_question, shown
from surfaces.a2a.extension.questions import WANT_TEXT, is_multiple, options_payload
from surfaces.a2a.extension.schema import (
    AgentThought,
    ConfirmationRequest,
    DevelopmentToolEvent,
    EventKind,
    ModifiedFileDetails,
    ToolCallConfirmation,
    ToolCallStatus,
)
from surfaces.a2a.wire import invalid_params
from surfaces.allowed import Allowed

__all__ = ["ExtensionDialect", "check_options"]

_KINDS: Final = {
    "citation": EventKind.TEXT_CONTENT,
    "state-change": EventKind.STATE_CHANGE,
    "text-content": EventKind.TEXT_CONTENT,
    "thought": EventKind.THOUGHT,
    "tool-call-answer": EventKind.TOOL_CALL_CONFIRMATION,
    "tool-call-confirmation": EventKind.TOOL_CALL_UPDATE,
    "tool-call-update": EventKind.TOOL_CALL_UPDATE,
}


class ExtensionDialect:
    """The dialect of one task.

    Args:
        uri: the extension's URI as the client writes it; it is the key of the metadata.
        allowed: what the settings let the user allow beyond one call.
        user_tier: the tier of the user's account, if there is one.
    """

    during: str | None = "working"
    ended = "completed"

    def __init__(self, uri: str, allowed: Allowed, user_tier: str | None) -> None:
        self._uri = uri
        self._allowed = allowed
        self._user_tier = user_tier
        self._announced: set[str] = set()
        self._given: dict[str, dict[str, str]] = {}
        """The id of a call to the answers so far, where it asks several questions."""

    def metadata(
        self, kind: str, model: str, *, error: str | None, usage: JsonObject | None
    ) -> JsonObject:
        """The metadata of an event; `usage` has no field."""
        event = DevelopmentToolEvent(
            kind=_KINDS[kind], model=model, user_tier=self._user_tier, error=error
        )
        return {self._uri: event.on_wire()}

    def call_data(self, call: ToolCall) -> list[JsonObject]:
        """The call, whole; nothing where the client would read nothing new.

        The first update of each call is `PENDING`, as the specification's life cycle begins.
        """
        if call.status is CallStatus.VALIDATING:
            return []
        found = self._shown(call)
        pending = found.status is ToolCallStatus.PENDING
        known = call.call_id in self._announced
        if pending and known and not is_open_question(call):
            return []
        self._announced.add(call.call_id)
        created = [] if pending or known else [created_as(found).on_wire()]
        return [*created, found.on_wire()]

    def output_data(self, call: ToolCall, text: str) -> JsonObject | None:
        """The call with its output so far."""
        return shown(call, text, self._allowed).on_wire()

    def thought(self, subject: str, description: str) -> JsonObject:
        """A thought."""
        return AgentThought(subject=subject, description=description).on_wire()

    def read(self, message: JsonObject) -> tuple[list[Answer], list[str]]:
        """The answers and the texts in a message. A text that an answer wants belongs to it.

        Raises:
            RpcError: a part with data is no `ToolCallConfirmation`.
        """
        parts = message["parts"]
        texts = [part["text"] for part in parts if part.get("kind") == "text"]
        read = [
            ToolCallConfirmation.read(part.get("data"))
            for part in parts
            if part.get("kind") == "data"
        ]
        answers = [
            _answer([each for each in read if each.tool_call_id == call_id], "\n".join(texts))
            for call_id in dict.fromkeys(each.tool_call_id for each in read)
        ]
        wants = any(WANT_TEXT.intersection(answer.options) for answer in answers)
        return answers, [] if wants else texts

    def check(self, answer: Answer, call: ToolCall | None) -> None:
        """Check that `answer` fits the call that waits for it.

        Raises:
            RpcError: no call waits for it, or the call's question is another one.
        """
        if call is None or call.confirmation_details is None:
            raise invalid_params(f"No tool call {answer.call_id} waits for a confirmation.")
        request = self._shown(call).confirmation_request
        check_options(answer, request)
        if answer.given and (request is None or request.file_edit_details is None):
            raise invalid_params(
                f"The confirmation of {answer.call_id} has fileDetails, and the call edits no file."
            )
        several = is_multiple(call.confirmation_details, self._given.get(call.call_id, {}))
        if len(answer.options) > 1 and not several:
            raise invalid_params(f"Choose one option of the question about {answer.call_id}.")

    def settled(self, answer: Answer, call: ToolCall) -> Answer | None:
        """What the scheduler gets for a checked answer; `None`: the call asks its next question."""
        details = call.confirmation_details
        if details is None or answer.outcome is ConfirmationOutcome.CANCEL:
            self._given.pop(call.call_id, None)
            return answer
        given = self._given.setdefault(call.call_id, {})
        payload = options_payload(details, answer.options, answer.text, given)
        if payload is None:
            return None
        self._given.pop(call.call_id)
        return replace(answer, given={**answer.given, **payload})

    def answer_data(self, answer: Answer) -> list[JsonObject]:
        """The answer, for the other clients of the task."""
        text = answer.given.get("newContent")
        details = None if text is None else ModifiedFileDetails(new_content=text)
        return [
            ToolCallConfirmation(
                tool_call_id=answer.call_id, selected_option_id=option, file_details=details
            ).on_wire()
            for option in answer.options
        ]

    def _shown(self, call: ToolCall) -> schema.ToolCall:
        return shown(call, None, self._allowed, self._given.get(call.call_id))


def check_options(answer: Answer, request: ConfirmationRequest | None) -> None:
    """Check that the options of an answer were offered, and that it has the text that they want.

    Raises:
        RpcError: it does not fit.
    """
    offered = [] if request is None else [option.id for option in request.options]
    for option in answer.options:
        if option not in offered:
            raise invalid_params(
                f"selectedOptionId is {option!r}; choose one of {', '.join(offered)}"
            )
        if option in WANT_TEXT and not answer.text.strip():
            raise invalid_params(
                f"The option {option!r} wants an answer; write it as a text part of the message"
            )


def _answer(confirmations: Sequence[ToolCallConfirmation], text: str) -> Answer:
    """The answer to one call; only the options of the published dialect are outcomes."""
    options = tuple(each.selected_option_id for each in confirmations)
    known = [each for each in ConfirmationOutcome if each in options]
    details = next((each.file_details for each in confirmations if each.file_details), None)
    return Answer(
        call_id=confirmations[0].tool_call_id,
        outcome=known[0] if known else ConfirmationOutcome.PROCEED_ONCE,
        given={} if details is None else {"newContent": details.new_content},
        options=options,
        text=text,
    )
