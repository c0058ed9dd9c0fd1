"""The state machine of tool calls, and the store that publishes every change of a call.

Source: core `scheduler/state-manager.ts`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from services.clock import Clock
from services.message_bus import MessageBus, ToolCallsUpdate
from services.scheduler.calls import (
    CallStatus,
    CompletedToolCall,
    ToolCallRequest,
    ToolCallResponse,
)
from services.scheduler.responses import reason_response
from services.state import ApprovalMode
from services.tools.contract import (
    CallProgress,
    ConfirmationDetails,
    ConfirmationOutcome,
    Tool,
    ToolInvocation,
)
from services.wire import Json, JsonObject, js_length

__all__ = [
    "TRANSITIONS",
    "Approval",
    "CallStore",
    "ExecutingPatch",
    "ToolCall",
    "TransitionError",
]

_V, _S, _X = CallStatus.VALIDATING, CallStatus.SCHEDULED, CallStatus.EXECUTING
_A = CallStatus.AWAITING_APPROVAL
_OK, _ERROR, _CANCELLED = CallStatus.SUCCESS, CallStatus.ERROR, CallStatus.CANCELLED

TRANSITIONS: Final[Mapping[CallStatus, frozenset[CallStatus]]] = {
    _V: frozenset({_ERROR, _A, _S, _CANCELLED}),
    _A: frozenset({_ERROR, _A, _S, _CANCELLED}),
    _S: frozenset({_X, _CANCELLED}),
    _X: frozenset({_X, _A, _OK, _ERROR, _CANCELLED}),
    _OK: frozenset(),
    _ERROR: frozenset(),
    _CANCELLED: frozenset(),
}
"""The allowed transitions. A call starts in `validating` or in `error`."""


class TransitionError(ValueError):
    """A transition that is not allowed."""


@dataclass(frozen=True, slots=True)
class Approval:
    """The data of `awaiting_approval`."""

    details: ConfirmationDetails
    correlation_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutingPatch:
    """The data of `executing`; `None` keeps the value before."""

    live_output: Json | None = None
    process_id: int | None = None
    progress: CallProgress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call in any state, without the values of the states before."""

    request: ToolCallRequest
    status: CallStatus
    scheduler_id: str
    approval_mode: ApprovalMode
    tool: Tool | None = None
    invocation: ToolInvocation | None = None
    started_ms: int | None = None
    outcome: ConfirmationOutcome | None = None
    confirmation_details: ConfirmationDetails | None = None
    correlation_id: str | None = None
    live_output: Json | None = None
    process_id: int | None = None
    progress: CallProgress | None = None
    response: ToolCallResponse | None = None
    duration_ms: int | None = None

    @property
    def call_id(self) -> str:
        """The request's id."""
        return self.request.call_id

    @property
    def name(self) -> str:
        """The tool's name in the request."""
        return self.request.name

    @property
    def parent_call_id(self) -> str | None:
        """For a subagent's call: the call that runs the subagent."""
        return self.request.parent_call_id

    def completed(self) -> CompletedToolCall:
        """The ended call for the caller of the scheduler.

        Raises:
            TransitionError: the call has not ended.
        """
        if self.response is None:
            raise TransitionError(f"Call {self.call_id} is {self.status}, not at its end")
        return CompletedToolCall(
            request=self.request,
            response=self.response,
            status=self.status,
            tool=self.tool,
            invocation=self.invocation,
            outcome=self.outcome,
            duration_ms=self.duration_ms,
        )


