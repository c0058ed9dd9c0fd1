"""Faults of the registry and the scheduler: arguments, order, results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import instead, passing, result, returns
from services.output_files import truncated_output
from services.scheduler.calls import CallStatus
from services.scheduler.execution import _USER_CANCELLED, Ending, _cancelled
from services.tools.contract import InvalidToolParams, ToolErrorType

fault = Faults(Site.SERVICE, Behaviour.TOOLS)
held_out = Faults(Site.SERVICE, Behaviour.TOOLS, held_out=True)


empty_tool_list_allows_all = fault.wrap(
    "services.tools.registry:ToolRegistry._listed",
    instead(lambda listed, self, names: not self._settings.core_tools or listed(self, names)),
    says="An empty list of offered tools offers all tools.",
    origin="a check for emptiness instead of absence",
)
unknown_tool_not_corrected = fault.wrap(
    "services.scheduler.validation:nearest_names",
    returns(""),
    says="The refusal of an unknown tool does not name similar tools.",
    origin="the framework's own message for unknown tools",
)
finished_result_lost_by_abort = fault.wrap(
    "services.scheduler.execution:ToolExecutor._stopped",
    instead(lambda _, self, call, _result: _cancelled(call.request, _USER_CANCELLED)),
    says="A tool's result after an abort is discarded.",
    origin="cancellation of the task in which the tool runs",
)
wait_for_previous_ignored = fault.wrap(
    "services.scheduler.scheduler:is_parallelizable",
    passing(request=lambda request: replace(request, args={})),
    says="A call that asks to wait for earlier calls runs beside them.",
    origin="a framework that runs all calls of a turn at once",
)
edits_share_a_wave = fault.wrap(
    "services.scheduler.scheduler:_ALONE",
    lambda _: frozenset(),
    says="Edits run beside other calls instead of alone.",
    origin="a framework that runs all calls of a turn at once",
)
topics_not_first = fault.wrap(
    "services.scheduler.scheduler:_topics_first",
    lambda _: list,
    says="A topic is announced in call order, not before the other calls.",
    origin="calls run in the model's order",
)
truncated_one_later = fault.wrap(
    "services.scheduler.truncation:js_length",
    result(lambda found: found - 1),
    says="An output one character over the threshold is returned whole.",
    origin="`<` for `<=`",
)
truncation_counts_bytes = fault.wrap(
    "services.scheduler.truncation:js_length",
    instead(lambda _, text: len(text.encode("utf-8", "surrogatepass"))),
    says="An output's length limit is checked in bytes.",
    origin="another language's length of a text",
)
images_beside_response = fault.wrap(
    "services.scheduler.execution:convert_to_function_response",
    passing(model=lambda _: ""),
    says="Images stand beside a function response even for models that take them inside.",
    origin="a framework's conversion, with one shape for all models",
)
content_length_in_code_points = held_out.wrap(
    "services.scheduler.execution:js_length",
    instead(lambda _, text: len(text)),
    says="The length of the model's content is counted in code points.",
    origin="another language's length of a text",
)
sound_of_files_stripped = held_out.wrap(
    "services.scheduler.responses:_READERS",
    lambda _: frozenset(),
    says="Audio that a file tool read is left out, as for any other tool.",
    origin="an exception for two tools that was not ported",
)
former_tool_names_unknown = held_out.wrap(
    "services.tools.registry:ALIASES",
    lambda _: {},
    says="A tool's former name is unknown.",
    origin="a new registry with only current names",
)
excluded_tool_still_runs = held_out.wrap(
    "services.tools.registry:ToolRegistry.get",
    instead(lambda _, self, name: self._tools.get(name)),
    says="An excluded tool is not declared, but runs when it is called.",
    origin="exclusion made a matter of declarations alone",
)
declarations_by_name = held_out.wrap(
    "services.tools.registry:ToolRegistry.declarations",
    result(lambda found: sorted(found, key=lambda declared: str(declared["name"]))),
    says="Tools are declared in the order of their names, not of their registration.",
    origin="a sort to make requests alike",
)
saved_outputs_share_a_file = held_out.wrap(
    "services.scheduler.truncation:save_tool_output",
    passing(output_id=lambda _: "output"),
    says="All long outputs of one tool are saved to one file, so only the last remains.",
    origin="a file named after the tool instead of the call",
)
refused_edit_not_shown = held_out.wrap(
    "services.scheduler.states:_pending_edit",
    returns(None),
    says="An edit that the user refused is shown without its diff.",
    origin="the question's details cleared before the call ends",
    closed_by="tools/edits_refused",
)


@fault(
    "services.scheduler.validation:Resolver.resolve",
    origin="an adapter that substitutes `{}` for invalid arguments",
)
def bad_arguments_become_empty(resolve: Any, self: Any, request: Any, mode: Any) -> Any:
    """A call with invalid arguments runs without arguments."""
    call = resolve(self, request, mode)
    failed = call.response is not None and call.response.error_type
    if failed is ToolErrorType.INVALID_TOOL_PARAMS:
        return resolve(self, replace(request, args={}), mode)
    return call


@fault(
    "services.scheduler.validation:Resolver.resolve",
    origin="a framework that validates arguments before it calls its tools, and raises",
)
def bad_arguments_end_the_turn(resolve: Any, self: Any, request: Any, mode: Any) -> Any:
    """A call with invalid arguments ends the stream instead of being answered."""
    call = resolve(self, request, mode)
    failed = call.response is not None and call.response.error_type
    if failed is ToolErrorType.INVALID_TOOL_PARAMS:
        raise InvalidToolParams(call.response.error)
    return call


@fault(
    "services.scheduler.states:CallStore.transition",
    origin="results collected as tasks complete",
)
def results_in_completion_order(
    transition: Any, self: Any, call_id: str, status: Any, data: Any = None
) -> None:
    """Results of parallel calls are ordered by completion."""
    transition(self, call_id, status, data)
    call = self._active.get(call_id)
    if call is not None and call.status.terminal:
        self._active[call_id] = self._active.pop(call_id)


@fault(
    "services.scheduler.execution:ToolExecutor.run",
    origin="an empty result taken for a missing one by a retrying adapter",
)
async def silent_tool_run_twice(run: Any, self: Any, call: Any, signal: Any) -> Any:
    """A tool that returns nothing is run twice."""
    ending = await run(self, call, signal)
    answer = ending.response.response_parts[0]["functionResponse"]["response"]
    silent = not answer.get("output") or "Output: (empty)" in answer["output"]
    if ending.status is CallStatus.SUCCESS and silent:
        return await run(self, call, signal)
    return ending


@fault(
    "services.scheduler.execution:ToolExecutor._returned",
    origin="an adapter that returns the error's text as the tool's value",
)
async def tool_error_told_as_output(
    returned: Any, self: Any, call: Any, result: Any, signal: Any
) -> Any:
    """A tool's failure reaches the model and clients as a successful result."""
    ending = await returned(self, call, result, signal)
    if ending.status is not CallStatus.ERROR:
        return ending
    message = ending.response.error
    answer = ending.response.response_parts[0]["functionResponse"]
    part = {"functionResponse": {**answer, "response": {"output": message}}}
    response = replace(ending.response, response_parts=(part,), error=None, error_type=None)
    return Ending(CallStatus.SUCCESS, response)


