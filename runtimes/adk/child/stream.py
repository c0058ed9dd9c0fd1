"""A child's activities as the events of its stream.

Source: core `agents/local-subagent-protocol.ts` (`_translateActivity`, `mapTerminateMode`).
"""

from __future__ import annotations

from agent_protocol.content import TextPart, ThoughtPart
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEvent, Message, ToolRequest, ToolResponse
from runtimes.adk.numbered import NumberedEvents
from runtimes.adk.stream import OpenStream
from services.bundle import Services
from services.hooks.values import js_text
from services.presentation.errors import ErrorFields, unexpected_error
from services.subagents.activity import ActivityType, SubagentActivity
from services.wire import Json

__all__ = ["ChildStream"]


class ChildStream(OpenStream):
    """The one stream of a child."""

    def __init__(self, services: Services, log: EventLog) -> None:
        self._ids = services.ids
        stream_id = services.ids.uuid("stream")
        super().__init__(stream_id, NumberedEvents(stream_id, clock=services.clock), log)

    def tell(self, activity: SubagentActivity) -> None:
        """Emit the event of an activity."""
        self.emit(self._event(activity))

    def fail(self, error: Exception) -> None:
        """Emit what ended the run, and the end."""
        self.emit(self._events.error(unexpected_error(error)))
        self.end("failed")

    def _event(self, activity: SubagentActivity) -> AgentEvent:
        data, fields = activity.data, self._events.fields
        match activity.type:
            case ActivityType.THOUGHT_CHUNK:
                thought = ThoughtPart(thought=_text(data.get("text")))
                return Message(**fields(), role="agent", content=(thought,))
            case ActivityType.TOOL_CALL_START:
                args = data.get("args")
                return ToolRequest(
                    **fields(),
                    request_id=self._call_id(data.get("callId")),
                    name=_text(data.get("name"), "unknown"),
                    args=args if isinstance(args, dict) else {},
                )
            case ActivityType.TOOL_CALL_END:
                return ToolResponse(
                    **fields(),
                    request_id=self._call_id(data.get("id")),
                    name=_text(data.get("name"), "unknown"),
                    content=(TextPart(text=_text(data.get("output"))),),
                )
            case ActivityType.ERROR:
                message = _text(data.get("error"), "Unknown error")
                return self._events.error(
                    ErrorFields(status="INTERNAL", message=message, fatal=False)
                )

    def _call_id(self, given: Json) -> str:
        return self._ids.uuid("call") if given is None else js_text(given)


def _text(value: Json, otherwise: str = "") -> str:
    return otherwise if value is None else js_text(value)
