"""Tool calls as the extension describes them, and the questions about them.

Source: RFC "Gemini CLI A2A Development-Tool Extension", 3.2, "Tool Calls".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from services.scheduler.calls import CallStatus, ToolCallResponse
from services.scheduler.states import ToolCall as SchedulerCall
from services.tools.contract import ConfirmationDetails, ConfirmationOutcome
from services.wire import Json
from surfaces.a2a.extension.schema import (
    ConfirmationOption,
    ConfirmationRequest,
    ErrorDetails,
    ExecuteDetails,
    FileDiff,
    GenericDetails,
    McpDetails,
    ToolCall,
    ToolCallStatus,
    ToolOutput,
)

__all__ = ["is_open_question", "shown", "text_of"]

_STATUSES: Final = {
    CallStatus.VALIDATING: ToolCallStatus.PENDING,
    CallStatus.SCHEDULED: ToolCallStatus.PENDING,
    CallStatus.AWAITING_APPROVAL: ToolCallStatus.PENDING,
    CallStatus.EXECUTING: ToolCallStatus.EXECUTING,
    CallStatus.SUCCESS: ToolCallStatus.SUCCEEDED,
    CallStatus.ERROR: ToolCallStatus.FAILED,
    CallStatus.CANCELLED: ToolCallStatus.CANCELLED,
}
_ONCE: Final = ConfirmationOption(id=ConfirmationOutcome.PROCEED_ONCE, name="Allow Once")
_CANCEL: Final = ConfirmationOption(id=ConfirmationOutcome.CANCEL, name="Reject")
_ALWAYS: Final = ConfirmationOption(
    id=ConfirmationOutcome.PROCEED_ALWAYS, name="Allow for this session"
)
_OF_SERVER: Final = ConfirmationOption(
    id=ConfirmationOutcome.PROCEED_ALWAYS_SERVER, name="Allow all tools of the server"
)
_OF_TOOL: Final = ConfirmationOption(
    id=ConfirmationOutcome.PROCEED_ALWAYS_TOOL, name="Allow the tool for this session"
)
_BEYOND_ONCE: Final[Mapping[str, tuple[ConfirmationOption, ...]]] = {
    "edit": (_ALWAYS,),
    "exec": (_ALWAYS,),
    "info": (_ALWAYS,),
    "mcp": (_OF_SERVER, _OF_TOOL),
}


def shown(call: SchedulerCall, live_text: str | None, *, always: bool) -> ToolCall:
    """The whole call.

    Args:
        call: the call.
        live_text: the whole output of a running call so far.
        always: whether the settings let the user allow more than one call.
    """
    output = error = request = None
    if call.status is CallStatus.SUCCESS and call.response is not None:
        output = _output(call.response)
    elif call.status is CallStatus.ERROR and call.response is not None:
        error = _error(call.response)
    if is_open_question(call) and call.confirmation_details is not None:
        directory = call.request.args.get("dir_path")
        request = _question(call.confirmation_details, directory, always=always)
    return ToolCall(
        tool_call_id=call.call_id,
        status=_STATUSES[call.status],
        tool_name=call.name,
        description=None if call.invocation is None else call.invocation.description(),
        input_parameters=call.request.args,
        live_content=live_text,
        output=output,
        error=error,
        confirmation_request=request,
    )


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


def _output(response: ToolCallResponse) -> ToolOutput:
    display = response.result_display
    if isinstance(display, dict):
        if {"fileDiff", "newContent"} <= display.keys():
            return ToolOutput(diff=_diff(display))
        return ToolOutput(structured_data=display)
    if display is None:
        parts = [part.get("functionResponse", {}) for part in response.response_parts]
        return ToolOutput(structured_data={"responses": [each.get("response") for each in parts]})
    return ToolOutput(text=text_of(display))


def _error(response: ToolCallResponse) -> ErrorDetails:
    return ErrorDetails(
        message=response.error or text_of(response.result_display) or "The tool failed.",
        type=None if response.error_type is None else str(response.error_type),
    )


def _question(details: ConfirmationDetails, directory: Any, *, always: bool) -> ConfirmationRequest:
    kind, fields = details.type, details.fields
    beyond = _BEYOND_ONCE.get(kind, ()) if always else ()
    # The dialect has no field for answers to questions.
    options = (_CANCEL,) if kind == "ask_user" else (_ONCE, *beyond, _CANCEL)
    if kind == "exec":
        execute = ExecuteDetails(
            command=fields["command"],
            working_directory=directory if isinstance(directory, str) else None,
        )
        return ConfirmationRequest(options=options, execute_details=execute)
    if kind == "edit":
        return ConfirmationRequest(options=options, file_edit_details=_diff(fields))
    if kind == "mcp":
        mcp = McpDetails(server_name=fields["serverName"], tool_name=fields["toolName"])
        return ConfirmationRequest(options=options, mcp_details=mcp)
    asked = [each["question"] for each in fields.get("questions", ()) if "question" in each]
    lines = [details.title, str(fields.get("prompt", fields.get("planPath", ""))), *asked]
    generic = GenericDetails(description="\n".join(filter(None, lines)))
    return ConfirmationRequest(options=options, generic_details=generic)


def _diff(fields: Mapping[str, Any]) -> FileDiff:
    return FileDiff(
        file_name=fields.get("fileName") or "",
        file_path=fields.get("filePath") or "",
        old_content=fields.get("originalContent"),
        new_content=fields["newContent"],
        formatted_diff=fields["fileDiff"],
    )
