"""Running one call, and what its end means. Source: core `scheduler/tool-executor.ts`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from services.abort import AbortError, AbortSignal
from services.scheduler.calls import CallStatus, ToolCallRequest, ToolCallResponse
from services.scheduler.responses import (
    convert_to_function_response,
    error_response,
    function_response,
)
from services.scheduler.states import CallStore, ExecutingPatch, ToolCall
from services.state import SessionState
from services.tools.contract import LlmContent, ToolErrorType, ToolExecution, ToolResult
from services.wire import Json, Part, js_json, js_length

__all__ = ["ToolExecutor"]

Ending = tuple[CallStatus, ToolCallResponse]

_USER_CANCELLED = "User cancelled tool execution."


class ToolExecutor:
    """Runs calls that are `executing`; live output goes to the store."""

    def __init__(self, store: CallStore, state: SessionState) -> None:
        self._store = store
        self._state = state

    async def run(self, call: ToolCall, signal: AbortSignal) -> Ending:
        """Run `call` to its end: a status that is terminal, and the response.

        Whatever the tool raises becomes a response; only the cancellation of the task goes through.
        """
        if call.tool is None or call.invocation is None:
            raise ValueError(f"Cannot execute tool call {call.call_id}: no tool or invocation")
        execution = ToolExecution(
            call_id=call.call_id,
            signal=signal,
            update_output=self._live_output(call.call_id) if call.tool.can_update_output else None,
            set_process_id=self._process_id(call.call_id),
        )
        try:
            result = await call.invocation.execute(execution)
            return self._returned(call.request, result, signal)
        except Exception as error:  # noqa: BLE001 - the border between tools and their scheduler
            return self._raised(call.request, error, signal)

    def _returned(
        self, request: ToolCallRequest, result: ToolResult, signal: AbortSignal
    ) -> Ending:
        if signal.aborted:
            return CallStatus.CANCELLED, self._stopped(request, result)
        if result.error is None:
            return CallStatus.SUCCESS, self._succeeded(request, result)
        failed = error_response(request, result.error.message, result.error.type)
        shown = result.return_display
        if isinstance(shown, str):
            failed = replace(failed, result_display=shown, content_length=js_length(shown))
        return CallStatus.ERROR, replace(failed, display=result.display)

    def _live_output(self, call_id: str) -> Callable[[Json], None]:
        def update(output: Json) -> None:
            self._patch(call_id, ExecutingPatch(live_output=output))

        return update

    def _process_id(self, call_id: str) -> Callable[[int], None]:
        def show(process_id: int) -> None:
            self._patch(call_id, ExecutingPatch(process_id=process_id))

        return show

    def _patch(self, call_id: str, patch: ExecutingPatch) -> None:
        call = self._store.get(call_id)
        if call is not None and call.status is CallStatus.EXECUTING:
            self._store.transition(call_id, CallStatus.EXECUTING, patch)

    def _raised(self, request: ToolCallRequest, error: Exception, signal: AbortSignal) -> Ending:
        aborted = isinstance(error, AbortError)
        if signal.aborted or aborted or "Operation cancelled by user" in str(error):
            why = "Operation cancelled." if aborted else _USER_CANCELLED
            return CallStatus.CANCELLED, _cancelled(request, why)
        return (
            CallStatus.ERROR,
            error_response(request, str(error), ToolErrorType.UNHANDLED_EXCEPTION),
        )

    def _parts(self, request: ToolCallRequest, content: LlmContent) -> list[Part]:
        return convert_to_function_response(
            request.shown_name, request.call_id, content, self._state.active_model
        )

    def _succeeded(self, request: ToolCallRequest, result: ToolResult) -> ToolCallResponse:
        content = result.llm_content
        return ToolCallResponse(
            call_id=request.call_id,
            response_parts=tuple(self._parts(request, content)),
            result_display=result.return_display,
            content_length=js_length(content) if isinstance(content, str) else None,
            data=result.data,
            display=result.display,
        )

    def _stopped(self, request: ToolCallRequest, result: ToolResult) -> ToolCallResponse:
        """The tool came back although it should have stopped: what it brought is kept."""
        cancelled = _cancelled(request, _USER_CANCELLED)
        if result.llm_content != "":
            first, *others = self._parts(request, result.llm_content)
            answer = first["functionResponse"]
            told = {
                **(answer["response"] or {}),
                "error": f"[Operation Cancelled] {_USER_CANCELLED}",
            }
            parts = ({"functionResponse": {**answer, "response": told}}, *others)
            cancelled = replace(
                cancelled, response_parts=parts, content_length=js_length(js_json(list(parts)))
            )
        return replace(cancelled, result_display=result.return_display, display=result.display)


def _cancelled(request: ToolCallRequest, why: str) -> ToolCallResponse:
    part = function_response(
        request.shown_name, request.call_id, {"error": f"[Operation Cancelled] {why}"}
    )
    return ToolCallResponse(
        call_id=request.call_id,
        response_parts=(part,),
        content_length=js_length(js_json([part])),
    )
