"""`ChildCalls`: runs the function calls of one turn of a subagent and makes the responses.

Source: core `agents/local-executor.ts` (`processFunctionCalls`), `agents/agent-scheduler.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.abort import AbortSignal
from services.children.child_services import ChildServices
from services.mcp.json_text import parse_json
from services.scheduler.calls import CallStatus, CompletedToolCall, ToolCallRequest
from services.subagents.activity import (
    CANCELLED_MESSAGE,
    REJECTED_PREFIX,
    ActivityErrorType,
    ActivityType,
)
from services.subagents.definition import COMPLETE_TASK
from services.tools.contract import ConfirmationOutcome
from services.wire import JsonObject, Part

__all__ = ["Around", "CallsOutcome", "ChildCalls", "LostToolResult", "Schedule", "unauthorized"]

Schedule = Callable[[Sequence[ToolCallRequest]], Awaitable[Sequence[CompletedToolCall]]]
"""Runs a batch of calls to its end."""
Around = Callable[[Sequence[ToolCallRequest], Schedule], Awaitable[Sequence[CompletedToolCall]]]
"""Takes a batch and its `Schedule`; may change calls, answer some itself and replace results."""

logger = logging.getLogger(__name__)

_REJECTED: Final = (
    f"{REJECTED_PREFIX} Please acknowledge this, rethink your strategy, and try a different "
    "approach. If you cannot proceed without the rejected operation, summarize the issue and use "
    f"`{COMPLETE_TASK}` to report your findings and the blocker."
)


class LostToolResult(RuntimeError):
    """A call has no result although nothing was aborted. `name` is the wire's."""

    name = "Error"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsOutcome:
    """The results of a turn's calls."""

    parts: list[Part]
    """The next message: one function response for each call, in order of the calls."""
    submitted_output: str | None
    completed: bool
    """`complete_task` has succeeded."""
    aborted: bool
    """A call was cancelled, not refused by the user. This takes precedence over `completed`."""


class ChildCalls:
    """Runs the calls of one subagent, turn by turn, and reports its activities."""

    def __init__(
        self,
        child: ChildServices,
        *,
        waiting: Callable[[bool], None],
        record: Callable[[str, Sequence[CompletedToolCall]], None],
    ) -> None:
        """Make it.

        Args:
            child: the subagent.
            waiting: receives True when a confirmation begins to wait for the user, False when the
                user has answered.
            record: records completed calls under a model, before they are reported.
        """
        self._child = child
        self._waiting = waiting
        self._record = record

    async def run(
        self,
        calls: Sequence[JsonObject],
        prompt_id: str,
        signal: AbortSignal,
        model: str,
        *,
        around: Around | None = None,
        added: frozenset[str] = frozenset(),
    ) -> CallsOutcome:
        """Run one answer's function calls (`{name, args, id?}`).

        Args:
            calls: the calls.
            prompt_id: the turn's; also the scheduler's id.
            signal: ends the calls.
            model: recorded with the results.
            around: runs the batch, with actions before and after it.
            added: names of the tools that `around` adds to the subagent's toolset.

        Raises:
            LostToolResult: a call has no result.
        """
        batch = _Batch(self._child, prompt_id, list(_numbered(calls, prompt_id)))
        requests = batch.requests(added)
        if requests:

            async def schedule(
                requests: Sequence[ToolCallRequest],
            ) -> Sequence[CompletedToolCall]:
                return await self._scheduled(requests, prompt_id, signal)

            completed = await (around(requests, schedule) if around else schedule(requests))
            self._record(model, completed)
            for call in completed:
                batch.take(call)
        return CallsOutcome(
            parts=list(batch.answers(signal)),
            submitted_output=batch.submitted,
            completed=batch.task_completed,
            aborted=batch.aborted,
        )

    async def _scheduled(
        self, requests: Sequence[ToolCallRequest], prompt_id: str, signal: AbortSignal
    ) -> Sequence[CompletedToolCall]:
        services = self._child.services
        with services.scheduler.derived(
            registry=services.tools,
            bus=services.bus,
            ids=services.ids,
            scheduler_id=prompt_id,
            subagent=self._child.definition.name,
            waiting=self._waiting,
        ) as scheduler:
            return await scheduler.schedule(requests, signal)