class CallStore:
    """The waiting, active and finished calls of one batch.

    Every change publishes a `ToolCallsUpdate` with all of them. Changes to a call that is not
    active or has ended are ignored, such as late output of a cancelled tool.
    """

    def __init__(self, bus: MessageBus, clock: Clock, scheduler_id: str) -> None:
        self._bus = bus
        self._clock = clock
        self._scheduler_id = scheduler_id
        self._queue: deque[ToolCall] = deque()
        self._active: dict[str, ToolCall] = {}
        self._completed: list[ToolCall] = []

    @property
    def active(self) -> list[ToolCall]:
        """Active calls, in the order in which they were dequeued."""
        return list(self._active.values())

    @property
    def completed(self) -> Sequence[ToolCall]:
        """Finished calls, in the order in which they were finalised; read only."""
        return self._completed

    @property
    def busy(self) -> bool:
        """Whether a call is waiting or active."""
        return bool(self._queue or self._active)

    def get(self, call_id: str) -> ToolCall | None:
        """The active call with this id."""
        return self._active.get(call_id)

    def enqueue(self, calls: Iterable[ToolCall]) -> None:
        """Add calls to the end of the queue."""
        self._queue.extend(calls)
        self._publish()

    def peek(self) -> ToolCall | None:
        """The first waiting call."""
        return self._queue[0] if self._queue else None

    def dequeue(self) -> ToolCall:
        """Make the first waiting call active."""
        call = self._queue.popleft()
        self._active[call.call_id] = call
        self._publish()
        return call

    def transition(self, call_id: str, status: CallStatus, data: object = None) -> None:
        """Move an active call to `status`.

        `data` is a `ToolCallResponse` for `success` and `error`, that or a reason for `cancelled`,
        an `Approval` for `awaiting_approval`, an `ExecutingPatch` or nothing for `executing`.

        Raises:
            TransitionError: no tool or invocation, or not a transition of the table.
        """
        call = self._active.get(call_id)
        if call is None or call.status.terminal:
            return
        _check(call, status)
        self._active[call_id] = _MOVES[status](self, call, data)
        self._publish()

    def patch(self, call_id: str, patch: ExecutingPatch) -> None:
        """Change what an executing call shows; ignore a call in any other state."""
        call = self._active.get(call_id)
        if call is not None and call.status is _X:
            self.transition(call_id, _X, patch)

    def finalise(self, call_id: str) -> None:
        """Move an ended call from the active to the finished ones."""
        call = self._active.get(call_id)
        if call is None or not call.status.terminal:
            return
        if call.duration_ms is not None and call.started_ms is None:
            call = replace(call, duration_ms=None)
        self._completed.append(call)
        del self._active[call_id]
        self._publish()

    def set_arguments(self, call_id: str, args: JsonObject, invocation: ToolInvocation) -> None:
        """Replace the arguments and the invocation of an active call."""
        call = self._active.get(call_id)
        if call is None or call.status is _ERROR:
            return
        request = replace(call.request, args=args)
        if request.display is not None:
            display = replace(request.display, description=invocation.description())
            request = replace(request, display=display)
        self._active[call_id] = replace(call, request=request, invocation=invocation)
        self._publish()

    def take_hook_arguments(
        self, call: ToolCall, args: JsonObject, invocation: ToolInvocation
    ) -> ToolCall:
        """Replace the arguments and the invocation by a hook's; return the changed call.

        Unlike `set_arguments` this keeps the display and publishes nothing: upstream changes the
        call in place.
        """
        request = replace(call.request, args=args, input_modified_by_hook=True)
        known = self._active.get(call.call_id)
        if known is not None and not known.status.terminal:
            self._active[call.call_id] = replace(known, request=request, invocation=invocation)
        return replace(call, request=request, invocation=invocation)

    def replace_by_tail(self, call_id: str, following: ToolCall) -> None:
        """Replace an active call by `following`, at the front of the queue."""
        if self._active.pop(call_id, None) is None:
            return
        self._queue.appendleft(following)
        self._publish()

    def set_outcome(self, call_id: str, outcome: ConfirmationOutcome) -> None:
        """Record the outcome of an active call's confirmation."""
        call = self._active.get(call_id)
        if call is None:
            return
        self._active[call_id] = replace(call, outcome=outcome)
        self._publish()

    def cancel_queued(self, reason: str) -> None:
        """Finish every waiting call as cancelled; calls in `error` keep that status."""
        if not self._queue:
            return
        while self._queue:
            call = self._queue.popleft()
            self._completed.append(call if call.status is _ERROR else self._cancelled(call, reason))
        self._publish()

    def cancel_active(self, reason: str) -> None:
        """Cancel and finalise every active call that has not ended."""
        for call in self.active:
            if not call.status.terminal:
                self.transition(call.call_id, _CANCELLED, reason)
                self.finalise(call.call_id)

    def clear_completed(self) -> None:
        """Forget the finished calls."""
        if self._completed:
            self._completed = []
            self._publish()

    def _publish(self) -> None:
        self._bus.publish(
            ToolCallsUpdate(
                calls=(*self._completed, *self._active.values(), *self._queue),
                scheduler_id=self._scheduler_id,
            )
        )

    def _bare(self, call: ToolCall, status: CallStatus) -> ToolCall:
        """The call in `status`, without the values of the state before."""
        return replace(
            call,
            status=status,
            confirmation_details=None,
            correlation_id=None,
            live_output=None,
            process_id=None,
            progress=None,
        )

    def _scheduled(self, call: ToolCall, _data: Any) -> ToolCall:
        return self._bare(call, _S)

    def _awaiting(self, call: ToolCall, approval: Approval) -> ToolCall:
        return replace(
            self._bare(call, _A),
            confirmation_details=approval.details,
            correlation_id=approval.correlation_id,
        )

    def _executing(self, call: ToolCall, patch: ExecutingPatch | None) -> ToolCall:
        known = patch or ExecutingPatch()
        process_id = call.process_id if known.process_id is None else known.process_id
        return replace(
            self._bare(call, _X),
            live_output=call.live_output if known.live_output is None else known.live_output,
            process_id=process_id,
            progress=_further(call.progress, known.progress),
        )

    def _ended(self, call: ToolCall, status: CallStatus, response: ToolCallResponse) -> ToolCall:
        began = call.started_ms
        return replace(
            self._bare(call, status),
            response=response,
            duration_ms=None if began is None else self._clock.now_ms() - began,
        )

    def _succeeded(self, call: ToolCall, response: ToolCallResponse) -> ToolCall:
        return self._ended(call, _OK, response)

    def _failed(self, call: ToolCall, response: ToolCallResponse) -> ToolCall:
        return replace(self._ended(call, _ERROR, response), invocation=None)

    def _cancelled(self, call: ToolCall, why: str | ToolCallResponse) -> ToolCall:
        shown = _pending_edit(call.confirmation_details) or call.live_output or None
        if isinstance(why, str):
            return self._ended(call, _CANCELLED, reason_response(call.request, why, shown))
        response = why if why.result_display else replace(why, result_display=shown)
        return self._ended(call, _CANCELLED, response)


