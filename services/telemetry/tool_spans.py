"""A span for every tool that runs, and a count of all completed calls."""

from __future__ import annotations

from typing import Any

from opentelemetry.trace import Span

from services.abort import AbortSignal
from services.scheduler.call_facts import decision_of
from services.scheduler.calls import CallStatus, CompletedToolCall, ToolCallResponse
from services.scheduler.execution import Ending, RunCall
from services.scheduler.states import ToolCall
from services.telemetry import names
from services.telemetry.content import messages, shortened
from services.telemetry.recorder import Recorder, Scope, guarded, within
from services.tools.contract import as_server_tool

__all__ = ["ToolSpans"]


class ToolSpans:
    """Measures the scheduler's calls."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def around(self, run: RunCall) -> RunCall:
        """Return `run` in a span, which contains the tool's model calls."""

        async def measured(call: ToolCall, signal: AbortSignal) -> Ending:
            scope, began_ms = Scope(), self._recorder.now_ms()
            self._begin(scope, call, began_ms)
            ending: Ending | None = None
            try:
                with within(scope):
                    ending = await run(call, signal)
                return ending
            finally:
                self._end(scope, call, began_ms, ending)

        return measured

    @guarded
    def count(self, call: CompletedToolCall) -> None:
        """Count a completed call; a name that is no tool's is not recorded."""
        server = None if call.tool is None else as_server_tool(call.tool)
        attributes: dict[str, Any] = {
            names.FUNCTION_NAME: names.OTHER_ERROR if call.tool is None else call.request.name,
            names.FUNCTION_SUCCESS: call.status is CallStatus.SUCCESS,
            names.FUNCTION_TYPE: "native" if server is None else "mcp",
        }
        if call.outcome is not None:
            attributes[names.FUNCTION_DECISION] = decision_of(call.outcome)
        self._recorder.instruments.tool_calls.add(1, attributes)

    @guarded
    def _begin(self, scope: Scope, call: ToolCall, began_ms: int) -> None:
        attributes: dict[str, Any] = {**_common(call), names.TOOL_CALL_ID: call.call_id}
        if self._recorder.content:
            attributes[names.TOOL_ARGUMENTS] = shortened(call.request.args)
        scope.span = self._recorder.begin(
            f"{names.EXECUTE_TOOL} {call.name}", attributes, began_ms=began_ms
        )

    @guarded
    def _end(self, scope: Scope, call: ToolCall, began_ms: int, ending: Ending | None) -> None:
        ended_ms = self._recorder.now_ms()
        # A call whose task was cancelled has no ending.
        status = CallStatus.CANCELLED if ending is None else ending.status
        error: dict[str, Any] = {}
        if status is CallStatus.CANCELLED:
            error[names.ERROR_TYPE] = names.CANCELLED
        elif status is CallStatus.ERROR and ending is not None:
            error[names.ERROR_TYPE] = str(ending.response.error_type or names.OTHER_ERROR)
        attributes: dict[str, Any] = {names.TOOL_STATUS: str(status), **error}
        if self._recorder.content and ending is not None:
            attributes[names.TOOL_RESULT] = _result(ending.response)
        self._recorder.instruments.tool_duration.record(
            (ended_ms - began_ms) / 1000, {**_common(call), **error}
        )
        span: Span | None = scope.span
        if span is not None:
            failed = status is CallStatus.ERROR
            self._recorder.end(span, attributes, ended_ms=ended_ms, failed=failed)


def _common(call: ToolCall) -> dict[str, Any]:
    return {
        names.OPERATION: names.EXECUTE_TOOL,
        names.TOOL_NAME: call.name,
        names.TOOL_TYPE: "function",
    }


def _result(response: ToolCallResponse) -> str:
    return messages([{"role": "function", "parts": list(response.response_parts)}])
