"""The record of a tool call that has ended. Source: core `telemetry/types.ts` (`ToolCallEvent`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from services.scheduler.call_facts import call_metadata, decision_of
from services.scheduler.calls import CallStatus, CompletedToolCall
from services.telemetry import names
from services.telemetry.event_log import EventLog
from services.tools.contract import as_server_tool

__all__ = ["log_tool_call"]

_COUNTED: Final = frozenset(
    f"{who}_{what}_{unit}"
    for who in ("model", "user")
    for what in ("added", "removed")
    for unit in ("lines", "chars")
)
"""The metadata of a call that is recorded even without content."""


def log_tool_call(log: EventLog, call: CompletedToolCall) -> None:
    """Log `call`."""
    success, duration = call.status is CallStatus.SUCCESS, call.duration_ms or 0
    decision = None if call.outcome is None else decision_of(call.outcome)
    server = None if call.tool is None else as_server_tool(call.tool)
    error, kind = call.response.error, None
    if error and call.response.error_type is not None:
        kind = str(call.response.error_type)
    if error and not log.content:
        # The message can quote the user.
        error = kind or names.OTHER_ERROR
    attributes: dict[str, Any] = {
        "function_name": call.request.name,
        "duration_ms": duration,
        "success": success,
        "decision": decision,
        "prompt_id": call.request.prompt_id,
        "tool_type": "native" if server is None else "mcp",
        "content_length": call.response.content_length,
        "mcp_server_name": None if server is None else server.server_name,
        "error": error or None,
        "error.message": error or None,
        "error_type": kind,
        "error.type": kind,
    }
    metadata = call_metadata(call)
    if not log.content:
        metadata = {key: value for key, value in metadata.items() if key in _COUNTED}
    attributes["metadata"] = metadata or None
    decided = "" if decision is None else f" Decision: {decision}."
    words = f"Success: {str(success).lower()}. Duration: {duration}ms."
    log.record(
        "gemini_cli.tool_call",
        f"Tool call: {call.request.name}.{decided} {words}",
        attributes,
        {"function_args": _as_object(call.request.args)},
    )


def _as_object(args: Any) -> Any:
    return args if isinstance(args, Mapping) else None