_MOVES: Final[Mapping[CallStatus, Callable[[CallStore, ToolCall, Any], ToolCall]]] = {
    _S: CallStore._scheduled,
    _A: CallStore._awaiting,
    _X: CallStore._executing,
    _OK: CallStore._succeeded,
    _ERROR: CallStore._failed,
    _CANCELLED: CallStore._cancelled,
}


def _check(call: ToolCall, status: CallStatus) -> None:
    where = f"(callId: {call.call_id})"
    if status not in TRANSITIONS[call.status]:
        raise TransitionError(
            f"Invalid state transition: cannot transition from {call.status} to {status} {where}"
        )
    if status is not _ERROR and (call.tool is None or call.invocation is None):
        raise TransitionError(
            "Invalid state transition: cannot transition to "
            f"{status} without tool/invocation {where}"
        )


def _further(before: CallProgress | None, now: CallProgress | None) -> CallProgress | None:
    if before is None or now is None:
        return now or before
    return CallProgress(
        done=now.done,
        total=before.total if now.total is None else now.total,
        percent=before.percent if now.percent is None else now.percent,
        message=before.message if now.message is None else now.message,
    )


def _pending_edit(details: ConfirmationDetails | None) -> Json | None:
    """The edit that the user was asked about, as a result to display."""
    keys = ("fileDiff", "fileName", "filePath", "originalContent", "newContent")
    if details is None or details.type != "edit" or any(key not in details.fields for key in keys):
        return None
    stat = details.fields.get("diffStat") or _diff_stat(details.fields["fileDiff"])
    return {**{key: details.fields[key] for key in keys}, "diffStat": stat}


def _diff_stat(patch: str) -> JsonObject:
    """The lines and characters that a unified diff adds and removes, as upstream counts them."""
    lines = patch.split("\n")
    added = [line for line in lines if line.startswith("+") and not line.startswith("+++")]
    removed = [line for line in lines if line.startswith("-") and not line.startswith("---")]
    return {
        "model_added_lines": len(added),
        "model_removed_lines": len(removed),
        "model_added_chars": sum(js_length(line) - 1 for line in added),
        "model_removed_chars": sum(js_length(line) - 1 for line in removed),
        "user_added_lines": 0,
        "user_removed_lines": 0,
        "user_added_chars": 0,
        "user_removed_chars": 0,
    }
