"""The scheduler: the states of calls, and the responses that a model gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

from agent_protocol.events import ToolDisplay
from parity_tests.core_answers.subject import Subject
from services.clock import VirtualClock
from services.message_bus import MessageBus, ToolCallsUpdate
from services.scheduler.calls import CallStatus, ToolCallRequest, ToolCallResponse
from services.scheduler.responses import convert_to_function_response
from services.scheduler.states import Approval, CallStore, ExecutingPatch, ToolCall
from services.state import ApprovalMode
from services.tools.contract import (
    CallProgress,
    ConfirmationDetails,
    ConfirmationOutcome,
    Tool,
    ToolInvocation,
)

__all__ = ["SUBJECTS"]


def response(asked: dict[str, Any]) -> list[Any]:
    """The parts of a user turn that a tool's content becomes."""
    return convert_to_function_response(
        asked["name"], asked["id"], asked["content"], asked["model"]
    )


def states(steps: list[list[Any]]) -> list[list[Any]]:
    """What the store publishes at each step: the calls in all their states."""
    store = _Store()
    return [store.step(what, given) for what, *given in steps]


@dataclass(frozen=True, slots=True)
class _Described:
    text: str

    def description(self) -> str:
        return self.text


class _Store:
    """A store, and what it has published since the step began."""

    def __init__(self) -> None:
        self._clock = VirtualClock()
        self._published: list[Any] = []
        bus = MessageBus(cast("Any", None))
        bus.subscribe(ToolCallsUpdate, self._note)
        self._store = CallStore(bus, self._clock, "S")

    def _note(self, update: ToolCallsUpdate) -> None:
        calls = [_shown(cast("ToolCall", call)) for call in update.calls]
        self._published.append([update.scheduler_id, calls])

    def step(self, what: str, given: list[Any]) -> list[Any]:
        """Take a step; return what was published."""
        self._published = []
        getattr(self, f"_{what}")(*given)
        return self._published

    def _wait(self, ms: int) -> None:
        self._clock.advance(ms)

    def _enqueue(self, *calls: dict[str, Any]) -> None:
        self._store.enqueue([self._call(each) for each in calls])

    def _dequeue(self) -> None:
        if self._store.peek() is not None:
            self._store.dequeue()

    def _move(self, call_id: str, status: str, about: Any = None) -> None:
        self._store.transition(call_id, CallStatus(status), _data(call_id, status, about))

    def _finalise(self, call_id: str) -> None:
        self._store.finalise(call_id)

    def _args(self, call_id: str, args: dict[str, Any], text: str) -> None:
        self._store.set_arguments(call_id, args, _invocation(text))

    def _outcome(self, call_id: str, outcome: str) -> None:
        self._store.set_outcome(call_id, ConfirmationOutcome(outcome))

    def _tail(self, call_id: str, call: dict[str, Any]) -> None:
        self._store.replace_by_tail(call_id, self._call(call))

    def _cancel(self, reason: str) -> None:
        self._store.cancel_queued(reason)

    def _clear(self) -> None:
        self._store.clear_completed()

    def _call(self, about: dict[str, Any]) -> ToolCall:
        name, call_id = about["name"], about["id"]
        request = ToolCallRequest(
            call_id=call_id,
            name=name,
            args={"from": call_id},
            prompt_id="p",
            original_request_name=about.get("original"),
            display=ToolDisplay(name=name, description="before") if about.get("display") else None,
        )
        if "error" in about:
            return ToolCall(
                request=request,
                status=CallStatus.ERROR,
                scheduler_id="S",
                approval_mode=ApprovalMode.DEFAULT,
                response=_answer(call_id, about),
            )
        return ToolCall(
            request=request,
            status=CallStatus(about["status"]),
            scheduler_id="S",
            approval_mode=ApprovalMode.DEFAULT,
            tool=cast("Tool", about),
            invocation=_invocation("first"),
            started_ms=None if about.get("unstarted") else self._clock.now_ms(),
        )


def _invocation(text: str) -> ToolInvocation:
    return cast("ToolInvocation", _Described(text))


def _answer(call_id: str, about: dict[str, Any]) -> ToolCallResponse:
    said = {"error": about["error"]} if "error" in about else {"output": about["text"]}
    return ToolCallResponse(
        call_id=call_id,
        response_parts=({"functionResponse": {"id": call_id, "name": "t", "response": said}},),
        result_display=about.get("shown"),
        error=about.get("error"),
    )


def _data(call_id: str, status: str, about: Any) -> object:
    if status == "awaiting_approval":
        details = ConfirmationDetails(
            type=about["type"], title=about["title"], fields=about.get("fields", {})
        )
        return Approval(details, about["correlation"])
    if status == "executing":
        return None if about is None else _patch(about)
    return _answer(call_id, about) if isinstance(about, dict) else about


def _patch(about: dict[str, Any]) -> ExecutingPatch:
    progress = None
    if "progress" in about:
        progress = CallProgress(
            done=about["progress"],
            total=about.get("progressTotal"),
            percent=about.get("progressPercent"),
            message=about.get("progressMessage"),
        )
    return ExecutingPatch(
        live_output=about.get("liveOutput"), process_id=about.get("pid"), progress=progress
    )


def _shown(call: ToolCall) -> dict[str, Any]:
    answer, progress = call.response, call.progress
    display = call.request.display
    return {
        "id": call.call_id,
        "status": call.status,
        "args": call.request.args,
        "described": None if display is None else display.description,
        "outcome": call.outcome,
        "asked": None if call.confirmation_details is None else call.confirmation_details.title,
        "correlation": call.correlation_id,
        "live": call.live_output,
        "pid": call.process_id,
        "progress": None
        if progress is None
        else [progress.done, progress.total, progress.percent, progress.message],
        "answer": None if answer is None else list(answer.response_parts),
        "result": None if answer is None else answer.result_display,
        "length": None if answer is None else answer.content_length,
        "took": call.duration_ms,
    }


SUBJECTS: Final = (
    Subject("scheduler.response", response),
    Subject("scheduler.states", states),
    Subject("scheduler.edges", states),
)
