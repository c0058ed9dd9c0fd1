"""From a function call of the model's to the request that the scheduler gets."""

from __future__ import annotations

from dataclasses import replace

from agent_protocol.events import ToolDisplay
from services.model.stream import call_name
from services.presentation.display import populate_tool_display
from services.scheduler.calls import ToolCallRequest
from services.tools.contract import InvalidToolParams, Tool
from services.tools.registry import ToolRegistry
from services.wire import JsonObject

__all__ = ["request_display", "tool_call_request"]


def tool_call_request(
    tools: ToolRegistry, prompt_id: str, call: JsonObject, response_id: str | None
) -> ToolCallRequest:
    """The request of `call`; `response_id` is that of its chunk."""
    name, args = call_name(call), call.get("args") or {}
    tool = tools.get(name)
    return ToolCallRequest(
        call_id=call.get("id") or "",
        name=name,
        args=args,
        prompt_id=prompt_id,
        trace_id=response_id,
        display=None if tool is None else request_display(tool, name, args),
    )


def request_display(tool: Tool, name: str, args: JsonObject) -> ToolDisplay:
    """How a requested call is shown; a call that cannot be built still has a name."""
    try:
        invocation = tool.build(args)
    except InvalidToolParams:
        invocation = None
    display = populate_tool_display(
        name=name, invocation=invocation, display_name=tool.display_name
    )
    return display if display.description else replace(display, description=tool.description)
