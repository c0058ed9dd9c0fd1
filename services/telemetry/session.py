"""`SessionTelemetry`: combines the parts of a session's telemetry."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

from agent_protocol.agent import AgentProtocol
from agent_protocol.events import AgentEvent, AgentStart, ErrorEvent
from services.availability.switching import FallbackActivated
from services.message_bus import MessageBus
from services.model.metering import ModelCallObserver
from services.scheduler.calls import CompletedToolCall
from services.scheduler.completions import on_completed_calls
from services.scheduler.execution import RunCall
from services.state import (
    ApprovalMode,
    ApprovalModeChanged,
    CoreEvent,
    CoreEvents,
    RetryAttempt,
)
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

__all__ = ["SessionTelemetry"]

_INVALID_STREAM: Final = "INVALID_STREAM"
_INVALID_ANSWERS: Final = frozenset(
    {
        "MAX_TOKENS_EXCEEDED",
        "SAFETY_BLOCKED",
        "RECITATION_BLOCKED",
        "OTHER_BLOCKED",
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "NO_FINISH_REASON",
        "THINKING_ONLY_RESPONSE",
        "NO_RESPONSE_TEXT",
    }
)
"""Why a response was invalid; see `services.model.stream`."""
_ERROR_TYPE: Final = re.compile(r"[A-Za-z_][\w.]{0,63}")
"""The form of an error's name; a notice of a retry may have a message instead."""


class SessionTelemetry:
    """The `Telemetry` of a session that is measured."""

    def __init__(
        self,
        recorder: Recorder,
        log: EventLog,
        api: ApiLog,
        export_metrics: Callable[[], None],
    ) -> None:
        self.export_metrics = export_metrics
        self.model_calls: tuple[ModelCallObserver, ...] = (ModelCallSpans(recorder), api)
        self._recorder = recorder
        self._log = log
        self._mode = ApprovalMode.DEFAULT
        self._mode_since_ms = recorder.now_ms()
        self._invalid_answers = 0
        """The number of consecutive invalid responses in this turn."""
        self._tools = ToolSpans(recorder)
        self._subagents = SubagentSpans(recorder, log)

    def watch(self, events: CoreEvents, bus: MessageBus, mode: ApprovalMode) -> None:
        """Record events and completed tool calls from now on."""
        self._mode, self._mode_since_ms = mode, self._recorder.now_ms()
        events.subscribe(self._notice)
        events.subscribe(self._log.notice)
        on_completed_calls(bus, self._tools.count)
        on_completed_calls(bus, self._ended)

    @guarded
    def fell_back(self, fallback: FallbackActivated) -> None:
        """Add an event to the current span, and count the fallback."""
        attributes: dict[str, Any] = {names.FALLBACK_MODEL: fallback.model}
        if fallback.failed_model is not None:
            attributes[names.FAILED_MODEL] = fallback.failed_model
        self._recorder.event(names.FALLBACK_EVENT, attributes)
        self._recorder.instruments.fallbacks.add(1, attributes)
        self._log.record("gemini_cli.flash_fallback", "Switching to flash as Fallback.", {})

    def tools(self, run: RunCall) -> RunCall:
        """Return `run`, measured."""
        return self._tools.around(run)

    async def subagent(
        self, name: str, description: str, run: Callable[[], Awaitable[ToolResult]]
    ) -> ToolResult:
        """Await and measure `run`, a run of the subagent `name`."""
        return await self._subagents.measured(name, description, run)

    def agent(self, agent: AgentProtocol) -> AgentProtocol:
        """Return `agent` with measured turns."""
        agent.subscribe(self._follow)
        return MeasuredAgent(agent, self._recorder)

    @guarded
    def close(self) -> None:
        """Log the duration of the last approval mode, at the session's end."""
        self._log_mode_duration()

    def _mode_changed(self, mode: ApprovalMode) -> None:
        self._log_mode_duration()
        self._log.record(
            "gemini_cli.plan.approval_mode_switch",
            f"Approval mode switched from {self._mode} to {mode}.",
            {"from_mode": str(self._mode), "to_mode": str(mode)},
        )
        self._mode = mode

    def _log_mode_duration(self) -> None:
        now_ms = self._recorder.now_ms()
        duration, self._mode_since_ms = now_ms - self._mode_since_ms, now_ms
        if duration > 0:
            self._log.record(
                "gemini_cli.plan.approval_mode_duration",
                f"Approval mode {self._mode} was active for {duration}ms.",
                {"mode": str(self._mode), "duration_ms": duration},
            )

    def _log_content_retry(self, event: RetryAttempt) -> None:
        self._invalid_answers = event.attempt
        self._log.record(
            "gemini_cli.chat.content_retry",
            f"Content retry attempt {event.attempt - 1} due to {event.error}.",
            {
                # The core counts these attempts, and only these, from 0.
                "attempt_number": event.attempt - 1,
                "error_type": event.error,
                "retry_delay_ms": event.delay_ms,
                "model": event.model,
            },
        )

    @guarded
    def _follow(self, event: AgentEvent) -> None:
        if isinstance(event, AgentStart):
            self._invalid_answers = 0
        if not isinstance(event, ErrorEvent) or (event.meta or {}).get("code") != _INVALID_STREAM:
            return
        attempts = self._invalid_answers + 1
        self._log.record(
            "gemini_cli.chat.content_retry_failure",
            f"All content retries failed after {attempts} attempts.",
            {"total_attempts": attempts, "final_error_type": (event.meta or {}).get("errorType")},
        )

    @guarded
    def _ended(self, call: CompletedToolCall) -> None:
        log_tool_call(self._log, call)

    @guarded
    def _notice(self, event: CoreEvent) -> None:
        if isinstance(event, ApprovalModeChanged):
            self._mode_changed(event.mode)
        if not isinstance(event, RetryAttempt):
            return
        if event.error in _INVALID_ANSWERS:
            self._log_content_retry(event)
            return
        known = _ERROR_TYPE.fullmatch(event.error) is not None
        kind = event.error if known else names.OTHER_ERROR
        logged = event.error if self._log.content else kind
        attributes: dict[str, Any] = {
            names.REQUEST_MODEL: event.model,
            names.ERROR_TYPE: kind,
        }
        self._recorder.instruments.retries.add(1, attributes)
        self._log.record(
            names.RETRY_EVENT,
            f"Network retry attempt {event.attempt}/{event.max_attempts} for {event.model}. "
            f"Delay: {event.delay_ms:g}ms. Error type: {logged}",
            {
                "attempt": event.attempt,
                "max_attempts": event.max_attempts,
                "error_type": logged,
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
