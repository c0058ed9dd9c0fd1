"""Child agents of the core: the driver's reports of them, and their settings in the core."""

from collections.abc import Iterator

import pytest

from harness.cassette.format import Cassette
from harness.replay.observation import ChildObservation, Observation
from harness.replay.runner import run_cassette
from tests.runtimes.upstream.stand_ins import cassette, fresh_pool, needs_core

pytestmark = needs_core

AGENT = "---\nname: {name}\ndescription: d\ntools: [read_file]\n---\nYou are {name}."
SESSION = {"model": "gemini-2.5-flash", "approval_mode": "yolo"}


@pytest.fixture(scope="module", autouse=True)
def one_driver() -> Iterator[None]:
    """All sessions in one warm process: nothing of one may show in the next."""
    with fresh_pool():
        yield


def call(name: str, **args: str) -> dict[str, object]:
    return {"functionCall": {"name": name, "args": args}}


def step(*parts: dict[str, object], **keys: object) -> dict[str, object]:
    content = {"role": "model", "parts": list(parts)}
    return {"stream": [{"candidates": [{"content": content, "finishReason": "STOP"}]}], **keys}


INVOKE = step(call("invoke_agent", agent_name="one", prompt="p"))
COMPLETE = step(call("complete_task", result="found"))
DONE = {"text": "done"}


def child_cassette(*model: object, settings: object = None, **keys: object) -> Cassette:
    files = {f".gemini/agents/{name}.md": AGENT.format(name=name) for name in ("one", "two")}
    session = {**SESSION, "settings": settings or {}}
    values = {"session": session, "home_files": files, "model": list(model), **keys}
    return cassette(**values)


def run(*model: object, settings: object = None, **keys: object) -> Observation:
    seen = run_cassette(
        child_cassette(*model, settings=settings, **keys), "upstream", deadline_s=40
    )
    assert (seen.error, list(seen.notes)) == (None, [])
    return seen


def only_child(seen: Observation) -> ChildObservation:
    (child,) = seen.children
    return child


SESSIONS = {"adk": {"agentSessionSubagentEnabled": True}}


@pytest.mark.slow
def test_without_sessions_a_child_has_activities_and_no_events() -> None:
    child = only_child(run(INVOKE, COMPLETE, DONE))

    assert (child.thread, child.agent, child.events) == ("0/0", "one", None)
    assert [each["type"] for each in child.activities] == ["TOOL_CALL_START", "TOOL_CALL_END"]
    assert child.activities[0]["data"]["callId"] == f"{child.agent_id}#0-0"


def test_with_sessions_a_childs_events_are_reported_from_the_first_on() -> None:
    child = only_child(run(INVOKE, COMPLETE, DONE, settings=SESSIONS))

    kinds = [event["type"] for event in child.events or ()]
    assert kinds == ["agent_start", "tool_request", "tool_response", "agent_end"]


def test_two_children_of_one_answer_are_distinguished() -> None:
    both = step(
        call("invoke_agent", agent_name="one", prompt="p"),
        call("invoke_agent", agent_name="two", prompt="p"),
    )
    ends = [
        step(call("complete_task", result=text), thread=thread)
        for text, thread in (("second", "0/1"), ("first", "0/0"))
    ]

    seen = run(both, *ends, DONE, settings=SESSIONS)

    threads = {
        child.thread: (child.agent, child.activities[-1]["data"]["data"]["submittedOutput"])
        for child in seen.children
    }
    assert threads == {"0/0": ("one", "first"), "0/1": ("two", "second")}
    assert all(child.events for child in seen.children)


def test_a_childs_calls_retries_and_model_changes_are_on_its_thread() -> None:
    read = step(call("read_file", file_path="a.txt"))
    busy = {"error": {"status": 503, "message": "busy", "grpc": "UNAVAILABLE"}}

    seen = run(INVOKE, busy, read, COMPLETE, DONE, files={"a.txt": "a"})

    assert seen.threads["tool_states"] == {1: "0/0", 2: "0/0"}
    assert seen.threads["retries"] == {0: "0/0"}


def test_no_message_about_a_child_reaches_the_next_session() -> None:
    first, second = (run(INVOKE, COMPLETE, DONE, settings=SESSIONS) for _ in range(2))

    assert len(first.children) == len(second.children) == 1
    assert first.children[0].events == second.children[0].events


def test_where_agents_are_off_there_is_none() -> None:
    seen = run(INVOKE, DONE, settings={"enableAgents": False})

    assert seen.children == []
    assert "not found" in str(seen.requests[1].new_contents)


def test_overrides_of_agents_reach_the_core() -> None:
    off = {"agents": {"overrides": {"one": {"enabled": False}}}}

    seen = run(INVOKE, DONE, settings=off)

    assert seen.children == []
    assert "not found" in str(seen.requests[1].new_contents)


def test_a_hint_reaches_a_child_where_steering_is_on() -> None:
    hint = {"when": {"request": 1}, "do": {"hint": "mind the gap"}}
    read = step(call("read_file", file_path="a.txt"))
    script = (INVOKE, read, COMPLETE, DONE)

    steered, silent = (
        run(*script, settings={"modelSteering": on}, during=[hint], files={"a.txt": "a"})
        for on in (True, False)
    )

    assert "mind the gap" in str(steered.requests[2].new_contents)
    assert "mind the gap" not in str(silent.requests[2].new_contents)


def test_a_childs_time_is_the_sessions_time() -> None:
    slow = step(call("read_file", file_path="a.txt"), delay_ms=11 * 60_000)

    seen = run(INVOKE, slow, COMPLETE, DONE, files={"a.txt": "a"})

    texts = [each["data"].get("text", "") for each in only_child(seen).activities]
    assert any("Execution limit reached (TIMEOUT)" in text for text in texts)


def test_what_is_asked_to_choose_a_childs_model_is_asked_on_its_thread() -> None:
    route = {"role": "utility_router", "json": {"reasoning": "r", "model_choice": "flash"}}
    automatic = {"model": "auto-gemini-2.5", "approval_mode": "yolo"}

    seen = run(route, INVOKE, route, COMPLETE, route, DONE, session=automatic, match="by_role")

    routed = [request.thread for request in seen.requests if request.role == "utility_router"]
    assert routed == ["main", "0/0", "main"][: len(routed)]
    assert "0/0" in routed
