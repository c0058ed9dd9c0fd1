"""Faults of the ADK runtime in tool calls: arguments, batches, results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import first, passing, result
from services.scheduler.calls import CallStatus
from services.tools.contract import InvalidToolParams, ToolErrorType

fault = Faults(Site.ADK, Behaviour.TOOLS)
fault_errors = Faults(Site.ADK, Behaviour.ERRORS)
fault_hooks = Faults(Site.ADK, Behaviour.HOOKS)


def _says_nothing(call: Any) -> bool:
    if call.status is not CallStatus.SUCCESS:
        return False
    responses = [part.get("functionResponse") or {} for part in call.response.response_parts]
    return all((said.get("response") or {}).get("output") in (None, "") for said in responses)


tool_error_not_told = fault.wrap(
    "runtimes.adk.translate:EventTranslator.tool_response",
    passing(call=lambda call: replace(call, response=replace(call.response, error=None))),
    says="A failed call's event has no error, only the response for the model.",
    origin="google-adk's tool callbacks treat an error as a result",
)
calls_of_failed_attempts_dropped = fault_errors.wrap(
    "runtimes.adk.model_call:ModelCall._wait",
    first(lambda self, *args: self._run.step.answer.calls.clear()),
    says="When an answer is retried, the calls emitted before the break are not run.",
    origin="a retry that starts over, though clients saw the first part",
)
stopping_tool_answered = fault_hooks.wrap(
    "runtimes.adk.continuation:end_reason_of_calls",
    result(lambda found: None if found == "completed" else found),
    says="The tool call at which a hook ended the run is still sent to the model.",
    origin="google-adk's loop, which no result can end",
)
only_last_call_recorded = fault.wrap(
    "runtimes.adk.continuation:Continuation._record",
    passing(completed=lambda completed: completed[-1:]),
    says="The recording keeps only the last call of a batch.",
    origin="seen in agent migrations: parallel state overwritten",
)


@fault(
    "runtimes.adk.continuation:_response_event",
    origin="seen in agent migrations: results in completion order instead of request order",
)
def results_as_they_finish(response_event: Any, context: Any, completed: Any, *, last: bool) -> Any:
    """Results are ordered by completion: calls that run processes come last."""
    ordered = sorted(completed, key=lambda call: call.request.name == "run_shell_command")
    return response_event(context, ordered, last=last)


@fault(
    "runtimes.adk.continuation:_response_event",
    origin="seen in agent migrations: parallel state overwritten",
)
def parallel_results_overwritten(
    response_event: Any, context: Any, completed: Any, *, last: bool
) -> Any:
    """For parallel calls of one tool, the model gets only the last result."""
    event = response_event(context, completed, last=last)
    kept = {call.request.name: call.response.response_parts for call in completed}
    parts = [part for parts in kept.values() for part in parts]
    content = event.content
    event.content = type(content).of({**content.wire, "parts": parts}, content.note)
    return event


@fault(
    "runtimes.adk.continuation:Continuation._completed",
    origin="seen in agent migrations: a tool that returns nothing run twice",
)
async def speechless_tool_run_again(run: Any, self: Any, sending: Any, tools: Any) -> Any:
    """A tool that returns nothing is run twice."""
    completed = await run(self, sending, tools)
    again = [call.request for call in completed or () if _says_nothing(call)]
    if again:
        await self._services.scheduler.schedule(again, sending.signal)
    return completed


@fault(
    "runtimes.adk.model_call:tool_call_request",
    origin="seen in agent migrations: bad tool arguments turned into `{}`",
)
def bad_arguments_emptied(
    tool_call_request: Any, tools: Any, prompt_id: str, call: Any, *args: Any
) -> Any:
    """Arguments that a tool refuses are replaced with an empty object."""
    tool = tools.get(call.get("name") or "")
    try:
        if tool is not None:
            tool.build(call.get("args") or {})
    except InvalidToolParams:
        call = {**call, "args": {}}
    return tool_call_request(tools, prompt_id, call, *args)


@fault(
    "runtimes.adk.continuation:end_reason_of_calls",
    origin="seen in agent migrations: bad tool arguments turned fatal",
)
def bad_arguments_fatal(verdict: Any, completed: Any) -> Any:
    """Arguments that a tool refuses end the stream as failed."""
    refused = [
        replace(call, response=replace(call.response, error_type=ToolErrorType.NO_SPACE_LEFT))
        if call.response.error_type is ToolErrorType.INVALID_TOOL_PARAMS
        else call
        for call in completed
    ]
    return verdict(refused)


@fault(
    "runtimes.adk.model_call:tool_call_request",
    origin="a port that forgets upstream's substitute, the tool's own description",
)
def refused_call_undescribed(tool_call_request: Any, tools: Any, *args: Any) -> Any:
    """A call with invalid arguments is shown without a description."""
    request = tool_call_request(tools, *args)
    shown, tool = request.display, tools.get(request.name)
    if tool is None or shown.description != tool.description:
        return request
    return replace(request, display=replace(shown, description=None))