@fault(
    "services.scheduler.truncation:truncated_output",
    origin="the proportion of head and tail swapped",
)
def truncation_keeps_head(shorten: Any, content: str, file: Any, max_chars: int) -> str:
    """A long output keeps its first four fifths instead of its last."""
    length = len(content)
    if length <= max_chars:
        return content
    tail = max_chars // 5
    head = max_chars - tail
    return (
        f"Output too large. Showing first {head:,} and last {tail:,} characters. "
        f"For full output see: {file}\n{content[:head]}\n\n"
        f"... [{length - max_chars:,} characters omitted] ...\n\n{content[length - tail :]}"
    )


@fault(
    "services.scheduler.truncation:OutputLimiter.shorten",
    origin="truncation both in the tool's adapter and in the scheduler",
)
async def saved_output_truncated_again(shorten: Any, self: Any, call: Any, content: Any) -> Any:
    """A shortened and saved output is shortened again, with its notice."""
    short = await shorten(self, call, content)
    if short.file is None or not isinstance(short.content, str):
        return short
    return replace(short, content=truncated_output(short.content, short.file, self.threshold()))


@held_out(
    "services.scheduler.scheduler:ToolScheduler._next_wave",
    origin="a loop over calls that ends at the first error",
)
def failed_call_ends_its_batch(next_wave: Any, self: Any) -> Any:
    """A call that cannot be made cancels the calls queued behind it."""
    goes_on = next_wave(self)
    if not goes_on:
        self._store.cancel_queued("Operation cancelled")
    return goes_on


