"""A child's activities as agent events.

Source: core `agents/local-subagent-protocol.ts` (`_translateActivity`).
"""

from __future__ import annotations

from collections.abc import Iterator

from agent_protocol.content import TextPart, ThoughtPart
from agent_protocol.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    ErrorEvent,
    Message,
    ToolRequest,
    ToolResponse,
)
from runtimes.legacy.translate import StreamTranslator
from services.bundle import Services
from services.hooks.values import js_text
from services.presentation.errors import unexpected_error
from services.subagents.activity import ActivityType, SubagentActivity
from services.wire import Json

__all__ = ["ChildTranslator"]


class ChildTranslator:
    """One stream's translation: its id, its event counter."""

    def __init__(self, stream_id: str, services: Services) -> None:
        self._stream = StreamTranslator(stream_id, services.clock)
        self._ids = services.ids

    def start(self) -> AgentStart:
        """The stream's `agent_start`."""
        return self._stream.start()

    def end(self, reason: str) -> AgentEnd:
        """The stream's `agent_end`."""
        return self._stream.end(reason)

    def failure(self, error: Exception) -> ErrorEvent:
        """What the run raised, from which a client can rebuild the error."""
        mapped = unexpected_error(error)
        return ErrorEvent(
            **self._stream.fields(),
            status=mapped.status,
            message=mapped.message,
            fatal=True,
            meta=mapped.meta,
        )

    def translate(self, activity: SubagentActivity) -> Iterator[AgentEvent]:
        """The event that stands for an activity."""
        data = activity.data
        match activity.type:
            case ActivityType.THOUGHT_CHUNK:
                thought = ThoughtPart(thought=_text(data.get("text"), ""))
                yield Message(**self._stream.fields(), role="agent", content=(thought,))
            case ActivityType.TOOL_CALL_START:
                args = data.get("args")
                yield ToolRequest(
                    **self._stream.fields(),
                    request_id=self._call_id(data.get("callId")),
                    name=_text(data.get("name"), "unknown"),
                    args=args if isinstance(args, dict) else {},
                )
            case ActivityType.TOOL_CALL_END:
                yield ToolResponse(
                    **self._stream.fields(),
                    request_id=self._call_id(data.get("id")),
                    name=_text(data.get("name"), "unknown"),
                    content=(TextPart(text=_text(data.get("output"), "")),),
                )
            case ActivityType.ERROR:
                yield ErrorEvent(
                    **self._stream.fields(),
                    status="INTERNAL",
                    message=_text(data.get("error"), "Unknown error"),
                    fatal=False,
                )

    def _call_id(self, given: Json) -> str:
        return self._ids.uuid("call") if given is None else js_text(given)


def _text(value: Json, default: str) -> str:
    """`String(value ?? default)`."""
    return default if value is None else js_text(value)
