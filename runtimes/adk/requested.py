"""From a function call of the model's to the request that the scheduler gets."""

from __future__ import annotations

from services.chat import request_display
from services.model.stream import call_name
from services.scheduler.calls import ToolCallRequest
from services.tools.registry import ToolRegistry
from services.wire import JsonObject

__all__ = ["tool_call_request"]


def tool_call_request(
    tools: ToolRegistry, prompt_id: str, call: JsonObject, response_id: str | None
) -> ToolCallRequest:
    """The request of `call`; `response_id` is that of its chunk."""
    name, args = call_name(call), call.get("args") or {}
    return ToolCallRequest(
        call_id=call.get("id") or "",
        name=name,
        args=args,
        prompt_id=prompt_id,
        trace_id=response_id,
        display=request_display(tools, name, args),
    )
