"""`ChildCalls`: one turn's function calls of a child, from the model's words to its answer.

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
"""Takes a batch and what runs it; may change the calls, answer some itself, replace results."""

logger = logging.getLogger(__name__)

_REJECTED: Final = (
    f"{REJECTED_PREFIX} Please acknowledge this, rethink your strategy, and try a different "
    "approach. If you cannot proceed without the rejected operation, summarize the issue and use "
    f"`{COMPLETE_TASK}` to report your findings and the blocker."
)


class LostToolResult(RuntimeError):
    """A call has no answer although nothing was aborted. `name` is the wire's."""

    name = "Error"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsOutcome:
    """What came of a turn's calls."""

    parts: tuple[Part, ...]
    """The next message: one function response per call, in order of the calls."""
    submitted_output: str | None
    completed: bool
    """`complete_task` has succeeded."""
    aborted: bool
    """A call was cancelled, not by a person's no. It counts for more than `completed`."""


class ChildCalls:
    """Runs the calls of one child, turn by turn, and tells its activities."""

    def __init__(
        self,
        child: ChildServices,
        *,
        waiting: Callable[[bool], None],
        record: Callable[[str, Sequence[CompletedToolCall]], None],
    ) -> None:
        """Make it.

        Args:
            child: the child.
            waiting: told True when a person begins to be waited for, False when they answered.
            record: records completed calls under a model, before anything is told of them.
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
            around: takes part before and after the batch runs.
            added: names of tools that `around` brings, besides those of the child's toolset.

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
            parts=tuple(batch.answers(signal)),
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
    """One turn's calls under their ids, and what is known of each so far."""

    child: ChildServices
    prompt_id: str
    calls: list[tuple[str, JsonObject]]
    names: dict[str, str] = field(default_factory=dict)
    """What the model called under each id. A hook may have another tool called after it under the
    same id; what came of that is told under the first one's name."""
    results: dict[str, Part | None] = field(default_factory=dict)
    submitted: str | None = None
    task_completed: bool = False
    aborted: bool = False

    def requests(self, added: frozenset[str]) -> list[ToolCallRequest]:
        """Those that go to a scheduler; the others are answered at once."""
        allowed = self.child.toolset.allowed_names() | added
        requests: list[ToolCallRequest] = []
        for call_id, call in self.calls:
            try:
                args = _parsed_arguments(call)
            except ValueError as error:
                self._refuse(call_id, call, "tool_call", str(error))
                continue
            self._tell_start(call_id, call, args)
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
        """Tell what came of a call, and keep its answer."""
        call_id, response = call.request.call_id, call.response
        answer = response.response_parts[0] if response.response_parts else None
        if call.status is CallStatus.SUCCESS:
            self._take_success(call)
        elif call.status is CallStatus.ERROR:
            self._tell_error(call, response.error or "Unknown error", ActivityErrorType.GENERIC)
        elif call.outcome is ConfirmationOutcome.CANCEL:
            self._tell_error(call, _REJECTED, ActivityErrorType.REJECTED)
            answer = _error_response(call_id, {"name": self._called(call)}, _REJECTED)
        else:
            self._tell_error(call, CANCELLED_MESSAGE, ActivityErrorType.CANCELLED)
            self.aborted = True
        self.results[call_id] = answer

    def answers(self, signal: AbortSignal) -> Iterator[Part]:
        """One answer per call.

        Raises:
            LostToolResult: a call has none although the run goes on.
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
        told: JsonObject = {"name": self._called(call), "id": call.request.call_id}
        if response.result_display is not None:
            told["output"] = response.result_display
        if response.data is not None:
            told["data"] = dict(response.data)
        self.child.tell(ActivityType.TOOL_CALL_END, told)
        data = response.data or {}
        if call.request.name != COMPLETE_TASK or self.task_completed:
            return
        if data.get("taskCompleted") is True:
            self.task_completed = True
            output = data.get("submittedOutput")
            self.submitted = output if isinstance(output, str) else None

    def _tell_start(self, call_id: str, call: JsonObject, args: JsonObject) -> None:
        name, told = _shown(call), _named(call)
        if told:
            told["displayName"] = name
        tool = self.child.services.tools.get(name)
        if tool is not None:
            told["displayName"] = tool.display_name
            try:
                told["description"] = tool.build(args).description()
            except Exception:  # whatever is wrong with the call is told when it is run
                logger.debug("no description of a call of %s", name, exc_info=True)
        self.child.tell(ActivityType.TOOL_CALL_START, {**told, "args": args, "callId": call_id})

    def _refuse(self, call_id: str, call: JsonObject, context: str, error: str) -> None:
        named = _named(call)
        self.results[call_id] = _error_response(call_id, named, error)
        self.child.tell(
            ActivityType.ERROR,
            {
                "context": context,
                **named,
                "callId": call_id,
                "error": error,
                "errorType": ActivityErrorType.GENERIC.value,
            },
        )

    def _tell_error(self, call: CompletedToolCall, error: str, type: ActivityErrorType) -> None:
        self.child.tell(
            ActivityType.ERROR,
            {
                "context": "tool_call",
                "name": self._called(call),
                "callId": call.request.call_id,
                "error": error,
                "errorType": type.value,
            },
        )


def unauthorized(name: str) -> str:
    """What the model is told of a call of a tool that is not the child's."""
    return f"Unauthorized tool call: '{name}' is not available to this agent."


def _parsed_arguments(call: JsonObject) -> JsonObject:
    """A call's arguments; a model may give them as JSON text.

    Raises:
        ValueError: the text is no JSON; the message is what the model is told.
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
    """The `name` that is told of a call; a model may have given none."""
    name = call.get("name")
    return {"name": name} if isinstance(name, str) else {}


def _shown(call: JsonObject) -> str:
    """The name in a text."""
    return str(_named(call).get("name", "undefined"))


def _error_response(call_id: str, named: JsonObject, error: str) -> Part:
    return {"functionResponse": {**named, "id": call_id, "response": {"error": error}}}
