"""`ToolRound`: one batch of the scheduler, with ADK's tool callbacks and tools added to a request.

Stock ADK runs every call of an answer as a task of its own, callbacks included. Here the callbacks
run in the order of the calls, plugins' first, then the agent's own: every `before_tool`, then one
batch, then per call `after_tool` or `on_tool_error`. What one call goes through is otherwise as in
ADK (`flows/llm_flows/tools/_caller.py`).

A `BaseTool` that is not the product's was added to the request: by the agent, which has it in
`LlmAgent.tools`, by a processor or by a plugin. The scheduler runs it as an `_AddedTool`.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.flows.llm_flows.functions import (
    _extract_multimodal_parts,
    merge_parallel_function_response_events,
)
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.adk.tools.tool_context import ToolContext
from google.adk.utils._callback_pipeline import _run_callbacks, _stop_on_non_none
from pydantic_core import to_jsonable_python

from runtimes.adk.flow import asked_for
from runtimes.adk.tools import AdkTool
from services.abort import until_aborted
from services.bundle import Services
from services.children.calls import Schedule
from services.model.sdk_json import dumped
from services.scheduler.calls import (
    CallStatus,
    CompletedToolCall,
    ToolCallRequest,
    ToolCallResponse,
)
from services.scheduler.responses import convert_to_function_response
from services.subagents.definition import COMPLETE_TASK
from services.tools.base import PlainInvocation, SchemaTool
from services.tools.contract import (
    LlmContent,
    ToolErrorType,
    ToolExecution,
    ToolInvocation,
    ToolKind,
    ToolResult,
)
from services.wire import JsonObject, js_json

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


class _AddedTool(SchemaTool):
    """One call of a `BaseTool` that is not the product's, as a tool of the scheduler.

    The policy decides whether it runs, and the scheduler asks the user in place of ADK. The tool
    itself checks its arguments. A long-running one answers with what `run_async` returns.
    """

    kind = ToolKind.OTHER
    is_output_markdown = False
    parameters: ClassVar[JsonObject] = {}

    def __init__(self, tool: BaseTool, context: ToolContext) -> None:
        self.name = self.display_name = tool.name
        self.description = tool.description
        self.adk = tool
        self.context = context
        self.result: Any = None
        """What `run_async` returned."""
        self.error: Exception | None = None
        """What it raised."""

    def invocation(self, params: JsonObject) -> ToolInvocation:
        return _AddedCall(self, params)


class _AddedCall(PlainInvocation):
    def __init__(self, tool: _AddedTool, params: JsonObject) -> None:
        super().__init__(params)
        self._tool = tool

    @property
    def shown_name(self) -> str:
        return self._tool.display_name

    def description(self) -> str:
        return js_json(self.params)

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Run the tool; what it raises is the call's error."""
        tool = self._tool
        tool.context.tool_confirmation = ToolConfirmation(confirmed=True)
        try:
            tool.result = await until_aborted(
                tool.adk.run_async(args=self.params, tool_context=tool.context), execution.signal
            )
        except Exception as error:
            tool.error = error
            raise
        content = _response_content(tool.result)
        return ToolResult(llm_content=content, return_display=_response_text(content))


def _response_content(value: object) -> LlmContent:
    """What the model gets of a value that a tool or a callback returned, as ADK normalises it.

    A dict is the response; anything else is its `result`. Media goes beside it. An object without
    a JSON form becomes its text.
    """
    rest, media = _extract_multimodal_parts(value)
    response: JsonObject = to_jsonable_python(
        rest if isinstance(rest, dict) else {"result": rest},
        by_alias=True,
        exclude_none=True,
        bytes_mode="base64",
        inf_nan_mode="null",
        fallback=str,
    )
    if not media:
        return {"functionResponse": {"response": response}}
    return [*([js_json(response)] if response else []), *map(dumped, media)]


def _response_text(content: LlmContent) -> str:
    """What users are shown of `_response_content`: its output where there is nothing else."""
    if not isinstance(content, dict):
        return next((part for part in content if isinstance(part, str)), "")
    response = content["functionResponse"]["response"]
    output = response.get("output")
    return output if isinstance(output, str) and len(response) == 1 else js_json(response)


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

    @property
    def scheduled(self) -> ToolCallRequest:
        """The request with the arguments that the callbacks left."""
        same = self.args == self.request.args
        return self.request if same else replace(self.request, args=self.args, display=None)


