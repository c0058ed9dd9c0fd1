"""Faults of services in calls: arguments, order, what is told of their results."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.output_files import truncated_output
from services.scheduler.calls import CallStatus
from services.scheduler.execution import Ending
from services.tools.contract import InvalidToolParams, ToolErrorType

__all__ = ["FAULTS"]

_tools = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.TOOLS)


def _with_empty_arguments(resolve: Any) -> Any:
    def broken(self: Any, request: Any, mode: Any) -> Any:
        call = resolve(self, request, mode)
        failed = call.response is not None and call.response.error_type
        if failed is ToolErrorType.INVALID_TOOL_PARAMS:
            return resolve(self, replace(request, args={}), mode)
        return call

    return broken


def _fatal(resolve: Any) -> Any:
    def broken(self: Any, request: Any, mode: Any) -> Any:
        call = resolve(self, request, mode)
        failed = call.response is not None and call.response.error_type
        if failed is ToolErrorType.INVALID_TOOL_PARAMS:
            raise InvalidToolParams(call.response.error)
        return call

    return broken


def _empty_list_is_none(listed: Any) -> Any:
    def broken(self: Any, names: Any) -> Any:
        return not self._settings.core_tools or listed(self, names)

    return broken


def _without_suggestion(_: Any) -> Any:
    return lambda _unknown, _names: ""


def _by_completion(transition: Any) -> Any:
    def broken(self: Any, call_id: str, status: Any, data: Any = None) -> None:
        transition(self, call_id, status, data)
        call = self._active.get(call_id)
        if call is not None and call.status.terminal:
            self._active[call_id] = self._active.pop(call_id)

    return broken


def _lost(_: Any) -> Any:
    async def broken(self: Any, call: Any, _result: Any) -> Any:
        return _cancelled_response(call.request)

    return broken


def _cancelled_response(request: Any) -> Any:
    from services.scheduler.execution import _USER_CANCELLED, _cancelled

    return _cancelled(request, _USER_CANCELLED)


def _again_when_silent(run: Any) -> Any:
    async def broken(self: Any, call: Any, signal: Any) -> Any:
        ending = await run(self, call, signal)
        told = ending.response.response_parts[0]["functionResponse"]["response"]
        silent = not told.get("output") or "Output: (empty)" in told["output"]
        if ending.status is CallStatus.SUCCESS and silent:
            return await run(self, call, signal)
        return ending

    return broken


def _as_success(returned: Any) -> Any:
    async def broken(self: Any, call: Any, result: Any, signal: Any) -> Any:
        ending = await returned(self, call, result, signal)
        if ending.status is not CallStatus.ERROR:
            return ending
        message = ending.response.error
        answer = ending.response.response_parts[0]["functionResponse"]
        part = {"functionResponse": {**answer, "response": {"output": message}}}
        told = replace(ending.response, response_parts=(part,), error=None, error_type=None)
        return Ending(CallStatus.SUCCESS, told)

    return broken


def _unmarked(is_parallelizable: Any) -> Any:
    def broken(request: Any) -> Any:
        return is_parallelizable(replace(request, args={}))

    return broken


def _nothing_alone(_: Any) -> Any:
    return frozenset()


def _as_requested(_: Any) -> Any:
    return list


def _one_less(length: Any) -> Any:
    return lambda text: length(text) - 1


def _in_bytes(_: Any) -> Any:
    return lambda text: len(text.encode("utf-8", "surrogatepass"))


def _mostly_head(shorten: Any) -> Any:
    def broken(content: str, file: Any, max_chars: int) -> str:
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

    return broken


def _cut_again(shorten: Any) -> Any:
    async def broken(self: Any, call: Any, content: Any) -> Any:
        short = await shorten(self, call, content)
        if short.file is None or not isinstance(short.content, str):
            return short
        return replace(short, content=truncated_output(short.content, short.file, self.threshold()))

    return broken


def _for_old_models(convert: Any) -> Any:
    def broken(name: str, call_id: str, content: Any, _model: str) -> Any:
        return convert(name, call_id, content, "")

    return broken


FAULTS: Final = (
    _tools(
        name="bad-arguments-become-empty",
        says="A call whose arguments are refused is made with none at all.",
        origin="an adapter that falls back to `{}` where arguments do not validate",
        breaks=lambda: replaced(
            "services.scheduler.validation:Resolver.resolve", _with_empty_arguments
        ),
    ),
    _tools(
        name="bad-arguments-end-the-turn",
        says="A call whose arguments are refused ends the stream instead of being answered.",
        origin="a framework that validates arguments before it calls its tools, and raises",
        breaks=lambda: replaced("services.scheduler.validation:Resolver.resolve", _fatal),
    ),
    _tools(
        name="empty-tool-list-allows-all",
        says="An empty list of tools to offer offers them all.",
        origin="a list tested for truth where it is to be tested for presence",
        breaks=lambda: replaced(
            "services.tools.registry:ToolRegistry._listed", _empty_list_is_none
        ),
    ),
    _tools(
        name="unknown-tool-not-corrected",
        says="A call to an unknown tool is refused without naming the nearest ones.",
        origin="the framework's own message for unknown tools",
        breaks=lambda: replaced("services.scheduler.validation:nearest_names", _without_suggestion),
    ),
    _tools(
        name="results-in-completion-order",
        says="Results of parallel calls go back in the order in which they came.",
        origin="results taken as tasks complete instead of gathered",
        breaks=lambda: replaced("services.scheduler.states:CallStore.transition", _by_completion),
    ),
    _tools(
        name="finished-result-lost-by-abort",
        says="What a tool brought back after an abort is thrown away.",
        origin="cancellation of the task in which the tool runs",
        breaks=lambda: replaced("services.scheduler.execution:ToolExecutor._stopped", _lost),
        unobservable="an abort ends the stream before what cancelled calls brought back is told, "
        "recorded or sent: tests/harness/faults/test_unobservable_services.py",
    ),
    _tools(
        name="silent-tool-run-twice",
        says="A tool that has nothing to say is run once more.",
        origin="an empty result taken for a missing one by a retrying adapter",
        breaks=lambda: replaced(
            "services.scheduler.execution:ToolExecutor.run", _again_when_silent
        ),
    ),
    _tools(
        name="tool-error-told-as-output",
        says="A tool's failure reaches the model and clients as a successful result.",
        origin="an adapter that returns the error's text as the tool's value",
        breaks=lambda: replaced("services.scheduler.execution:ToolExecutor._returned", _as_success),
    ),
    _tools(
        name="wait-for-previous-ignored",
        says="A call that asks to wait for the ones before it runs beside them.",
        origin="a framework that runs all calls of a turn at once",
        breaks=lambda: replaced("services.scheduler.scheduler:is_parallelizable", _unmarked),
    ),
    _tools(
        name="edits-share-a-wave",
        says="Edits run beside other calls instead of alone.",
        origin="a framework that runs all calls of a turn at once",
        breaks=lambda: replaced("services.scheduler.scheduler:_ALONE", _nothing_alone),
    ),
    _tools(
        name="topics-not-first",
        says="A topic is announced where it stands among the calls, not before them.",
        origin="calls run as the model listed them",
        breaks=lambda: replaced("services.scheduler.scheduler:_topics_first", _as_requested),
    ),
    _tools(
        name="truncated-one-later",
        says="An output one character over the threshold is told whole.",
        origin="`<` for `<=`",
        breaks=lambda: replaced("services.scheduler.truncation:js_length", _one_less),
    ),
    _tools(
        name="truncation-counts-bytes",
        says="Whether an output is too long is decided by its bytes.",
        origin="another language's length of a text",
        breaks=lambda: replaced("services.scheduler.truncation:js_length", _in_bytes),
    ),
    _tools(
        name="truncation-keeps-head",
        says="Of a long output the first four fifths are shown instead of the last.",
        origin="the proportion of head and tail the other way round",
        breaks=lambda: replaced("services.scheduler.truncation:truncated_output", _mostly_head),
    ),
    _tools(
        name="saved-output-truncated-again",
        says="An output that was shortened and saved is shortened once more, notice and all.",
        origin="truncation both in the tool's adapter and in the scheduler",
        breaks=lambda: replaced("services.scheduler.truncation:OutputLimiter.shorten", _cut_again),
    ),
    _tools(
        name="images-beside-response",
        says="Images stand beside a function response also where the model takes them inside.",
        origin="a framework's conversion of results, which knows one shape",
        breaks=lambda: replaced(
            "services.scheduler.execution:convert_to_function_response", _for_old_models
        ),
    ),
)