@held_out(
    "services.scheduler.execution:ToolExecutor._returned",
    origin="an error type that carries one message",
)
async def failure_shown_as_told(
    returned: Any, self: Any, call: Any, result: Any, signal: Any
) -> Any:
    """The display of a failed tool is lost: users see the model's text."""
    ending = await returned(self, call, result, signal)
    if ending.status is not CallStatus.ERROR:
        return ending
    response = replace(ending.response, result_display=ending.response.error, display=None)
    return replace(ending, response=response)


@held_out(
    "services.scheduler.execution:convert_to_function_response",
    origin="a framework's helper that gives the text of a content",
)
def texts_of_a_result_run_together(
    convert: Any, name: str, call_id: str, content: Any, model: str
) -> Any:
    """Several texts of one result are joined without a line break between them."""
    if isinstance(content, list):
        parts = [{"text": part} if isinstance(part, str) else part for part in content]
        texts = [part["text"] for part in parts if part.get("text") is not None]
        others = [part for part in parts if part.get("text") is None]
        content = [{"text": "".join(texts)}, *others] if texts else others
    return convert(name, call_id, content, model)


@held_out(
    "services.tools.registry:ToolRegistry.get",
    origin="a framework that looks for tools among those it declared",
)
def tool_not_offered_is_unknown(get: Any, self: Any, name: str) -> Any:
    """A tool not offered to the main model cannot be called."""
    tool = get(self, name)
    return tool if tool is not None and self._offered(tool) else None


@held_out("services.tools.base:DeclarativeTool.build", origin="a validator that coerces")
def numbers_taken_as_texts(build: Any, self: Any, params: Any) -> Any:
    """A number in place of a string is converted instead of refused."""
    if isinstance(params, dict):
        known = self.parameters["properties"]
        params = {
            key: str(value)
            if type(value) is int and known.get(key, {}).get("type") == "string"
            else value
            for key, value in params.items()
        }
    return build(self, params)


null_arguments_left_out = held_out.wrap(
    "services.tools.base:DeclarativeTool.build",
    passing(
        params=lambda given: (
            {key: given[key] for key in given if given[key] is not None}
            if isinstance(given, dict)
            else given
        )
    ),
    says="Null arguments count as missing.",
    origin="a conversion of arguments without null",
)


@held_out(
    "services.tools.base:DeclarativeTool.build", origin="a tool derived from a function's signature"
)
def further_arguments_refused(build: Any, self: Any, params: Any) -> Any:
    """A call with an undeclared argument is refused."""
    known = {*self.parameters["properties"], "wait_for_previous"}
    if isinstance(params, dict) and not params.keys() <= known:
        raise InvalidToolParams("params must NOT have additional properties")
    return build(self, params)
