"""The recorded order of items of different channels."""

from __future__ import annotations

from dataclasses import replace

from agent_protocol.events import AgentEnd, AgentStart
from harness.replay.witness import Witness
from services.progress import CallKey, CallMoved
from services.state import ModelChanged, RetryAttempt
from tests.harness.samples import TIME, observation

RETRY = RetryAttempt(attempt=1, max_attempts=3, delay_ms=5, error="busy", model="m")


def moved(witness: Witness, *calls: tuple[str, str]) -> None:
    for call_id, status in calls:
        call = CallKey(call_id=call_id)
        witness.on_progress(CallMoved(call=call, name="read_file", status=status))


def start(number: int = 0) -> AgentStart:
    return AgentStart(id=f"s-{number}", stream_id="s", timestamp=TIME)


def end() -> AgentEnd:
    return AgentEnd(id="s-9", stream_id="s", timestamp=TIME, reason="completed")


def test_requests_and_retries_stand_between_the_events() -> None:
    witness = Witness()
    witness.on_event(start())
    witness.on_request()
    witness.on_progress(RETRY)
    witness.on_request()
    witness.on_event(end())

    assert witness.order == [("requests", 0, 1), ("retries", 0, 1), ("requests", 1, 1)]


def test_side_events_follow_the_retries_in_their_channel() -> None:
    witness = Witness()
    witness.side_events.append({"event": "confirmation"})
    witness.on_event(start())
    witness.on_progress(RETRY)
    witness.on_core_event(ModelChanged(model="m"))

    assert witness.order == [("retries", 1, 0), ("retries", 0, 1), ("retries", 2, 1)]


def test_a_call_stands_where_its_last_state_was_reached() -> None:
    witness = Witness()
    moved(witness, ("a", "validating"))
    witness.on_event(start())
    moved(witness, ("a", "executing"), ("b", "validating"))
    witness.on_request()
    moved(witness, ("a", "success"), ("b", "error"))

    assert witness.order == [("requests", 0, 1), ("tool_states", 0, 1), ("tool_states", 1, 1)]


def test_the_witness_records_when_each_thing_happened() -> None:
    now = iter(range(1000, 2000, 10))  # the run begins at 1000
    witness = Witness(lambda: next(now))
    witness.on_event(start())
    witness.on_request()
    witness.on_progress(RETRY)
    moved(witness, ("a", "validating"))
    moved(witness, ("a", "success"))
    witness.on_event(end())

    assert witness.times == {
        ("events", 0): 10,
        ("requests", 0): 20,
        ("retries", 0): 30,
        ("tool_states", 0): 50,  # by its last state
        ("events", 1): 60,
    }


def test_the_times_are_no_part_of_what_is_compared() -> None:
    seen = observation()

    assert replace(seen, times={("events", 0): 7}) == seen


def test_a_call_without_states_has_no_place() -> None:
    witness = Witness()
    moved(witness, ("a", "validating"))
    replaced = CallKey(call_id="a", nth=1)
    witness.on_progress(CallMoved(call=replaced, name="read_file", status="validating"))
    moved(witness, ("a", "success"))

    assert list(witness.tool_states) == ["a"]
    assert witness.order == [("tool_states", 0, 0)]


def test_the_order_is_no_part_of_what_is_compared() -> None:
    seen = observation()

    assert replace(seen, order=[("requests", 0, 1)]) == seen
