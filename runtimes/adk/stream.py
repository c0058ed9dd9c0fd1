"""One send's stream as its client sees it."""

from __future__ import annotations

from google.adk.events.event import Event

from agent_protocol.agent import MessageSend
from agent_protocol.event_log import EventLog
from runtimes.adk.notes import Looped, Stopped, ToolsDone, note_of
from runtimes.adk.run import Run
from runtimes.adk.translate import EventTranslator
from services.bundle import Services
from services.chat import AgentStream

__all__ = ["Stream"]


class Stream(AgentStream):
    """The stream of a conversation's send: the user's message, and what ADK's events become."""

    def __init__(self, services: Services, log: EventLog) -> None:
        stream_id = services.ids.uuid("stream")
        self.translator = EventTranslator(stream_id, clock=services.clock, tools=services.tools)
        super().__init__(self.translator, log)

    def emit_user_message(self, payload: MessageSend) -> None:
        """Emit the user's message, as it is to be shown."""
        self.emit(self.translator.user_message(payload))

    def read(self, event: Event, run: Run) -> bool:
        """Emit what an ADK event becomes; return whether the invocation goes on.

        As upstream's loop does, the reader looks at the signal before it takes in a part of the
        model's stream, and before each agent event; once for what ends the stream. Results of tools
        and a send's own limit are emitted after an abort too.

        Raises:
            AbortError: the user has aborted; nothing more of the event is emitted.
        """
        note, check = note_of(event), run.signal.raise_if_aborted
        if isinstance(note, Looped):
            # The model's stream is off already: its end is the invocation's, aborted or not.
            if run.signal.aborted:
                return True
            for error in self.translator.translate(event):
                run.step.loop_emitted = True
                self.emit(error)
            return True
        if isinstance(note, Stopped) and not note.whatever_happens:
            check()
        if isinstance(note, (ToolsDone, Stopped)):
            check = _emit_anyway
        for agent_event in self.translator.translate(event, check):
            self.emit(agent_event)
        return not self.ended


def _emit_anyway() -> None:
    """Do not look at the signal."""
