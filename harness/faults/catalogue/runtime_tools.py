"""Faults of the runtimes in tool calls: their arguments, batches and results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.scheduler.calls import CallStatus
from services.tools.contract import InvalidToolParams, ToolErrorType

__all__ = ["FAULTS"]

_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.TOOLS)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.TOOLS)


def _once_each(take: Any) -> Any:
    def broken(self: Any, event: Any) -> None:
        request = getattr(event, "request", None)
        if request is None or all(
            (known.name, known.args) != (request.name, request.args) for known in self.requests
        ):
            take(self, event)

    return broken


def _counting_ids_per_chunk(read: Any) -> Any:
    def broken(self: Any, chunk: Any) -> Iterator[Any]:
        self._call_ids._count = 0
        found: Iterator[Any] = read(self, chunk)
        return found

    return broken


def _seeing_last_text(take: Any) -> Any:
    def broken(self: Any, event: Any) -> None:
        if type(event).__name__ == "ContentText":
            self.visible_text = False
        take(self, event)

    return broken


def _not_splitting(_: Any) -> Any:
    def broken(self: Any, content: Any) -> None:
        self.push(self.recording.record_synthetic_message("user", content["parts"]), content)

    return broken


def _without_display(request: Any) -> Any:
    def broken(self: Any, call: Any, trace_id: Any) -> Any:
        return replace(request(self, call, trace_id), display=None)

    return broken


def _told_as_success(tool_response: Any) -> Any:
    def broken(self: Any, call: Any) -> Any:
        response = replace(call.response, error=None)
        return tool_response(self, replace(call, response=response))

    return broken


def _slow_ones_last(response_event: Any) -> Any:
    def broken(context: Any, completed: Any, *, last: bool) -> Any:
        ordered = sorted(completed, key=lambda call: call.request.name == "run_shell_command")
        return response_event(context, ordered, last=last)

    return broken


def _one_per_tool(response_event: Any) -> Any:
    def broken(context: Any, completed: Any, *, last: bool) -> Any:
        event = response_event(context, completed, last=last)
        kept = {call.request.name: call.response.response_parts for call in completed}
        parts = [part for parts in kept.values() for part in parts]
        content = event.content
        event.content = type(content).of({**content.wire, "parts": parts}, content.note)
        return event

    return broken


def _says_nothing(call: Any) -> bool:
    if call.status is not CallStatus.SUCCESS:
        return False
    responses = [part.get("functionResponse") or {} for part in call.response.response_parts]
    return all((said.get("response") or {}).get("output") in (None, "") for said in responses)


def _silent_ones_again(run: Any) -> Any:
    async def broken(self: Any, sending: Any, tools: Any) -> Any:
        completed = await run(self, sending, tools)
        again = [call.request for call in completed or () if _says_nothing(call)]
        if again:
            await self._services.scheduler.schedule(again, sending.signal)
        return completed

    return broken


def _without_error(tool_response: Any) -> Any:
    def broken(self: Any, call: Any) -> Any:
        return tool_response(self, replace(call, response=replace(call.response, error=None)))

    return broken


def _forgetting_failed_attempts(wait: Any) -> Any:
    async def broken(self: Any, *args: Any) -> None:
        self._run.step.answer.calls.clear()
        await wait(self, *args)

    return broken


def _emptying_bad_arguments(tool_call_request: Any) -> Any:
    def broken(tools: Any, prompt_id: str, call: Any, *args: Any) -> Any:
        tool = tools.get(call.get("name") or "")
        try:
            if tool is not None:
                tool.build(call.get("args") or {})
        except InvalidToolParams:
            call = {**call, "args": {}}
        return tool_call_request(tools, prompt_id, call, *args)

    return broken


def _never_stopping(verdict: Any) -> Any:
    def broken(completed: Any) -> Any:
        found = verdict(completed)
        return None if found == "completed" else found

    return broken


def _recording_last(record: Any) -> Any:
    def broken(self: Any, completed: Any) -> None:
        record(self, completed[-1:])

    return broken


def _ending_on_any_error(verdict: Any) -> Any:
    def broken(completed: Any) -> Any:
        refused = [
            replace(call, response=replace(call.response, error_type=ToolErrorType.NO_SPACE_LEFT))
            if call.response.error_type is ToolErrorType.INVALID_TOOL_PARAMS
            else call
            for call in completed
        ]
        return verdict(refused)

    return broken


def _undescribed(tool_call_request: Any) -> Any:
    def broken(tools: Any, *args: Any) -> Any:
        request = tool_call_request(tools, *args)
        shown, tool = request.display, tools.get(request.name)
        if tool is None or shown.description != tool.description:
            return request
        return replace(request, display=replace(shown, description=None))

    return broken


FAULTS: Final = (
    _legacy(
        name="same-calls-run-once",
        says="Of two calls of one answer that are the same only the first is run and answered.",
        origin="a guard against duplicates that goes by name and arguments instead of ids",
        breaks=lambda: replaced("runtimes.legacy.agent:_TurnOutcome.take", _once_each),
    ),
    _legacy(
        name="call-ids-counted-per-chunk",
        says="Calls without ids that come in different chunks get one and the same id.",
        origin="a counter that lives as long as a chunk instead of as long as the turn",
        breaks=lambda: replaced("runtimes.legacy.turn:Turn._read", _counting_ids_per_chunk),
    ),
    _legacy(
        name="nudge-after-trailing-blank",
        says="An answer whose last fragment is blank counts as empty, and the model is nudged.",
        origin="seen in agent migrations: a nudge inserted where upstream has none",
        breaks=lambda: replaced("runtimes.legacy.agent:_TurnOutcome.take", _seeing_last_text),
    ),
    _legacy(
        name="binary-kept-in-response",
        says="Images and files that a tool read stay inside its response.",
        origin="a port that leaves out upstream's turn of its own for binary data",
        breaks=lambda: replaced(
            "runtimes.legacy.chat:GeminiChat._take_tool_response", _not_splitting
        ),
    ),
    _legacy(
        name="call-display-lost",
        says="A requested call comes without what people are shown of it.",
        origin="a translator that keeps the fields the model knows",
        breaks=lambda: replaced("runtimes.legacy.turn:Turn._request", _without_display),
    ),
    _legacy(
        name="failed-call-told-as-success",
        says="A call that failed is told as a success that says what the model was told.",
        origin="a mapping of responses that has no place for the error",
        breaks=lambda: replaced(
            "runtimes.legacy.translate:StreamTranslator.tool_response", _told_as_success
        ),
    ),
    _adk(
        name="results-as-they-finish",
        says="Results stand in the order in which calls finish: those of processes come last.",
        origin="seen in agent migrations: results in completion order instead of request order",
        breaks=lambda: replaced("runtimes.adk.continuation:_response_event", _slow_ones_last),
    ),
    _adk(
        name="parallel-results-overwritten",
        says="Of parallel calls of one tool the model is told the last one's result only.",
        origin="seen in agent migrations: parallel state overwritten",
        breaks=lambda: replaced("runtimes.adk.continuation:_response_event", _one_per_tool),
    ),
    _adk(
        name="speechless-tool-run-again",
        says="A tool that returns nothing is run a second time.",
        origin="seen in agent migrations: a tool that returns nothing run twice",
        breaks=lambda: replaced(
            "runtimes.adk.continuation:Continuation._completed", _silent_ones_again
        ),
    ),
    _adk(
        name="tool-error-not-told",
        says="A failed call's event has no error, just the response that the model gets.",
        origin="google-adk's tool callbacks, for which an error is one more result",
        breaks=lambda: replaced(
            "runtimes.adk.translate:EventTranslator.tool_response", _without_error
        ),
    ),
    _adk(
        name="calls-of-failed-attempts-dropped",
        behaviour=Behaviour.ERRORS,
        says="Calls told before a stream broke off are not run when another attempt answers.",
        origin="a retry that starts over, though clients have been told",
        breaks=lambda: replaced(
            "runtimes.adk.model_call:ModelCall._wait", _forgetting_failed_attempts
        ),
    ),
    _adk(
        name="bad-arguments-emptied",
        says="Arguments that a tool refuses are replaced by none at all.",
        origin="seen in agent migrations: bad tool arguments turned into `{}`",
        breaks=lambda: replaced(
            "runtimes.adk.model_call:tool_call_request", _emptying_bad_arguments
        ),
    ),
    _adk(
        name="bad-arguments-fatal",
        says="Arguments that a tool refuses end the stream as failed.",
        origin="seen in agent migrations: bad tool arguments turned fatal",
        breaks=lambda: replaced(
            "runtimes.adk.continuation:end_reason_of_calls", _ending_on_any_error
        ),
    ),
    _adk(
        name="stopping-tool-answered",
        behaviour=Behaviour.HOOKS,
        says="A tool call that a hook ended the run with goes to the model all the same.",
        origin="google-adk's loop, which no result can end",
        breaks=lambda: replaced("runtimes.adk.continuation:end_reason_of_calls", _never_stopping),
    ),
    _adk(
        name="only-last-call-recorded",
        says="Of a batch of calls the recording keeps the last.",
        origin="seen in agent migrations: parallel state overwritten",
        breaks=lambda: replaced("runtimes.adk.continuation:Continuation._record", _recording_last),
    ),
    _adk(
        name="refused-call-undescribed",
        says="A call with arguments that do not fit is shown without a description.",
        origin="a port that forgets upstream's substitute, the tool's own description",
        breaks=lambda: replaced("runtimes.adk.model_call:tool_call_request", _undescribed),
    ),
)
