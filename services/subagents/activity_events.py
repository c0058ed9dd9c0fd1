"""Converts a subagent's activities to events of its protocol.

Both runtimes report the same activities; each runtime's stream emits and numbers the events.

Source: core `agents/local-subagent-protocol.ts` (`_translateActivity`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agent_protocol.content import TextPart, ThoughtPart
from agent_protocol.events import AgentEvent, ErrorEvent, Message, ToolRequest, ToolResponse
from services.subagents.activity import ActivityType, SubagentActivity
from services.wire import Json, js_text

__all__ = ["activity_event"]


def activity_event(
    activity: SubagentActivity, fields: Mapping[str, Any], new_id: Callable[[], str]
) -> AgentEvent:
    """Return the event of an activity.

    Args:
        activity: the activity.
        fields: id, stream and timestamp of the stream's next event.
        new_id: makes the id of a call without one.
    """
    data = activity.data

    def call_id(given: Json) -> str:
        return new_id() if given is None else js_text(given)

    match activity.type:
        case ActivityType.THOUGHT_CHUNK:
            thought = ThoughtPart(thought=_text(data.get("text"), ""))
            return Message(**fields, role="agent", content=(thought,))
        case ActivityType.TOOL_CALL_START:
            args = data.get("args")
            return ToolRequest(
                **fields,
                request_id=call_id(data.get("callId")),
                name=_text(data.get("name"), "unknown"),
                args=args if isinstance(args, dict) else {},
            )
        case ActivityType.TOOL_CALL_END:
            return ToolResponse(
                **fields,
                request_id=call_id(data.get("id")),
                name=_text(data.get("name"), "unknown"),
                content=(TextPart(text=_text(data.get("output"), "")),),
            )
        case ActivityType.ERROR:
            message = _text(data.get("error"), "Unknown error")
            return ErrorEvent(**fields, status="INTERNAL", message=message, fatal=False)


def _text(value: Json, default: str) -> str:
    """`String(value ?? default)`."""
    return default if value is None else js_text(value)