@dataclass(slots=True)
class _Batch:
    """One turn's calls under their ids, and the results so far."""

    child: ChildServices
    prompt_id: str
    calls: list[tuple[str, JsonObject]]
    names: dict[str, str] = field(default_factory=dict)
    """The tool that the model called under each id. Reports keep this name when a hook replaces the
    call by a call of another tool."""
    results: dict[str, Part | None] = field(default_factory=dict)
    submitted: str | None = None
    task_completed: bool = False
    aborted: bool = False

    def requests(self, added: frozenset[str]) -> list[ToolCallRequest]:
        """The calls for the scheduler; refused calls get their answer here."""
        allowed = self.child.toolset.allowed_names() | added
        requests: list[ToolCallRequest] = []
        for call_id, call in self.calls:
            try:
                args = _parsed_arguments(call)
            except ValueError as error:
                self._refuse(call_id, call, "tool_call", str(error))
                continue
            self._report_start(call_id, call, args)
            name = _shown(call)
            if name not in allowed:
                self._refuse(call_id, call, "tool_call_unauthorized", unauthorized(name))
                continue
            self.names[call_id] = name
            requests.append(
                ToolCallRequest(
                    call_id=call_id,
                    name=name,
                    args=args,
                    prompt_id=self.prompt_id,
                    parent_call_id=self.child.request.parent_call_id,
                )
            )
        return requests

    def take(self, call: CompletedToolCall) -> None:
        """Report the end of a call and keep its answer."""
        call_id, response = call.request.call_id, call.response
        answer = response.response_parts[0] if response.response_parts else None
        if call.status is CallStatus.SUCCESS:
            self._take_success(call)
        elif call.status is CallStatus.ERROR:
            self._report_end(call, response.error or "Unknown error", ActivityErrorType.GENERIC)
        elif call.outcome is ConfirmationOutcome.CANCEL:
            self._report_end(call, _REJECTED, ActivityErrorType.REJECTED)
            answer = _error_response(call_id, {"name": self._called(call)}, _REJECTED)
        else:
            self._report_end(call, CANCELLED_MESSAGE, ActivityErrorType.CANCELLED)
            self.aborted = True
        self.results[call_id] = answer

    def answers(self, signal: AbortSignal) -> Iterator[Part]:
        """One answer for each call.

        Raises:
            LostToolResult: a call has no answer although the run goes on.
        """
        for call_id, call in self.calls:
            part = self.results.get(call_id)
            if part is not None:
                yield part
                continue
            name = _shown(call)
            if signal.aborted or (name == COMPLETE_TASK and self.task_completed):
                continue
            raise LostToolResult(
                "[LocalAgentExecutor] Critical System Failure: Tool execution result was "
                f"lost/dropped by the scheduler for callId {call_id} ({name}). This indicates an "
                "internal race condition or scheduler bug."
            )

    def _called(self, call: CompletedToolCall) -> str:
        return self.names.get(call.request.call_id, call.request.name)

    def _take_success(self, call: CompletedToolCall) -> None:
        response = call.response
        end: JsonObject = {"name": self._called(call), "id": call.request.call_id}
        if response.result_display is not None:
            end["output"] = response.result_display
        if response.data is not None:
            end["data"] = dict(response.data)
        self.child.report(ActivityType.TOOL_CALL_END, end)
        data = response.data or {}
        if call.request.name != COMPLETE_TASK or self.task_completed:
            return
        if data.get("taskCompleted") is True:
            self.task_completed = True
            output = data.get("submittedOutput")
            self.submitted = output if isinstance(output, str) else None

    def _report_start(self, call_id: str, call: JsonObject, args: JsonObject) -> None:
        name, start = _shown(call), _named(call)
        if start:
            start["displayName"] = name
        tool = self.child.services.tools.get(name)
        if tool is not None:
            start["displayName"] = tool.display_name
            try:
                start["description"] = tool.build(args).description()
            except Exception:  # the scheduler builds the call again and reports any error
                logger.debug("no description of a call of %s", name, exc_info=True)
        self.child.report(ActivityType.TOOL_CALL_START, {**start, "args": args, "callId": call_id})

    def _refuse(self, call_id: str, call: JsonObject, context: str, error: str) -> None:
        named = _named(call)
        self.results[call_id] = _error_response(call_id, named, error)
        self._report_error(context, named, call_id, error, ActivityErrorType.GENERIC)

    def _report_end(self, call: CompletedToolCall, error: str, type: ActivityErrorType) -> None:
        name = {"name": self._called(call)}
        self._report_error("tool_call", name, call.request.call_id, error, type)

    def _report_error(
        self, context: str, named: JsonObject, call_id: str, error: str, type: ActivityErrorType
    ) -> None:
        facts = {"callId": call_id, "error": error, "errorType": type.value}
        self.child.report(ActivityType.ERROR, {"context": context, **named, **facts})


def unauthorized(name: str) -> str:
    """The error for the model after a call of a tool that the subagent does not have."""
    return f"Unauthorized tool call: '{name}' is not available to this agent."


def _parsed_arguments(call: JsonObject) -> JsonObject:
    """A call's arguments; a model may give them as JSON text.

    Raises:
        ValueError: the text is no JSON; the model receives the message.
    """
    args = call.get("args")
    if not isinstance(args, str):
        return args or {}
    try:
        parsed = parse_json(args)
    except ValueError:
        raise ValueError(
            f'Failed to parse JSON arguments for tool "{_shown(call)}": {args}. '
            "Ensure you provide a valid JSON object."
        ) from None
    return parsed if isinstance(parsed, dict) else {}


def _numbered(calls: Sequence[JsonObject], prompt_id: str) -> Iterator[tuple[str, JsonObject]]:
    for index, call in enumerate(calls):
        given = call.get("id")
        yield (f"{prompt_id}-{index}" if given is None else str(given)), call


def _named(call: JsonObject) -> JsonObject:
    """The `name` in reports of a call; empty if the model gave none."""
    name = call.get("name")
    return {"name": name} if isinstance(name, str) else {}


def _shown(call: JsonObject) -> str:
    """The name in a text."""
    return str(_named(call).get("name", "undefined"))


def _error_response(call_id: str, named: JsonObject, error: str) -> Part:
    return {"functionResponse": {**named, "id": call_id, "response": {"error": error}}}
