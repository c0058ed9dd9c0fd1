"""Runs one call and makes its response. Source: core `scheduler/tool-executor.ts`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from services.abort import AbortError, AbortSignal
from services.exhaustion import notice
from services.scheduler.call_hooks import CallHooks
from services.scheduler.calls import CallStatus, ToolCallRequest, ToolCallResponse
from services.scheduler.responses import (
    convert_to_function_response,
    error_response,
    function_response,
)
from services.scheduler.states import CallStore, ExecutingPatch, ToolCall
from services.scheduler.truncation import OutputLimiter, ShortOutput
from services.state import SessionState
from services.tools.contract import LlmContent, ToolErrorType, ToolExecution, ToolResult
from services.wire import Json, JsonObject, Part, js_json, js_length

__all__ = ["Ending", "RunCall", "ToolExecutor"]

_USER_CANCELLED = "User cancelled tool execution."


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a call: a terminal status and the response.

    With `tail`, the `{name, args}` of a hook, that call's result replaces both.
    """

    status: CallStatus
    response: ToolCallResponse
    tail: JsonObject | None = None


RunCall = Callable[[ToolCall, AbortSignal], Awaitable[Ending]]
"""Runs a call that is `executing` to its end; `ToolExecutor.run`, or something around it."""


class ToolExecutor:
    """Runs calls that are `executing`; live output goes to the store."""

    def __init__(
        self,
        store: CallStore,
        state: SessionState,
        limiter: OutputLimiter | None,
        hooks: CallHooks,
    ) -> None:
        self._store = store
        self._state = state
        self._limiter = limiter
        self._hooks = hooks

    async def run(self, call: ToolCall, signal: AbortSignal) -> Ending:
        """Run `call`, and the hooks after it, to its end.

        An exception of the tool becomes a response; only the cancellation of the task is raised.
        """
        if call.tool is None or call.invocation is None:
            raise ValueError(f"Cannot execute tool call {call.call_id}: no tool or invocation")

        def show_output(output: Json) -> None:
            self._store.patch(call.call_id, ExecutingPatch(live_output=output))

        execution = ToolExecution(
            call_id=call.call_id,
            signal=signal,
            update_output=show_output if call.tool.can_update_output else None,
            set_process_id=lambda pid: self._store.patch(
                call.call_id, ExecutingPatch(process_id=pid)
            ),
        )
        try:
            result = await call.invocation.execute(execution)
            after = await self._hooks.after(call, result, signal)
            ending = await self._returned(call, after.result, signal)
            if ending.status is CallStatus.CANCELLED:
                return ending
            return replace(ending, tail=after.tail)
        except Exception as error:  # noqa: BLE001 - the border between tools and their scheduler
            return self._raised(call.request, error, signal)

    async def _returned(self, call: ToolCall, result: ToolResult, signal: AbortSignal) -> Ending:
        if signal.aborted:
            return Ending(CallStatus.CANCELLED, await self._stopped(call, result))
        if result.error is None:
            return Ending(CallStatus.SUCCESS, await self._succeeded(call, result))
        failed = error_response(call.request, result.error.message, result.error.type)
        shown = result.return_display
        if isinstance(shown, str):
            failed = replace(failed, result_display=shown, content_length=js_length(shown))
        return Ending(CallStatus.ERROR, replace(failed, display=result.display))

    def _raised(self, request: ToolCallRequest, error: Exception, signal: AbortSignal) -> Ending:
        notice(error)
        aborted = isinstance(error, AbortError)
        if signal.aborted or aborted or "Operation cancelled by user" in str(error):
            why = "Operation cancelled." if aborted else _USER_CANCELLED
            return Ending(CallStatus.CANCELLED, _cancelled(request, why))
        return Ending(
            CallStatus.ERROR,
            error_response(request, str(error), ToolErrorType.UNHANDLED_EXCEPTION),
        )

    def _parts(self, request: ToolCallRequest, content: LlmContent) -> list[Part]:
        return convert_to_function_response(
            request.shown_name, request.call_id, content, self._state.active_model
        )

    async def _short(self, call: ToolCall, content: LlmContent) -> ShortOutput:
        return await self._limiter.shorten(call, content) if self._limiter else ShortOutput(content)

    async def _succeeded(self, call: ToolCall, result: ToolResult) -> ToolCallResponse:
        short = await self._short(call, result.llm_content)
        content = short.content
        return ToolCallResponse(
            call_id=call.call_id,
            response_parts=tuple(self._parts(call.request, content)),
            result_display=result.return_display,
            output_file=None if short.file is None else str(short.file),
            content_length=js_length(content) if isinstance(content, str) else None,
            data=result.data,
            display=result.display,
        )

    async def _stopped(self, call: ToolCall, result: ToolResult) -> ToolCallResponse:
        """The response of a tool that returned after an abort, with the tool's output."""
        cancelled = _cancelled(call.request, _USER_CANCELLED)
        if result.llm_content != "":
            short = await self._short(call, result.llm_content)
            first, *others = self._parts(call.request, short.content)
            answer = first["functionResponse"]
            response = {
                **(answer["response"] or {}),
                "error": f"[Operation Cancelled] {_USER_CANCELLED}",
            }
            parts = ({"functionResponse": {**answer, "response": response}}, *others)
            cancelled = replace(
                cancelled,
                response_parts=parts,
                output_file=None if short.file is None else str(short.file),
                content_length=js_length(js_json(list(parts))),
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
