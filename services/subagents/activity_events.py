"""Converts a subagent's activities to events of its protocol.

Both runtimes report the same activities; each runtime's stream emits and numbers the events.

Source: core `agents/local-subagent-protocol.ts` (`_translateActivity`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_protocol.content import TextPart, ThoughtPart
from agent_protocol.events import AgentEvent, ErrorEvent, Message, ToolRequest, ToolResponse
from services.subagents.activity import ActivityType, SubagentActivity
from services.wire import js_text

__all__ = ["activity_event"]


def activity_event(activity: SubagentActivity, fields: Mapping[str, Any]) -> AgentEvent:
    """Return the event of an activity.

    Args:
        activity: the activity.
        fields: id, stream and timestamp of the stream's next event.
    """
    data = activity.data
    match activity.type:
        case ActivityType.THOUGHT_CHUNK:
            thought = ThoughtPart(thought=data["text"])
            return Message(**fields, role="agent", content=(thought,))
        case ActivityType.TOOL_CALL_START:
            return ToolRequest(
                **fields,
                request_id=data["callId"],
                name=data.get("name", "unknown"),
                args=data["args"],
            )
        case ActivityType.TOOL_CALL_END:
            output = data.get("output")
            return ToolResponse(
                **fields,
                request_id=data["id"],
                name=data["name"],
                content=(TextPart(text="" if output is None else js_text(output)),),
            )
        case ActivityType.ERROR:
            return ErrorEvent(**fields, status="INTERNAL", message=data["error"], fatal=False)
