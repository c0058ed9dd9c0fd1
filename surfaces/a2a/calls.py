"""Tool calls on the wire, and the user's answers to their confirmations.

Source: `packages/a2a-server` `agent/task.ts` (`toolStatusMessage`,
`_handleToolConfirmationPart`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agent_protocol.codec import display_content_to_wire
from agent_protocol.events import ToolDisplay
from services.message_bus import ToolConfirmationResponse
from services.scheduler.calls import CallStatus, ToolCallRequest, ToolCallResponse
from services.scheduler.states import ToolCall
from services.tools.contract import ConfirmationDetails, ConfirmationOutcome, Tool
from services.wire import JsonObject
from surfaces.a2a.wire import invalid_params

__all__ = ["Answer", "answer_in", "call_shown", "status_shown"]

_EDITOR: Final = ConfirmationOutcome.MODIFY_WITH_EDITOR
_EDITED: Final = ("newContent",)
_OF_QUESTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "edit": _EDITED,
    "ask_user": ("answers",),
    "exit_plan_mode": ("approved", "approvalMode", "feedback"),
}
"""The members of an answer that belong to a kind of question."""


def status_shown(call: ToolCall) -> str:
    """The status that clients read. They do not see a call being checked."""
    status = call.status
    return str(CallStatus.SCHEDULED if status is CallStatus.VALIDATING else status)


def call_shown(call: ToolCall) -> JsonObject:
    """The data of a tool call's message."""
    details, response = call.confirmation_details, call.response
    shown: JsonObject = {
        "request": _request(call.request, call.scheduler_id),
        "status": status_shown(call),
    }
    if details is not None:
        shown["confirmationDetails"] = _details(details)
    if call.live_output is not None:
        shown["liveOutput"] = call.live_output
    if response is not None:
        shown["response"] = _response(response)
    if call.outcome is not None:
        shown["outcome"] = str(call.outcome)
    if call.tool is not None:
        shown["tool"] = _tool(call.tool)
    return shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The user's answer to a confirmation."""

    call_id: str
    outcome: ConfirmationOutcome
    given: JsonObject
    """The whole data of the part; for the extension: what the scheduler gets with the outcome."""
    options: tuple[str, ...] = ()
    """In the dialect of the extension, the ids of the chosen options."""
    text: str = ""
    """In the dialect of the extension, the text of the message."""

    def response(self, call: ToolCall) -> ToolConfirmationResponse:
        """What the scheduler waits for."""
        kind = "" if call.confirmation_details is None else call.confirmation_details.type
        payload = {
            name: self.given[name] for name in _OF_QUESTIONS.get(kind, ()) if name in self.given
        }
        return ToolConfirmationResponse(
            correlation_id=str(call.correlation_id),
            confirmed=self.outcome is not ConfirmationOutcome.CANCEL,
            outcome=self.outcome,
            payload=payload or None,
        )


def answer_in(part: JsonObject) -> Answer | None:
    """The answer in a part of a message; `None` if it has none.

    Raises:
        RpcError: it has one that this server cannot follow.
    """
    data = part.get("data")
    if part.get("kind") != "data" or not isinstance(data, dict):
        return None
    call_id, outcome = data.get("callId"), data.get("outcome")
    if not isinstance(call_id, str) or not isinstance(outcome, str) or not outcome:
        return None
    known = [each for each in ConfirmationOutcome if each is not _EDITOR]
    if outcome == _EDITOR:
        raise invalid_params(
            "modify_with_editor needs an editor, and a server has none; write the outcome "
            "proceed_once with the text as newContent"
        )
    if outcome not in known:
        raise invalid_params(f"outcome is {outcome!r}; write one of {', '.join(known)}")
    content = data.get("newContent")
    if content is not None and not isinstance(content, str):
        raise invalid_params("newContent is no text; write the file's whole new text")
    return Answer(call_id=call_id, outcome=ConfirmationOutcome(outcome), given=data)


def _request(request: ToolCallRequest, scheduler_id: str) -> JsonObject:
    shown: JsonObject = {
        "callId": request.call_id,
        "name": request.name,
        "args": request.args,
        "isClientInitiated": request.is_client_initiated,
        "prompt_id": request.prompt_id,
        "schedulerId": scheduler_id,
    }
    if request.display is not None:
        shown["display"] = _display(request.display)
    if request.parent_call_id is not None:
        shown["parentCallId"] = request.parent_call_id
    return shown


def _details(details: ConfirmationDetails) -> JsonObject:
    return {"type": details.type, "title": details.title, **details.fields}


def _response(response: ToolCallResponse) -> JsonObject:
    shown: JsonObject = {
        "callId": response.call_id,
        "responseParts": list(response.response_parts),
    }
    optional: Mapping[str, Any] = {
        "display": None if response.display is None else _display(response.display),
        "resultDisplay": response.result_display,
        "error": None if response.error is None else {},
        "errorType": None if response.error_type is None else str(response.error_type),
        "outputFile": response.output_file,
        "contentLength": response.content_length,
        "data": None if response.data is None else dict(response.data),
    }
    return {**shown, **{name: value for name, value in optional.items() if value is not None}}


def _display(display: ToolDisplay) -> JsonObject:
    result = None if display.result is None else display_content_to_wire(display.result)
    optional = {
        "name": display.name,
        "description": display.description,
        "resultSummary": display.result_summary,
        "result": result,
        "format": display.format,
    }
    return {name: value for name, value in optional.items() if value is not None}


def _tool(tool: Tool) -> JsonObject:
    declaration = tool.declaration()
    return {
        "name": tool.name,
        "displayName": tool.display_name,
        "description": tool.description,
        "kind": str(tool.kind),
        "isOutputMarkdown": tool.is_output_markdown,
        "canUpdateOutput": tool.can_update_output,
        "schema": declaration,
        "parameterSchema": declaration.get("parametersJsonSchema"),
    }
