"""A child's stream of events.

Source: core `agents/local-subagent-protocol.ts`.
"""

from __future__ import annotations

from agent_protocol.event_log import EventLog
from runtimes.adk.numbered import NumberedEvents
from runtimes.adk.stream import OpenStream
from services.bundle import Services
from services.presentation.errors import unexpected_error
from services.subagents.activity import SubagentActivity
from services.subagents.activity_events import activity_event

__all__ = ["ChildStream"]


class ChildStream(OpenStream):
    """The one stream of a child."""

    def __init__(self, services: Services, log: EventLog) -> None:
        self._ids = services.ids
        stream_id = services.ids.uuid("stream")
        super().__init__(stream_id, NumberedEvents(stream_id, clock=services.clock), log)

    def emit_activity(self, activity: SubagentActivity) -> None:
        """Emit the event of an activity."""
        fields = self._events.fields()
        self.emit(activity_event(activity, fields, lambda: self._ids.uuid("call")))

    def fail(self, error: Exception) -> None:
        """Emit what ended the run, and the end."""
        self.emit(self._events.error(unexpected_error(error)))
        self.end("failed")
