"""`SessionTelemetry`: the parts of a session's telemetry, put together."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

from agent_protocol.agent import AgentProtocol
from services.availability.switching import FallbackActivated
from services.message_bus import MessageBus
from services.model.metering import ModelCall, ModelCallObserver
from services.scheduler.calls import CompletedToolCall
from services.scheduler.completions import on_completed_calls
from services.scheduler.execution import RunCall
from services.state import CoreEvent, CoreEvents, RetryAttempt
from services.telemetry import names
from services.telemetry.agent_spans import SubagentSpans
from services.telemetry.api_log import ApiLog
from services.telemetry.event_log import EventLog
from services.telemetry.model_spans import ModelCallSpans
from services.telemetry.recorder import Recorder, guarded
from services.telemetry.tool_log import log_tool_call
from services.telemetry.tool_spans import ToolSpans
from services.telemetry.turn_spans import MeasuredAgent
from services.tools.contract import ToolResult
from services.wire import JsonObject

__all__ = ["SessionTelemetry"]

_ERROR_TYPE: Final = re.compile(r"[A-Za-z_][\w.]{0,63}")
"""What can be the name of a kind of error. Notices of retries may carry a message instead."""


class _Observers:
    """Several observers of model calls as one; they are notified in their order."""

    def __init__(self, *observers: ModelCallObserver) -> None:
        self._observers = observers

    def call_began(self, call: ModelCall) -> None:
        for observer in self._observers:
            observer.call_began(call)

    def call_received(self, call: ModelCall, response: JsonObject) -> None:
        for observer in self._observers:
            observer.call_received(call, response)

    def call_ended(self, call: ModelCall) -> None:
        for observer in self._observers:
            observer.call_ended(call)


class SessionTelemetry:
    """The `Telemetry` of a session that is measured."""

    def __init__(self, recorder: Recorder, log: EventLog, api: ApiLog) -> None:
        self.model_calls: ModelCallObserver = _Observers(ModelCallSpans(recorder), api)
        self._recorder = recorder
        self._log = log
        self._tools = ToolSpans(recorder)
        self._subagents = SubagentSpans(recorder)

    def watch(self, events: CoreEvents, bus: MessageBus) -> None:
        """Take down retries, and the tool calls that end, from now on."""
        events.subscribe(self._notice)
        events.subscribe(self._log.notice)
        on_completed_calls(bus, self._tools.count)
        on_completed_calls(bus, self._ended)

    @guarded
    def fell_back(self, fallback: FallbackActivated) -> None:
        """Note it in the turn, or in the tool, in which it happened, and count it."""
        attributes: dict[str, Any] = {names.FALLBACK_MODEL: fallback.model}
        if fallback.failed_model is not None:
            attributes[names.FAILED_MODEL] = fallback.failed_model
        self._recorder.event(names.FALLBACK_EVENT, attributes)
        self._recorder.instruments.fallbacks.add(1, attributes)
        self._log.record("gemini_cli.flash_fallback", "Switching to flash as Fallback.", {})

    def tools(self, run: RunCall) -> RunCall:
        """`run`, measured."""
        return self._tools.around(run)

    async def subagent(
        self, name: str, description: str, run: Callable[[], Awaitable[ToolResult]]
    ) -> ToolResult:
        """What `run`, a run of the subagent called `name`, returns; measured."""
        return await self._subagents.measured(name, description, run)

    def agent(self, agent: AgentProtocol) -> AgentProtocol:
        """`agent`, its turns measured."""
        return MeasuredAgent(agent, self._recorder)

    @guarded
    def _ended(self, call: CompletedToolCall) -> None:
        log_tool_call(self._log, call)

    @guarded
    def _notice(self, event: CoreEvent) -> None:
        if not isinstance(event, RetryAttempt):
            return
        known = _ERROR_TYPE.fullmatch(event.error) is not None
        attributes: dict[str, Any] = {
            names.REQUEST_MODEL: event.model,
            names.ERROR_TYPE: event.error if known else names.OTHER_ERROR,
        }
        self._recorder.instruments.retries.add(1, attributes)
        self._log.record(
            names.RETRY_EVENT,
            f"Network retry attempt {event.attempt}/{event.max_attempts} for {event.model}. "
            f"Delay: {event.delay_ms:g}ms. Error type: {event.error}",
            {
                "attempt": event.attempt,
                "max_attempts": event.max_attempts,
                "error_type": event.error,
                "delay_ms": event.delay_ms,
                "model": event.model,
            },
        )
        self._recorder.event(
            names.RETRY_EVENT,
            {
                **attributes,
                names.RETRY_ATTEMPT: event.attempt,
                names.RETRY_MAX_ATTEMPTS: event.max_attempts,
                names.RETRY_DELAY_MS: float(event.delay_ms),
            },
        )
