"""ADK's tool callbacks around a batch of the scheduler: plugins' first, then the agent's own.

Stock ADK runs every call of an answer as a task of its own, callbacks included. Here the callbacks
run in the order of the calls: every `before_tool`, then one batch, then per call `after_tool` or
`on_tool_error`. What one call goes through is otherwise as in ADK
(`flows/llm_flows/tools/_caller.py`).
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Any, Final

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.flows.llm_flows.functions import merge_parallel_function_response_events
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext

from runtimes.adk.flow import asked_for
from runtimes.adk.tools import (
    AddedTool,
    AdkTool,
    added_tools,
    response_content,
    response_text,
)
from services.bundle import Services
from services.children.calls import Schedule
from services.scheduler.calls import (
    CallStatus,
    CompletedToolCall,
    ToolCallRequest,
    ToolCallResponse,
)
from services.scheduler.responses import convert_to_function_response
from services.subagents.definition import COMPLETE_TASK
from services.tools.contract import LlmContent, ToolErrorType
from services.wire import JsonObject

__all__ = ["ToolError", "ToolRound"]

logger = logging.getLogger(__name__)

_MOMENTS: Final = ("before_tool", "after_tool", "on_tool_error")
_REFUSALS: Final = (ToolErrorType.POLICY_VIOLATION, ToolErrorType.STOP_EXECUTION)
"""A rule, the user or a hook refused these calls: nothing failed that a callback could mend."""
_MERGED: Final = ("state_delta", "artifact_delta", "skip_summarization", "escalate")
"""The actions that take effect. The others speak of features that the product does without: other
agents to transfer to, ADK's authorisation and confirmation, resumable agents and workflows."""


class ToolError(Exception):
    """The error of a call, as `on_tool_error` gets it; its text is what the model would read."""

    def __init__(self, message: str, error_type: ToolErrorType | None) -> None:
        super().__init__(message)
        self.error_type = error_type


@dataclass(slots=True)
class _Call:
    """One call of the batch, on its way through the callbacks."""

    request: ToolCallRequest
    tool: BaseTool
    args: dict[str, Any]
    context: ToolContext
    answer: Any = None
    """What a `before_tool` callback answered in place of the call."""
    done: CompletedToolCall | None = None


