"""A span for every run of a subagent, inside the span of the call that started it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from services.abort import AbortError
from services.telemetry import names
from services.telemetry.event_log import EventLog
from services.telemetry.recorder import Recorder, Scope, guarded, within
from services.tools.contract import ToolResult

__all__ = ["SubagentSpans"]

_UNKNOWN_END: Final = "ERROR"
"""The core's reason for a run that did not end by itself."""


class _Run(Scope):
    """A run of an agent; `run` is its id in the log."""

    __slots__ = ("run",)

    def __init__(self) -> None:
        super().__init__()
        self.run = ""


class SubagentSpans:
    """Measures the runs of a session's subagents."""

    def __init__(self, recorder: Recorder, log: EventLog) -> None:
        self._recorder = recorder
        self._log = log
        self._runs = 0

    async def measured(
        self, agent: str, description: str, run: Callable[[], Awaitable[ToolResult]]
    ) -> ToolResult:
        """Await `run` in a span that contains all that the agent does."""
        scope, began_ms = _Run(), self._recorder.now_ms()
        self._begin(scope, agent, description, began_ms)
        # A run whose task was cancelled has no result.
        reason, error = None, names.CANCELLED
        try:
            with within(scope):
                result = await run()
            reason, error = _reason(result), ""
            return result
        except AbortError:
            raise
        except Exception:
            error = names.OTHER_ERROR
            raise
        finally:
            self._end(scope, agent, began_ms, reason, error)

    @guarded
    def _begin(self, scope: _Run, agent: str, description: str, began_ms: int) -> None:
        self._runs += 1
        scope.run = f"{agent}-{self._runs}"
        self._log.record(
            "gemini_cli.agent.start",
            f"Agent {agent} started. ID: {scope.run}",
            {"agent_id": scope.run, "agent_name": agent},
        )
        attributes = {**_common(agent), names.AGENT_DESCRIPTION: description}
        scope.span = self._recorder.begin(
            f"{names.INVOKE_AGENT} {agent}", attributes, began_ms=began_ms
        )

    @guarded
    def _end(self, scope: _Run, agent: str, began_ms: int, reason: str | None, error: str) -> None:
        ended_ms = self._recorder.now_ms()
        why, duration = reason or _UNKNOWN_END, ended_ms - began_ms
        self._log.record(
            "gemini_cli.agent.finish",
            f"Agent {agent} finished. Reason: {why}. Duration: {duration}ms.",
            {
                "agent_id": scope.run,
                "agent_name": agent,
                "duration_ms": duration,
                "terminate_reason": why,
            },
        )
        attributes: dict[str, Any] = {} if reason is None else {names.END_REASON: reason}
        if error or reason is None:
            attributes[names.ERROR_TYPE] = error or names.OTHER_ERROR
        failed = attributes.get(names.ERROR_TYPE) == names.OTHER_ERROR
        kept = {key: value for key, value in attributes.items() if key == names.ERROR_TYPE}
        self._recorder.instruments.turn_duration.record(
            (ended_ms - began_ms) / 1000, {**_common(agent), **kept}
        )
        if scope.span is not None:
            self._recorder.end(scope.span, attributes, ended_ms=ended_ms, failed=failed)


def _reason(result: ToolResult) -> str | None:
    """Return why the agent ended, if it ended by itself."""
    shown = result.return_display
    return shown.get("terminateReason") if isinstance(shown, dict) else None


def _common(agent: str) -> dict[str, Any]:
    return {names.OPERATION: names.INVOKE_AGENT, names.AGENT_NAME: agent}
