"""`LegacyAgentProtocol`: the agent loop of the hand-written core, behind `AgentProtocol`.

Source: core `agent/legacy-agent-session.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from agent_protocol.agent import AgentProtocol, AgentSend, MessageSend, Subscriber, Unsubscribe
from agent_protocol.errors import StreamActive, UnsupportedSend
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEvent
from runtimes.legacy import events as server
from runtimes.legacy.client import GeminiClient
from runtimes.legacy.translate import StreamTranslator
from services.abort import AbortController, AbortError
from services.background import BackgroundTasks
from services.bundle import Services
from services.chat import MAX_TURNS_EXCEEDED
from services.history.transforms import EMPTY_ANSWER_NUDGE
from services.presentation.content import content_to_parts
from services.presentation.errors import unexpected_error
from services.presentation.finish import end_reason
from services.scheduler.calls import CompletedToolCall, ToolCallRequest
from services.tools.contract import ToolErrorType
from services.wire import Part, js_trim

__all__ = ["LegacyAgentProtocol"]

_ENDS_FAILED = (server.ModelFailed, server.InvalidStream, server.ContextWindowWillOverflow)
_ENDED_ITSELF = (server.UserCancelled, server.MaxSessionTurns, server.AgentExecutionStopped)


class LegacyAgentProtocol(AgentProtocol):
    """One agent over a client's conversation; one stream at a time."""

    def __init__(
        self,
        services: Services,
        client: GeminiClient,
        tasks: BackgroundTasks,
        *,
        prompt_id: str | None = None,
    ) -> None:
        self._services = services
        self._client = client
        self._tasks = tasks
        self._prompt_id = prompt_id or services.state.prompt_id
        self._log = EventLog()
        self._stream: _Stream | None = None

    @property
    def events(self) -> Sequence[AgentEvent]:
        """Everything emitted so far, oldest first."""
        return self._log.events

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        """Call `callback` with every event from now on."""
        return self._log.subscribe(callback)

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
        if self._stream is not None and self._stream.active:
            raise StreamActive(
                "LegacyAgentSession.send() cannot be called while a stream is active."
            )
        stream = _Stream(self._services, self._client, self._log, self._prompt_id)
        self._stream = stream
        stream.emit_user_message(payload)
        self._tasks.start(
            stream.run(content_to_parts(payload.content), payload.display_content),
            name=f"legacy stream {stream.id}",
            unbegun=stream.drop,
        )
        return stream.id

    async def abort(self) -> None:
        """Ask the active stream to end; its `agent_end` follows."""
        if self._stream is not None and self._stream.active:
            self._stream.controller.abort()


class _Stream:
    """One send's stream: its translator, its abort signal, its loop of turns."""

    def __init__(
        self, services: Services, client: GeminiClient, log: EventLog, prompt_id: str
    ) -> None:
        self.id = services.ids.uuid("stream")
        self.controller = AbortController()
        self.active = True
        self._services = services
        self._client = client
        self._log = log
        self._prompt_id = prompt_id
        self._translator = StreamTranslator(self.id, clock=services.clock)
        self._ended = False

    def emit_user_message(self, payload: MessageSend) -> None:
        self._emit(self._translator.user_message(payload))

    async def run(self, parts: list[Part], display_content: str | None) -> None:
        """Drive the stream from `agent_start` to exactly one `agent_end`."""
        self._emit(self._translator.start())
        try:
            await self._loop(parts, display_content)
        except asyncio.CancelledError:
            self._end("aborted")
            raise
        except Exception as error:  # noqa: BLE001 - whatever escaped is the stream's failure
            if self.controller.signal.aborted or isinstance(error, AbortError):
                self._end("aborted")
            else:
                self._emit(self._translator.error(unexpected_error(error)))
                self._end("failed")
        finally:
            self.active = False

    def drop(self) -> None:
        """End the stream without having begun."""
        self._emit(self._translator.start())
        self._end("aborted")

    async def _loop(self, parts: list[Part], display_content: str | None) -> None:
        signal = self.controller.signal
        limit = self._services.settings.max_session_turns
        turns = 0
        after_tools = False
        shown = [{"text": display_content}] if display_content is not None else None
        while True:
            turns += 1
            if 0 <= limit < turns:
                data = {"code": MAX_TURNS_EXCEEDED, "maxTurns": limit, "turnCount": turns - 1}
                return self._end("max_turns", data)
            turn = await self._turn(parts, shown)
            shown = None
            if turn is None:
                return None
            if signal.aborted:
                return self._end("aborted")
            if not turn.requests:
                if after_tools and not turn.visible_text:
                    parts, after_tools = [{"text": EMPTY_ANSWER_NUDGE}], False
                    continue
                return self._end(end_reason(turn.finish_reason))
            completed = await self._services.scheduler.schedule(turn.requests, signal)
            if signal.aborted:
                return self._end("aborted")
            parts = self._answer(completed)
            if any(
                call.response.error_type is ToolErrorType.STOP_EXECUTION
                and call.response.error is not None
                for call in completed
            ):
                return self._end("completed")
            if any(
                call.response.error_type and call.response.error_type.is_fatal for call in completed
            ):
                return self._end("failed")
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
                    self._end("aborted")
                    return None
                outcome.take(event)
                self._emit(*self._translator.translate(event))
                if isinstance(event, _ENDS_FAILED):
                    self._end("failed")
                    return None
                if isinstance(event, _ENDED_ITSELF):
                    self.active = False
                    return None
        return outcome

    def _answer(self, completed: Sequence[CompletedToolCall]) -> list[Part]:
        """Emit and record the completed calls; returns the parts that answer them."""
        parts: list[Part] = []
        for call in completed:
            self._emit(self._translator.tool_response(call))
            parts.extend(call.response.response_parts)
        self._client.chat.record_tool_calls(self._client.recording_model, completed)
        return parts

    def _emit(self, *events: AgentEvent) -> None:
        self._ended = self._ended or any(event.type == "agent_end" for event in events)
        self._log.emit(events)

    def _end(self, reason: str, data: Mapping[str, Any] | None = None) -> None:
        if not self._ended:
            self._emit(self._translator.end(reason, data))
        self.active = False


class _TurnOutcome:
    """What the loop needs to know of a turn that is over."""

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