class ToolRound:
    """One batch of calls with the callbacks of its invocation and the tools added to its request.

    Without a callback, and without a call of an added tool, it hands the batch on as it is.
    """

    def __init__(
        self, services: Services, context: InvocationContext, tools: Mapping[str, BaseTool]
    ) -> None:
        """Make it.

        Args:
            services: the session's, or the child's.
            context: the invocation's; `ToolContext`s are made from it.
            tools: the request's tools by name (`LlmRequest.tools_dict`).
        """
        self._services = services
        self._context = context
        self._tools = tools
        self._calls: list[_Call] = []
        self.added = frozenset(added_tools(tools))
        """The names of the tools that are not the product's own."""

    async def run(
        self, requests: Sequence[ToolCallRequest], schedule: Schedule
    ) -> Sequence[CompletedToolCall]:
        """Run a batch.

        Args:
            requests: the calls.
            schedule: runs those that no callback answered, as one batch.

        Returns:
            The calls in the order in which the scheduler finished them; in the order of `requests`
            where a callback answered one.
        """
        watched = any(asked_for(self._context, f"{moment}_callback") for moment in _MOMENTS)
        if not watched and not any(request.name in self.added for request in requests):
            return await schedule(requests)
        self._calls = [self._call(request) for request in requests]
        for call in self._calls if watched else ():
            call.answer = await self._ask("before_tool", call, {}, {})
        waiting = [call for call in self._calls if call.answer is None]
        finished: list[_Call] = []
        for done in await schedule([_scheduled(call) for call in waiting]) if waiting else ():
            call = _asked_for(done, waiting)
            call.done = done
            finished.append(call)
        for call in self._calls if watched else ():
            await self._finish(call)
        ordered = finished if len(finished) == len(self._calls) else self._calls
        return [call.done for call in ordered if call.done is not None]

    def actions(self, base: EventActions) -> EventActions:
        """`base` and what tools and callbacks asked for in their contexts, merged as ADK does."""
        if not self._calls:
            return base
        # The merge of several makes plain JSON of objects in the state; one call's are kept.
        merged = merge_parallel_function_response_events(
            [Event(actions=call.context.actions) for call in self._calls]
        ).actions
        merged.skip_summarization = merged.skip_summarization or base.skip_summarization
        ignored = [
            name
            for name in EventActions.model_fields
            if name not in _MERGED and getattr(merged, name)
        ]
        if ignored:
            logger.warning("actions of tools that have no effect here: %s", ", ".join(ignored))
        return EventActions(**{name: getattr(merged, name) for name in _MERGED})

    def _call(self, request: ToolCallRequest) -> _Call:
        context = ToolContext(self._context, function_call_id=request.call_id)
        tool = self._tools.get(request.name)
        if tool is None:
            known = self._services.tools.get(request.name)
            said = "Tool not found" if known is None else known.description
            tool = BaseTool(name=request.name, description=said)
        elif not isinstance(tool, AdkTool):
            request = replace(request, tool=AddedTool(tool, context))
        return _Call(request, tool, copy.deepcopy(request.args), context)

    async def _ask(
        self, moment: str, call: _Call, of_plugin: JsonObject, of_agent: JsonObject
    ) -> Any:
        """The first answer of a plugin's callback, or else of the agent's; `None` for none."""
        ask = getattr(self._context.plugin_manager, f"run_{moment}_callback")
        answer = await ask(
            tool=call.tool, tool_args=call.args, tool_context=call.context, **of_plugin
        )
        if answer is not None:
            return answer
        for callback in getattr(self._context.agent, f"canonical_{moment}_callbacks", ()):
            answer = callback(tool=call.tool, args=call.args, tool_context=call.context, **of_agent)
            answer = await answer if isawaitable(answer) else answer
            if answer is not None:
                break
        return answer

    async def _finish(self, call: _Call) -> None:
        """Show `after_tool` the result, or `on_tool_error` the error; take what they answer."""
        done, result = call.done, call.answer
        if done is None and result is None:
            return
        if done is not None:
            kind = done.response.error_type
            if done.status is CallStatus.CANCELLED or kind in _REFUSALS:
                return
            if done.status is CallStatus.ERROR:
                error = {"error": _error(done)}
                result = await self._ask("on_tool_error", call, error, error)
                if result is None:
                    return
                if kind is ToolErrorType.TOOL_NOT_REGISTERED:
                    call.done = self._answered(call, response_content(result))
                    return
            else:
                result = self._result(done)
        before = response_content(result)
        altered = await self._ask("after_tool", call, {"result": result}, {"tool_response": result})
        content = response_content(result if altered is None else altered)
        if done is None or done.status is CallStatus.ERROR or content != before:
            call.done = self._answered(call, content)

    def _result(self, done: CompletedToolCall) -> Any:
        """What the tool returned; of the product's tools, the response that the model gets."""
        added, parts = done.tool, done.response.response_parts
        if isinstance(added, AddedTool):
            said = self._parts(done.request, response_content(added.result))
            if said == parts:
                return added.result
        return (parts[0].get("functionResponse") or {}).get("response")

    def _answered(self, call: _Call, content: LlmContent) -> CompletedToolCall:
        """The call with a callback's answer in place of its result; a success."""
        done = call.done or CompletedToolCall(
            request=call.request,
            response=ToolCallResponse(call_id=call.request.call_id, response_parts=()),
            status=CallStatus.SUCCESS,
            tool=call.request.tool or self._services.tools.get(call.request.name),
        )
        # The data of this tool ends a child's task. It is not shown.
        data = done.response.data if done.request.name == COMPLETE_TASK else None
        return replace(
            done,
            status=CallStatus.SUCCESS,
            response=ToolCallResponse(
                call_id=done.request.call_id,
                response_parts=self._parts(done.request, content),
                result_display=response_text(content),
                data=data,
            ),
        )

    def _parts(self, request: ToolCallRequest, content: LlmContent) -> tuple[JsonObject, ...]:
        model = self._services.state.active_model
        return tuple(
            convert_to_function_response(request.shown_name, request.call_id, content, model)
        )


def _scheduled(call: _Call) -> ToolCallRequest:
    """The request as the scheduler gets it: with the arguments that the callbacks left."""
    if call.args == call.request.args:
        return call.request
    return replace(call.request, args=call.args, display=None)


def _asked_for(done: CompletedToolCall, calls: Sequence[_Call]) -> _Call:
    """The call that `done` came of. A hook may have changed what was run under its id."""
    same_id = [call for call in calls if call.request.call_id == done.request.call_id]
    return next((call for call in same_id if call.args == done.request.args), same_id[0])


def _error(done: CompletedToolCall) -> Exception:
    """What an added tool raised; of any other the response's error."""
    if isinstance(done.tool, AddedTool) and done.tool.error is not None:
        return done.tool.error
    return ToolError(done.response.error or "", done.response.error_type)
