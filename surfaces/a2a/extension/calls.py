"""Tool calls as the extension describes them, and the questions about them.

Source: RFC "Gemini CLI A2A Development-Tool Extension", 3.2, "Tool Calls".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from services.scheduler.calls import CallStatus, ToolCallResponse
from services.scheduler.states import ToolCall as SchedulerCall
from services.wire import Json
from surfaces.a2a.extension.questions import diff_of, question_about
from surfaces.a2a.extension.schema import ErrorDetails, ToolCall, ToolCallStatus, ToolOutput
from surfaces.allowed import Allowed

__all__ = ["STATUSES", "created_as", "is_open_question", "output_of", "shown", "text_of"]

STATUSES: Final = {
    CallStatus.VALIDATING: ToolCallStatus.PENDING,
    CallStatus.SCHEDULED: ToolCallStatus.PENDING,
    CallStatus.AWAITING_APPROVAL: ToolCallStatus.PENDING,
    CallStatus.EXECUTING: ToolCallStatus.EXECUTING,
    CallStatus.SUCCESS: ToolCallStatus.SUCCEEDED,
    CallStatus.ERROR: ToolCallStatus.FAILED,
    CallStatus.CANCELLED: ToolCallStatus.CANCELLED,
}


def shown(
    call: SchedulerCall,
    live_text: str | None,
    allowed: Allowed,
    given: Mapping[str, str] | None = None,
) -> ToolCall:
    """The whole call.

    Args:
        call: the call.
        live_text: the whole output of a running call so far.
        allowed: what the settings let the user allow beyond one call.
        given: the answers so far to the questions of the call.
    """
    output = error = request = None
    if call.status is CallStatus.SUCCESS and call.response is not None:
        parts = [part.get("functionResponse", {}) for part in call.response.response_parts]
        output = output_of(call.response.result_display, [each.get("response") for each in parts])
    elif call.status is CallStatus.ERROR and call.response is not None:
        error = _error(call.response)
    if is_open_question(call) and call.confirmation_details is not None:
        request = question_about(call.confirmation_details, call.request.args, allowed, given)
    return ToolCall(
        tool_call_id=call.call_id,
        status=STATUSES[call.status],
        tool_name=call.name,
        description=None if call.invocation is None else call.invocation.description(),
        input_parameters=call.request.args,
        live_content=live_text,
        output=output,
        error=error,
        confirmation_request=request,
    )


def created_as(call: ToolCall) -> ToolCall:
    """The call as it was before anything has happened."""
    changes = dict.fromkeys(("live_content", "output", "error", "confirmation_request"))
    return call.model_copy(update={**changes, "status": ToolCallStatus.PENDING})


def is_open_question(call: SchedulerCall) -> bool:
    """Whether the call waits for the user."""
    return call.status is CallStatus.AWAITING_APPROVAL and call.outcome is None


def text_of(output: Json) -> str | None:
    """A text, or the lines of a terminal's screen as one; `None` for any other output."""
    if isinstance(output, str):
        return output
    if not isinstance(output, list):
        return None
    lines = [line if isinstance(line, list) else [] for line in output]
    return "\n".join(
        "".join(str(token.get("text", "")) for token in line if isinstance(token, dict))
        for line in lines
    )


def output_of(display: Json, responses: Json) -> ToolOutput:
    """The output of a call that succeeded.

    Args:
        display: its result for the user, if it has one.
        responses: its result for the model.
    """
    if isinstance(display, dict):
        if {"fileDiff", "newContent"} <= display.keys():
            return ToolOutput(diff=diff_of(display))
        return ToolOutput(structured_data=display)
    if display is None:
        return ToolOutput(structured_data={"responses": responses})
    return ToolOutput(text=text_of(display))


def _error(response: ToolCallResponse) -> ErrorDetails:
    return ErrorDetails(
        message=response.error or text_of(response.result_display) or "The tool failed.",
        type=None if response.error_type is None else str(response.error_type),
    )
