"""`ExtensionDialect`: a task's updates and answers in the dialect of the extension.

Source: RFC "Gemini CLI A2A Development-Tool Extension", 3.2 and appendix A.
"""

from __future__ import annotations

from typing import Final

from services.scheduler.calls import CallStatus
from services.scheduler.states import ToolCall
from services.tools.contract import ConfirmationOutcome
from services.wire import JsonObject
from surfaces.a2a.calls import Answer
from surfaces.a2a.extension.calls import is_open_question, shown
from surfaces.a2a.extension.schema import (
    AgentThought,
    DevelopmentToolEvent,
    EventKind,
    ToolCallConfirmation,
)
from surfaces.a2a.wire import invalid_params

__all__ = ["ExtensionDialect"]

_KINDS: Final = {
    "citation": EventKind.TEXT_CONTENT,
    "state-change": EventKind.STATE_CHANGE,
    "text-content": EventKind.TEXT_CONTENT,
    "thought": EventKind.THOUGHT,
    "tool-call-confirmation": EventKind.TOOL_CALL_UPDATE,
    "tool-call-update": EventKind.TOOL_CALL_UPDATE,
}


class ExtensionDialect:
    """The dialect of one task.

    Args:
        uri: the extension's URI as the client writes it; it is the key of the metadata.
        always: whether the settings let the user allow more than one call.
    """

    during: str | None = "working"
    ended = "completed"

    def __init__(self, uri: str, *, always: bool) -> None:
        self._uri = uri
        self._always = always
        self._announced: set[str] = set()

    def metadata(
        self, kind: str, model: str, *, error: str | None, usage: JsonObject | None
    ) -> JsonObject:
        """The metadata of an event; `usage` has no field."""
        event = DevelopmentToolEvent(kind=_KINDS[kind], model=model, error=error)
        return {self._uri: event.on_wire()}

    def call_data(self, call: ToolCall) -> JsonObject | None:
        """The call, whole; `None` where the client would read nothing new."""
        if call.status is CallStatus.VALIDATING:
            return None
        waits = call.status in (CallStatus.AWAITING_APPROVAL, CallStatus.SCHEDULED)
        if waits and not is_open_question(call) and call.call_id in self._announced:
            return None
        self._announced.add(call.call_id)
        return shown(call, None, always=self._always).on_wire()

    def output_data(self, call: ToolCall, text: str) -> JsonObject | None:
        """The call with its output so far."""
        return shown(call, text, always=self._always).on_wire()

    def thought(self, subject: str, description: str) -> JsonObject:
        """A thought."""
        return AgentThought(subject=subject, description=description).on_wire()

    def answer_in(self, part: JsonObject) -> Answer | None:
        """The answer in a part of a message; `None` if it has none.

        Raises:
            RpcError: it is no `ToolCallConfirmation`.
        """
        if part.get("kind") != "data":
            return None
        read = ToolCallConfirmation.read(part.get("data"))
        details = read.file_details
        if read.selected_option_id not in list(ConfirmationOutcome):
            raise invalid_params(
                f"selectedOptionId is {read.selected_option_id!r}; choose an option of the question"
            )
        return Answer(
            call_id=read.tool_call_id,
            outcome=ConfirmationOutcome(read.selected_option_id),
            given={} if details is None else {"newContent": details.new_content},
        )

    def check(self, answer: Answer, call: ToolCall | None) -> None:
        """Check that `answer` fits the call that waits for it.

        Raises:
            RpcError: no call waits for it, or the call's question is another one.
        """
        if call is None:
            raise invalid_params(f"No tool call {answer.call_id} waits for a confirmation.")
        request = shown(call, None, always=self._always).confirmation_request
        offered = [] if request is None else [option.id for option in request.options]
        if answer.outcome not in offered:
            raise invalid_params(
                f"selectedOptionId is {answer.outcome.value!r}; choose one of {', '.join(offered)}"
            )
        if answer.given and (request is None or request.file_edit_details is None):
            raise invalid_params(
                f"The confirmation of {answer.call_id} has fileDetails, and the call edits no file."
            )
