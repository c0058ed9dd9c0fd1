"""The values a tool call goes through. Source: core `scheduler/types.ts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agent_protocol.events import ToolDisplay
from services.tools.contract import ConfirmationOutcome, Tool, ToolErrorType, ToolInvocation
from services.wire import Json, JsonObject, Part

__all__ = ["CallStatus", "CompletedToolCall", "ToolCallRequest", "ToolCallResponse"]


class CallStatus(StrEnum):
    """Where a call is; the last three are terminal."""

    VALIDATING = "validating"
    SCHEDULED = "scheduled"
    EXECUTING = "executing"
    AWAITING_APPROVAL = "awaiting_approval"
    SUCCESS = "success"
    ERROR = "error"
    CANCELLED = "cancelled"

    @property
    def terminal(self) -> bool:
        """True when nothing follows."""
        return self in (CallStatus.SUCCESS, CallStatus.ERROR, CallStatus.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRequest:
    """A call that the model requests. `call_id` is `<name>__<raw id>`."""

    call_id: str
    name: str
    args: JsonObject
    prompt_id: str
    is_client_initiated: bool = False
    display: ToolDisplay | None = None
    original_request_name: str | None = None
    original_request_args: JsonObject | None = None
    parent_call_id: str | None = None
    input_modified_by_hook: bool = False
    """`args` come from a hook; the result for the model says so."""
    tails: int = 0
    """How many calls before it hooks have replaced, each by the next one."""
    tool: Tool | None = None
    """Runs the call in place of a tool of the registry; the policy still decides."""

    @property
    def shown_name(self) -> str:
        """The name the model knows this call by (tail calls keep the first one's)."""
        return self.original_request_name or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallResponse:
    """The response to a call. `content_length` counts the UTF-16 units that the model gets."""

    call_id: str
    response_parts: tuple[Part, ...]
    result_display: Json | None = None
    error: str | None = None
    """The error's message; `None` for a success and for a cancelled call."""
    error_type: ToolErrorType | None = None
    output_file: str | None = None
    content_length: int | None = None
    data: Mapping[str, Any] | None = None
    display: ToolDisplay | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedToolCall:
    """A call that reached `success`, `error` or `cancelled`."""

    request: ToolCallRequest
    response: ToolCallResponse
    status: CallStatus
    tool: Tool | None = None
    invocation: ToolInvocation | None = None
    outcome: ConfirmationOutcome | None = None
    duration_ms: int | None = None
