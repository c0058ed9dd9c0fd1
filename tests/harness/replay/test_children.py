"""The observation of child agents."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEnd, AgentEvent, AgentStart
from harness.cassette.format import AtRequest, Cassette, During, SetApprovalMode
from harness.cassette.load import build_cassette
from harness.parity.compare import compare_observations
from harness.replay.children import SeenChildren
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from harness.replay.trace import to_trace
from services.state import ApprovalMode
from services.subagents.activity import ActivityType, SubagentActivity
from services.subagents.child import StartedChild

AGENT = "---\nname: {name}\ndescription: d\n---\nYou are {name}."
RUNTIMES = ("legacy", "adk")


class Session(EventLog):
    """A child's session, with the parts that the witness uses."""

    async def send(self, payload: object) -> str | None:
        raise NotImplementedError

    async def abort(self) -> None:
        raise NotImplementedError


def event(kind: type[AgentEvent], number: int, **fields: Any) -> AgentEvent:
    values: dict[str, Any] = {
        "id": f"s-{number}",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "stream_id": "s",
    }
    return kind(**values, **fields)


def started(thread: str, session: Session | None = None) -> StartedChild:
    return StartedChild(thread=thread, agent="helper", agent_id=f"id {thread}", session=session)


def test_children_are_sorted_by_thread_as_numbers() -> None:
    seen = SeenChildren(lambda note: None)
    for thread in ("10/0", "2/1", "2/0/0/3", "2/0"):
        seen.child_started(started(thread))

    assert [child.thread for child in seen.children] == ["2/0", "2/0/0/3", "2/1", "10/0"]


def test_activities_and_events_are_taken_down_child_by_child() -> None:
    seen = SeenChildren(lambda note: None)
    session = Session()
    one, other = started("0/0", session), started("0/1")
    for child in (one, other):
        seen.child_started(child)
    thought = SubagentActivity(ActivityType.THOUGHT_CHUNK, {"text": "t"})

    seen.child_activity(one, thought)
    session.emit([event(AgentStart, 0), event(AgentEnd, 1, reason="completed")])

    first, second = seen.children
    assert first.activities == [{"type": "THOUGHT_CHUNK", "data": {"text": "t"}}]
    assert [each["type"] for each in first.events or ()] == ["agent_start", "agent_end"]
    assert (second.activities, second.events) == ([], None)


def test_events_against_the_contract_are_noted_with_agent_and_thread() -> None:
    notes: list[str] = []
    seen = SeenChildren(notes.append)
    session = Session()
    seen.child_started(started("0/0", session))

    session.emit([event(AgentEnd, 0, reason="completed")])

    assert [note.partition(":")[0] for note in notes] == ["lifecycle of helper on thread 0/0"]


def call(name: str, **args: str) -> dict[str, object]:
    return {"functionCall": {"name": name, "args": args}}


def step(*parts: dict[str, object], **keys: object) -> dict[str, object]:
    content = {"role": "model", "parts": list(parts)}
    return {"stream": [{"candidates": [{"content": content, "finishReason": "STOP"}]}], **keys}


def two_children(first_ms: int, second_ms: int) -> Cassette:
    """Two parallel agents; each has its own steps and its own delay."""
    model = [
        step(
            call("invoke_agent", agent_name="one", prompt="p1"),
            call("invoke_agent", agent_name="two", prompt="p2"),
        ),
        step(call("glob", pattern="*"), thread="0/0", delay_ms=first_ms),
        step(call("glob", pattern="*"), thread="0/1", delay_ms=second_ms),
        step(call("complete_task", result="first"), thread="0/0", delay_ms=first_ms),
        step(call("complete_task", result="second"), thread="0/1", delay_ms=second_ms),
        {"text": "done", "thread": "main"},
    ]
    document = {
        "cassette": 1,
        "name": "family/case",
        "session": {"model": "gemini-2.5-flash", "approval_mode": "yolo"},
        "home_files": {
            f".gemini/agents/{name}.md": AGENT.format(name=name) for name in ("one", "two")
        },
        "script": [{"send": "x"}],
        "model": model,
    }
    return build_cassette(document, Path("/corpus/family/case.yaml"), Path("/corpus"))


def run(cassette: Cassette, runtime: str) -> Observation:
    seen = run_cassette(cassette, runtime, deadline_s=20)
    assert (seen.error, list(seen.notes), list(seen.unused_steps)) == (None, [], [])
    return seen


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("delays", [(10, 300), (300, 10)])
def test_each_thread_is_answered_from_its_own_queue_in_any_order(
    runtime: str, delays: tuple[int, int]
) -> None:
    seen = run(two_children(*delays), runtime)

    assert [(child.thread, child.agent) for child in seen.children] == [
        ("0/0", "one"),
        ("0/1", "two"),
    ]
    results = [child.activities[-1]["data"]["data"]["submittedOutput"] for child in seen.children]
    assert results == ["first", "second"]


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_another_order_of_two_children_differs_in_nothing_but_the_named_rule(runtime: str) -> None:
    one = run(two_children(10, 300), "legacy")
    other = run(two_children(300, 10), runtime)

    assert [each.thread for each in one.requests] != [each.thread for each in other.requests]
    found = compare_observations(one, other)
    assert found.divergences == ()
    assert found.rules["thread_interleaving"] > 0


def test_calls_of_children_are_on_their_threads() -> None:
    seen = run(two_children(10, 300), "legacy")

    placed = seen.threads["tool_states"]
    assert sorted(placed.values()) == ["0/0", "0/0", "0/1", "0/1"]
    assert len(seen.tool_states) == len(placed) + 2


def test_a_trace_shows_the_children() -> None:
    trace = to_trace(run(two_children(10, 300), "legacy"))

    assert [child["agent"] for child in trace["children"]] == ["one", "two"]
    assert trace["children"][0]["events"][-1]["type"] == "agent_end"


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_what_the_user_does_while_a_child_works_is_on_the_main_thread(runtime: str) -> None:
    quiet = two_children(10, 300)
    mode = During(when=AtRequest(index=1), do=SetApprovalMode(mode=ApprovalMode.PLAN))

    seen = run(replace(quiet, during=(mode,)), runtime)

    assert {"event": "approval-mode-changed", "mode": "plan"} in seen.side_events
    assert "side_events" not in seen.threads
