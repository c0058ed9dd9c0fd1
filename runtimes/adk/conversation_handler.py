"""The sends of a conversation: what a message starts, how it goes on, how it fails."""

from __future__ import annotations

from dataclasses import dataclass

from google.adk.events.event import Event

from agent_protocol.agent import AgentSend, MessageSend
from agent_protocol.errors import StreamActive, UnsupportedSend
from agent_protocol.event_log import EventLog
from runtimes.adk.continuation import Continuation
from runtimes.adk.conversation import Conversation
from runtimes.adk.plugins.limits import MaxTurnsAdkPlugin
from runtimes.adk.run import End, Run
from runtimes.adk.send import Invoke
from runtimes.adk.stream import Stream
from services.abort import AbortError
from services.bundle import Services
from services.model.errors import (
    EmptyMessageError,
    InvalidStreamError,
    UnauthorizedError,
    error_message,
    friendly_error,
)
from services.presentation.content import content_to_parts
from services.presentation.errors import StructuredError, map_error, unexpected_error

__all__ = ["ConversationHandler"]


@dataclass
class ConversationHandler:
    """Takes the messages of one conversation, one at a time."""

    _services: Services
    _conversation: Conversation
    _continuation: Continuation
    _max_turns: MaxTurnsAdkPlugin
    _prompt_id: str
    """Fixed for the agent's life."""

    def take(self, payload: AgentSend, log: EventLog, *, busy: bool) -> ConversationSend:
        """Start a stream with a user's message.

        Raises:
            UnsupportedSend: anything but a message.
            StreamActive: a stream is running.
        """
        if not isinstance(payload, MessageSend):
            raise UnsupportedSend(
                "AdkAgentProtocol.send() only supports message sends for the moment."
            )
        if busy:
            raise StreamActive("AdkAgentProtocol.send() cannot be called while a stream is active.")
        self._max_turns.send_started()
        stream = Stream(self._services, log)
        run = Run(
            prompt_id=self._prompt_id,
            signal=stream.controller.signal,
            display_content=payload.display_content,
            hooks=self._conversation.hooks,
        )
        return ConversationSend(stream, run, payload, self._conversation, self._continuation)


@dataclass(frozen=True, slots=True)
class ConversationSend:
    """One message of the user."""

    stream: Stream
    _run: Run
    _payload: MessageSend
    _conversation: Conversation
    _continuation: Continuation

    def announce(self) -> None:
        """Emit the user's message."""
        self.stream.emit_user_message(self._payload)

    async def drive(self, invoke: Invoke) -> None:
        """The message, and the requests that follow from it."""
        stream, run = self.stream, self._run
        parts = content_to_parts(self._payload.content)
        while True:
            try:
                await invoke(run, {"role": "user", "parts": parts}, self._read)
            except Exception as error:
                if error is not run.step.failure:
                    raise
                run.signal.raise_if_aborted()
                self._emit_failure(stream, error)
            if stream.ended:
                return
            after = await self._continuation.after(stream, run)
            if isinstance(after, End):
                stream.end(after.reason, after.data)
                return
            parts = after

    def failed(self, error: Exception) -> None:
        """Emit the error and the end, unless the user has aborted."""
        stream = self.stream
        if self._run.signal.aborted or isinstance(error, AbortError):
            stream.end("aborted")
        else:
            stream.emit(stream.translator.error(unexpected_error(error)))
            stream.end("failed")

    async def over(self) -> None:
        """Leave what the send has entered."""
        self._run.calls.abandon()

    def dropped(self) -> None:
        """Nothing: the send has entered nothing."""

    def _read(self, event: Event) -> bool:
        return self.stream.read(event, self._run)

    def _emit_failure(self, stream: Stream, error: Exception) -> None:
        if isinstance(error, EmptyMessageError):
            raise error
        if isinstance(error, InvalidStreamError):
            stream.emit(stream.translator.invalid_stream(error.type, str(error)))
        else:
            friendly = friendly_error(error)
            if isinstance(friendly, UnauthorizedError):
                raise friendly
            status = getattr(friendly, "status", None)
            structured = StructuredError(
                message=error_message(friendly),
                status=status if isinstance(status, int) else None,
            )
            stream.emit(stream.translator.error(map_error(structured)))
        stream.end("failed")
