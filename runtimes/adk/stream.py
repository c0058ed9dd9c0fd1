"""One send's stream as its client sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.adk.events.event import Event

from agent_protocol.agent import MessageSend
from agent_protocol.content import ContentPart, TextPart
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEvent, Message
from runtimes.adk.notes import LOOP_DETECTED, Stopped, ToolsDone, note_of
from runtimes.adk.numbered import NumberedEvents
from runtimes.adk.run import Run
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
    """The stream of a conversation's send: the user's message, and what ADK's events become."""

    def __init__(self, services: Services, log: EventLog) -> None:
        stream_id = services.ids.uuid("stream")
        self.translator = EventTranslator(stream_id, clock=services.clock, tools=services.tools)
        super().__init__(stream_id, self.translator, log)

    def emit_user_message(self, payload: MessageSend) -> None:
        """Emit the user's message, as it is to be shown."""
        content: tuple[ContentPart, ...] = payload.content
        if payload.display_content:
            content = (TextPart(text=payload.display_content),)
        self.emit(
            Message(**self.translator.fields(), role="user", content=content, meta=payload.meta)
        )

    def read(self, event: Event, run: Run) -> bool:
        """Emit what an ADK event becomes; return whether the invocation goes on.

        As upstream's loop does, the reader looks at the signal before it takes in a part of the
        model's stream, and before each agent event. Results of tools and a send's own limit are
        emitted after an abort too.

        Raises:
            AbortError: the user has aborted; nothing more of the event is emitted.
        """
        note, check = note_of(event), run.signal.raise_if_aborted
        if event.error_code == LOOP_DETECTED and event.partial:
            # The model's stream is off already: its end is the invocation's, aborted or not.
            if run.signal.aborted:
                return True
            for error in self.translator.translate(event):
                run.step.loop_emitted = True
                self.emit(error)
            return True
        if isinstance(note, ToolsDone) or (isinstance(note, Stopped) and note.whatever_happens):
            check = _nothing
        elif event.partial:
            check()
        for agent_event in self.translator.translate(event, check):
            self.emit(agent_event)
        return not self.ended


def _nothing() -> None:
    """Emit in any case."""
