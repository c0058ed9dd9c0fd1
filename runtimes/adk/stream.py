"""One send's stream as its client sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_protocol.agent import MessageSend
from agent_protocol.content import ContentPart, TextPart
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEvent, Message
from runtimes.adk.numbered import NumberedEvents
from runtimes.adk.translate import EventTranslator
from services.abort import AbortController
from services.bundle import Services

__all__ = ["OpenStream", "Stream"]


class OpenStream:
    """Stores and delivers the events of one send; one `agent_end` and nothing after it."""

    def __init__(self, stream_id: str, events: NumberedEvents, log: EventLog) -> None:
        self.id = stream_id
        self.controller = AbortController()
        self.active = True
        self.ended = False
        self._events = events
        self._log = log

    def start(self) -> None:
        """Emit `agent_start`."""
        self.emit(self._events.start())

    def emit(self, event: AgentEvent) -> None:
        """Store and deliver one event."""
        self.ended = self.ended or event.type == "agent_end"
        self._log.emit((event,))

    def end(self, reason: str, data: Mapping[str, Any] | None = None) -> None:
        """Emit `agent_end`, unless the stream has had its one."""
        if not self.ended:
            self.emit(self._events.end(reason, data))
        self.active = False


class Stream(OpenStream):
    """A send of a conversation: what the user said, and what ADK's events mean."""

    def __init__(self, services: Services, log: EventLog) -> None:
        stream_id = services.ids.uuid("stream")
        self.translator = EventTranslator(stream_id, clock=services.clock)
        super().__init__(stream_id, self.translator, log)

    def tell_user_message(self, payload: MessageSend) -> None:
        """Emit what the user said, as it is meant to be shown."""
        content: tuple[ContentPart, ...] = payload.content
        if payload.display_content:
            content = (TextPart(text=payload.display_content),)
        self.emit(
            Message(**self.translator.fields(), role="user", content=content, meta=payload.meta)
        )