class ToolRound:
    """One batch of calls with the callbacks of its invocation and the tools added to its request.

    Without a callback, and without a call of an added tool, it hands the batch on as it is.
    """

    def __init__(
        self, services: Services, context: InvocationContext, tools: Mapping[str, BaseTool]
    ) -> None:
        """Take the request's `tools` by name (`LlmRequest.tools_dict`)."""
        self._services = services
        self._context = context
        self._tools = tools
        self._calls: list[_Call] = []
        self.added = frozenset(
            name for name, tool in tools.items() if not isinstance(tool, AdkTool)
        )
        """The names of the tools that are not the product's own."""

    async def run(
        self, requests: Sequence[ToolCallRequest], schedule: Schedule
    ) -> Sequence[CompletedToolCall]:
        """Run a batch; `schedule` runs, at once, the calls that no callback answered.

        Returns:
            The calls in the order in which the scheduler finished them; in the order of `requests`
            where a callback answered one.
        """
        watched = any(asked_for(self._context, f"{moment}_callback") for moment in _MOMENTS)
        if not watched and not any(request.name in self.added for request in requests):
            return await schedule(requests)
        self._calls = [self._call(request) for request in requests]
        for call in self._calls:
            call.answer = await self._ask("before_tool", call, {}, {})
        waiting = [call for call in self._calls if call.answer is None]
        finished: list[_Call] = []
        for done in await schedule([call.scheduled for call in waiting]) if waiting else ():
            call = _asked_for(done, waiting)
            call.done = done
            finished.append(call)
        for call in self._calls:
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
        return _effective(merged)

    def _call(self, request: ToolCallRequest) -> _Call:
        context = ToolContext(self._context, function_call_id=request.call_id)
        tool = self._tools.get(request.name)
        if tool is None:
            known = self._services.tools.get(request.name)
            said = "Tool not found" if known is None else known.description
            tool = BaseTool(name=request.name, description=said)
        elif request.name in self.added:
            request = replace(request, tool=_AddedTool(tool, context))
        return _Call(request, tool, copy.deepcopy(request.args), context)

    async def _ask(
        self, moment: str, call: _Call, of_plugin: JsonObject, of_agent: JsonObject
    ) -> Any:
        """The first answer of a plugin's callback, or else of the agent's; `None` for none."""
        plugins = getattr(self._context.plugin_manager, f"run_{moment}_callback")
        answer = await plugins(
            tool=call.tool, tool_args=call.args, tool_context=call.context, **of_plugin
        )
        if answer is not None:
            return answer
        return await _run_callbacks(
            getattr(self._context.agent, f"canonical_{moment}_callbacks", ()),
            _stop_on_non_none,
            tool=call.tool,
            args=call.args,
            tool_context=call.context,
            **of_agent,
        )

    async def _finish(self, call: _Call) -> None:
        """Show `after_tool` the result, or `on_tool_error` the error; take what they answer."""
        done, result, before = call.done, call.answer, None
        if done is not None:
            kind = done.response.error_type
            if done.status is CallStatus.CANCELLED or kind in _REFUSALS:
                return
            if done.status is CallStatus.SUCCESS:
                result = self._result(done)
                before = _response_content(result)
            else:
                raised = done.tool.error if isinstance(done.tool, _AddedTool) else None
                assert done.response.error is not None, "a call that failed has an error"
                error = {"error": raised or ToolError(done.response.error, kind)}
                result = await self._ask("on_tool_error", call, error, error)
                if result is not None and kind is ToolErrorType.TOOL_NOT_REGISTERED:
                    self._put(call, result)
                    return
        if result is None and before is None:
            return
        altered = await self._ask("after_tool", call, {"result": result}, {"tool_response": result})
        result = result if altered is None else altered
        if _response_content(result) != before:
            self._put(call, result)

    def _result(self, done: CompletedToolCall) -> Any:
        """What the tool returned; of the product's tools, the response that the model gets."""
        added, parts = done.tool, done.response.response_parts
        if isinstance(added, _AddedTool):
            said = self._parts(done.request, _response_content(added.result))
            if said == parts:
                return added.result
        return (parts[0].get("functionResponse") or {}).get("response")

    def _put(self, call: _Call, answer: object) -> None:
        """Put a callback's answer in place of the call's result; a success."""
        done, content = call.done, _response_content(answer)
        request = call.request if done is None else done.request
        response = ToolCallResponse(
            call_id=request.call_id,
            response_parts=self._parts(request, content),
            result_display=_response_text(content),
            # The data of this tool ends a child's task. It is not shown.
            data=done.response.data if done and request.name == COMPLETE_TASK else None,
        )
        if done is not None:
            call.done = replace(done, status=CallStatus.SUCCESS, response=response)
        else:
            tool = request.tool or self._services.tools.get(request.name)
            call.done = CompletedToolCall(
                request=request, response=response, status=CallStatus.SUCCESS, tool=tool
            )

    def _parts(self, request: ToolCallRequest, content: LlmContent) -> tuple[JsonObject, ...]:
        model = self._services.state.active_model
        return tuple(
            convert_to_function_response(request.shown_name, request.call_id, content, model)
        )


def _effective(actions: EventActions) -> EventActions:
    """Those of `actions` that take effect; a warning names the others."""
    asked = {name: value for name, value in actions.__dict__.items() if value}
    ignored = [name for name in asked if name not in _MERGED]
    if ignored:
        logger.warning("actions of tools that have no effect here: %s", ", ".join(ignored))
    return EventActions(**{name: asked[name] for name in asked if name in _MERGED})


def _asked_for(done: CompletedToolCall, calls: Sequence[_Call]) -> _Call:
    """The call whose result `done` is. A hook may have changed what was run under its id."""
    same_id = [call for call in calls if call.request.call_id == done.request.call_id]
    return next((call for call in same_id if call.args == done.request.args), same_id[0])
