from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from services.scheduler.calls import CallStatus, ToolCallResponse
from services.scheduler.states import (
    TRANSITIONS,
    Approval,
    CallStore,
    ExecutingPatch,
    ToolCall,
    TransitionError,
)
from services.state import ApprovalMode
from services.tools.contract import ConfirmationDetails

RESPONSE = ToolCallResponse(call_id="c", response_parts=())
INFO = ConfirmationDetails(type="info", title="t", fields={})
DATA: dict[CallStatus, Any] = {
    CallStatus.VALIDATING: None,
    CallStatus.SCHEDULED: None,
    CallStatus.EXECUTING: None,
    CallStatus.AWAITING_APPROVAL: Approval(INFO, "id"),
    CallStatus.SUCCESS: RESPONSE,
    CallStatus.ERROR: RESPONSE,
    CallStatus.CANCELLED: "why",
}


@pytest.fixture
def store(rig: Any) -> CallStore:
    return CallStore(rig.bus, rig.clock, "root")


def call(rig: Any, status: CallStatus = CallStatus.VALIDATING, **more: Any) -> ToolCall:
    tool = rig.tool("t")
    fields: dict[str, Any] = {"tool": tool, "invocation": tool.build({}), "started_ms": 0, **more}
    return ToolCall(
        request=rig.request("t", "c"),
        status=status,
        scheduler_id="root",
        approval_mode=ApprovalMode.DEFAULT,
        **fields,
    )


def active(store: CallStore, one: ToolCall) -> None:
    store.enqueue([one])
    store.dequeue()


LIVING = [status for status in CallStatus if not status.terminal]


@pytest.mark.parametrize(("before", "after"), list(product(LIVING, CallStatus)))
def test_only_the_transitions_of_the_table_are_made(
    rig: Any, store: CallStore, before: CallStatus, after: CallStatus
) -> None:
    active(store, call(rig, before))

    if after in TRANSITIONS[before]:
        store.transition("c", after, DATA[after])
        moved = store.get("c")
        assert moved is not None
        assert moved.status is after
    else:
        with pytest.raises(TransitionError, match=f"cannot transition from {before} to {after}"):
            store.transition("c", after, DATA[after])


def test_a_call_without_a_tool_can_only_fail(rig: Any, store: CallStore) -> None:
    active(store, call(rig, tool=None, invocation=None))

    with pytest.raises(TransitionError) as caught:
        store.transition("c", CallStatus.SCHEDULED)
    assert str(caught.value) == (
        "Invalid state transition: cannot transition to scheduled without tool/invocation "
        "(callId: c)"
    )
    store.transition("c", CallStatus.ERROR, RESPONSE)


def test_unknown_and_ended_calls_are_left_alone(rig: Any, store: CallStore) -> None:
    active(store, call(rig, CallStatus.EXECUTING))
    store.transition("c", CallStatus.SUCCESS, RESPONSE)
    published = len(rig.updates)

    store.transition("c", CallStatus.EXECUTING, ExecutingPatch(live_output="late"))
    store.transition("unknown", CallStatus.SCHEDULED)
    store.finalise("unknown")

    assert len(rig.updates) == published
    assert store.active[0].status is CallStatus.SUCCESS


def test_every_update_has_all_calls(rig: Any, store: CallStore) -> None:
    first = call(rig)
    second = ToolCall(
        request=rig.request("t", "d"),
        status=CallStatus.VALIDATING,
        scheduler_id="root",
        approval_mode=ApprovalMode.DEFAULT,
    )
    store.enqueue([first, second])
    store.dequeue()
    store.transition("c", CallStatus.CANCELLED, "why")
    store.finalise("c")
    store.clear_completed()

    seen = [[(one.call_id, str(one.status)) for one in update.calls] for update in rig.updates]
    assert seen == [
        [("c", "validating"), ("d", "validating")],
        [("c", "validating"), ("d", "validating")],
        [("c", "cancelled"), ("d", "validating")],
        [("c", "cancelled"), ("d", "validating")],
        [("d", "validating")],
    ]
    assert {update.scheduler_id for update in rig.updates} == {"root"}


def test_patches_merge_and_clear_nothing(rig: Any, store: CallStore) -> None:
    active(store, call(rig, CallStatus.EXECUTING))
    store.transition("c", CallStatus.EXECUTING, ExecutingPatch(live_output="a", process_id=7))
    store.transition("c", CallStatus.EXECUTING, ExecutingPatch(live_output="b"))
    store.transition("c", CallStatus.EXECUTING)

    assert (store.active[0].live_output, store.active[0].process_id) == ("b", 7)


def test_the_duration_is_counted_from_the_start(rig: Any, store: CallStore) -> None:
    active(store, call(rig, CallStatus.EXECUTING, started_ms=rig.clock.now_ms()))
    rig.clock.advance(250)
    store.transition("c", CallStatus.SUCCESS, RESPONSE)

    assert store.active[0].completed().duration_ms == 250


def test_an_unfinished_call_is_no_result(rig: Any) -> None:
    with pytest.raises(TransitionError, match="not at its end"):
        call(rig).completed()


EDIT = {
    "fileDiff": "--- a\n+++ b\n-old\n+new 😀\n+more\n",
    "fileName": "a.txt",
    "filePath": "/ws/a.txt",
    "originalContent": "old",
    "newContent": "new",
}


def cancelled_display(store: CallStore, why: str | ToolCallResponse = "why") -> Any:
    store.transition("c", CallStatus.CANCELLED, why)
    response = store.active[0].response
    assert response is not None
    return response.result_display


def test_a_cancelled_question_about_an_edit_keeps_the_edit(rig: Any, store: CallStore) -> None:
    details = ConfirmationDetails(type="edit", title="t", fields=EDIT)
    active(store, call(rig))
    store.transition("c", CallStatus.AWAITING_APPROVAL, Approval(details, "id"))

    shown = cancelled_display(store)

    stat = shown.pop("diffStat")
    assert shown == EDIT
    assert (stat["model_added_lines"], stat["model_added_chars"]) == (2, 10)
    assert (stat["model_removed_lines"], stat["model_removed_chars"]) == (1, 3)
    assert stat["user_added_lines"] == 0


def test_a_cancelled_question_about_anything_else_keeps_nothing(rig: Any, store: CallStore) -> None:
    active(store, call(rig))
    store.transition("c", CallStatus.AWAITING_APPROVAL, DATA[CallStatus.AWAITING_APPROVAL])

    assert cancelled_display(store) is None


def test_a_cancelled_execution_keeps_its_live_output(rig: Any, store: CallStore) -> None:
    active(store, call(rig, CallStatus.EXECUTING, live_output="so far"))

    assert cancelled_display(store) == "so far"


@pytest.mark.parametrize(("own", "shown"), [("mine", "mine"), ("", "so far")])
def test_a_cancellation_keeps_the_display_of_its_own_response(
    rig: Any, store: CallStore, own: str, shown: str
) -> None:
    active(store, call(rig, CallStatus.EXECUTING, live_output="so far"))
    response = ToolCallResponse(call_id="c", response_parts=(), result_display=own)

    assert cancelled_display(store, response) == shown


def test_queued_errors_stay_errors_when_the_queue_is_cancelled(rig: Any, store: CallStore) -> None:
    failed = call(rig, CallStatus.ERROR, response=RESPONSE, duration_ms=0)
    store.enqueue([failed, call(rig)])

    store.cancel_queued("why")

    assert [one.status for one in store.completed] == [CallStatus.ERROR, CallStatus.CANCELLED]
    assert not store.busy
