"""A span for every turn: one send to an agent, from its `agent_start` to its `agent_end`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opentelemetry.trace import Span

from agent_protocol.agent import AgentProtocol, AgentSend, MessageSend, Subscriber, Unsubscribe
from agent_protocol.events import AgentEnd, AgentEvent, AgentStart
from services.presentation.content import content_to_parts
from services.telemetry import names
from services.telemetry.content import messages
from services.telemetry.recorder import Recorder, Scope, guarded, within

__all__ = ["MeasuredAgent"]

_FAILED = "failed"
_ABORTED = "aborted"


class _Turn(Scope):
    """A send, from the call of the agent's `send`."""

    __slots__ = ("began_ms", "payload")

    def __init__(self, payload: AgentSend, began_ms: int) -> None:
        super().__init__()
        self.payload = payload
        self.began_ms = began_ms


class MeasuredAgent(AgentProtocol):
    """Forwards to an agent and measures its turns.

    All that a send starts belongs to the turn's span, because tasks inherit their context.
    """

    def __init__(self, agent: AgentProtocol, recorder: Recorder) -> None:
        self._agent = agent
        self._recorder = recorder
        self._sent: _Turn | None = None
        self._turns: dict[str | None, _Turn] = {}
        agent.subscribe(self._follow)

    @property
    def events(self) -> Sequence[AgentEvent]:
        """Everything emitted so far, oldest first."""
        return self._agent.events

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        """Call `callback` with every event from now on."""
        return self._agent.subscribe(callback)

    async def send(self, payload: AgentSend) -> str | None:
        """Send `payload` to the agent, in a new turn.

        Raises:
            SendRejected: as the agent's own.
        """
        before, self._sent = self._sent, _Turn(payload, self._recorder.now_ms())
        try:
            with within(self._sent):
                return await self._agent.send(payload)
        except BaseException:
            self._sent = before
            raise

    async def abort(self) -> None:
        """Ask the active stream to end."""
        await self._agent.abort()

    @guarded
    def _follow(self, event: AgentEvent) -> None:
        if isinstance(event, AgentStart) and self._sent is not None:
            turn, self._sent = self._sent, None
            self._turns[event.stream_id] = turn
            turn.span = self._begin(turn)
        elif isinstance(event, AgentEnd):
            ended = self._turns.pop(event.stream_id, None)
            if ended is not None and ended.span is not None:
                self._end(ended, ended.span, event.reason)

    def _begin(self, turn: _Turn) -> Span:
        attributes: dict[str, Any] = {**self._common(), names.PROVIDER: self._recorder.provider}
        payload = turn.payload
        if self._recorder.content and isinstance(payload, MessageSend):
            said = {"role": "user", "parts": content_to_parts(payload.content)}
            attributes[names.INPUT_MESSAGES] = messages([said])
        return self._recorder.begin(
            f"{names.INVOKE_AGENT} {names.AGENT}", attributes, began_ms=turn.began_ms
        )

    def _end(self, turn: _Turn, span: Span, reason: str) -> None:
        ended_ms = self._recorder.now_ms()
        error: dict[str, Any] = {}
        if reason == _ABORTED:
            error[names.ERROR_TYPE] = names.CANCELLED
        elif reason == _FAILED:
            error[names.ERROR_TYPE] = names.OTHER_ERROR
        self._recorder.instruments.turn_duration.record(
            (ended_ms - turn.began_ms) / 1000, {**self._common(), **error}
        )
        attributes = {names.END_REASON: reason, **error}
        self._recorder.end(span, attributes, ended_ms=ended_ms, failed=reason == _FAILED)

    def _common(self) -> dict[str, Any]:
        return {names.OPERATION: names.INVOKE_AGENT, names.AGENT_NAME: names.AGENT}
