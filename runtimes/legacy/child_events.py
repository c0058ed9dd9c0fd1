"""A child's stream of events.

Source: core `agents/local-subagent-protocol.ts`.
"""

from __future__ import annotations

from agent_protocol.events import AgentEnd, AgentEvent, AgentStart, ErrorEvent
from runtimes.legacy.translate import StreamTranslator
from services.bundle import Services
from services.presentation.errors import unexpected_error
from services.subagents.activity import SubagentActivity
from services.subagents.activity_events import activity_event

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

    def translate(self, activity: SubagentActivity) -> AgentEvent:
        """The event that stands for an activity."""
        return activity_event(activity, self._stream.fields(), lambda: self._ids.uuid("call"))
