"""`LegacyAgentProtocol`: the agent loop of the hand-written core, behind `AgentProtocol`.

Source: core `agent/legacy-agent-session.ts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

from agent_protocol.agent import AgentSend, MessageSend
from agent_protocol.errors import UnsupportedSend
from agent_protocol.event_log import EventLog
from runtimes.legacy import events as server
from runtimes.legacy.client import GeminiClient
from runtimes.legacy.translate import StreamTranslator
from services.background import BackgroundTasks
from services.bundle import Services
from services.chat import AgentStream, StreamingAgent, TurnLimit
from services.history.transforms import EMPTY_ANSWER_NUDGE
from services.presentation.content import content_to_parts
from services.presentation.finish import end_reason, end_reason_of_calls
from services.scheduler.calls import CompletedToolCall, ToolCallRequest
from services.wire import Part, js_trim

__all__ = ["LegacyAgentProtocol"]

_ENDS_FAILED = (server.ModelFailed, server.InvalidStream, server.ContextWindowWillOverflow)
_ENDED_ITSELF = (server.UserCancelled, server.MaxSessionTurns, server.AgentExecutionStopped)


class LegacyAgentProtocol(StreamingAgent):
    """One agent over a client's conversation; one stream at a time."""

    def __init__(
        self,
        services: Services,
        client: GeminiClient,
        tasks: BackgroundTasks,
        prompt_id: str,
    ) -> None:
        super().__init__(tasks)
        self._services = services
        self._client = client
        self._prompt_id = prompt_id

    async def send(self, payload: AgentSend) -> str | None:
        """Start a stream with a user's message.

        Raises:
            UnsupportedSend: anything but a message.
            StreamActive: a stream is running.
        """
        if not isinstance(payload, MessageSend):
            raise UnsupportedSend(
                "LegacyAgentSession.send() only supports message sends for the moment."
            )
        self._refuse_second("LegacyAgentSession")
        self._stream = stream = _Stream(self._services, self._client, self._log, self._prompt_id)
        stream.emit_user_message(payload)
        parts, shown = content_to_parts(payload.content), payload.display_content
        return self._start(
            stream,
            lambda: stream.loop(parts, shown),
            name=f"legacy stream {stream.id}",
            after=self._services.steering.main.stream_ended,
        )


class _Stream(AgentStream):
    """One send's stream: its translator, and its loop of turns."""

    def __init__(
        self, services: Services, client: GeminiClient, log: EventLog, prompt_id: str
    ) -> None:
        self._translator = StreamTranslator(services.ids.uuid("stream"), clock=services.clock)
        super().__init__(self._translator, log)
        self._services = services
        self._client = client
        self._prompt_id = prompt_id

    def emit_user_message(self, payload: MessageSend) -> None:
        self.emit(self._translator.user_message(payload))

    async def loop(self, parts: list[Part], display_content: str | None) -> None:
        """Run turns until one of them ends the stream."""
        signal = self.controller.signal
        limit = TurnLimit(self._services.settings.max_session_turns)
        after_tools = False
        shown = [{"text": display_content}] if display_content is not None else None
        while True:
            ends = limit.turn_started()
            if ends is not None:
                return self.end("max_turns", ends)
            turn = await self._turn(parts, shown)
            shown = None
            if turn is None:
                return None
            if signal.aborted:
                return self.end("aborted")
            if not turn.requests:
                if after_tools and not turn.visible_text:
                    parts, after_tools = [{"text": EMPTY_ANSWER_NUDGE}], False
                    continue
                return self.end(end_reason(turn.finish_reason))
            completed = await self._services.scheduler.schedule(turn.requests, signal)
            if signal.aborted:
                return self.end("aborted")
            parts = self._answer(completed)
            reason = end_reason_of_calls(completed)
            if reason is not None:
                return self.end(reason)
            parts = self._services.steering.main.before_answers(parts)
            after_tools = bool(completed)

    async def _turn(self, parts: list[Part], shown: list[Part] | None) -> _TurnOutcome | None:
        """Run one client turn; `None` when the stream has ended with it."""
        outcome = _TurnOutcome()
        async with aclosing(
            self._client.send_message_stream(
                parts, self.controller.signal, self._prompt_id, display_content=shown
            )
        ) as events:
            async for event in events:
                if self.controller.signal.aborted:
                    self.end("aborted")
                    return None
                outcome.take(event)
                self.emit(*self._translator.translate(event))
                if isinstance(event, _ENDS_FAILED):
                    self.end("failed")
                    return None
                if isinstance(event, _ENDED_ITSELF):
                    return None
        return outcome

    def _answer(self, completed: Sequence[CompletedToolCall]) -> list[Part]:
        """Emit and record the completed calls; returns the parts that answer them."""
        for call in completed:
            self.emit(self._translator.tool_response(call))
        self._client.chat.record_tool_calls(self._client.recording_model, completed)
        return [part for call in completed for part in call.response.response_parts]


class _TurnOutcome:
    """The outcome of a turn for the loop."""

    def __init__(self) -> None:
        self.requests: list[ToolCallRequest] = []
        self.finish_reason: str | None = None
        self.visible_text = False

    def take(self, event: server.ServerEvent) -> None:
        if isinstance(event, server.ToolCallRequested):
            self.requests.append(event.request)
        elif isinstance(event, server.ContentText):
            self.visible_text = self.visible_text or bool(js_trim(event.text))
        elif isinstance(event, server.Finished):
            self.finish_reason = event.reason
