"""A child's stream of events.

Source: core `agents/local-subagent-protocol.ts`.
"""

from __future__ import annotations

from agent_protocol.events import AgentEvent
from services.bundle import Services
from services.chat import NumberedEvents
from services.subagents.activity import SubagentActivity
from services.subagents.activity_events import activity_event

__all__ = ["ChildTranslator"]


class ChildTranslator(NumberedEvents):
    """Translates one stream."""

    def __init__(self, stream_id: str, services: Services) -> None:
        super().__init__(stream_id, clock=services.clock)
        self._ids = services.ids

    def translate(self, activity: SubagentActivity) -> AgentEvent:
        """The event that stands for an activity."""
        return activity_event(activity, self.fields(), lambda: self._ids.uuid("call"))
