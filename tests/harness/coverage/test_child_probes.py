"""Probes of child agents, off hand-made observations."""

from dataclasses import replace
from typing import Any

import pytest

from harness.coverage.probes import PREFIXES, reached
from harness.replay.observation import ChildObservation, Observation, ObservedRequest
from tests.harness.samples import observation


def child(thread: str = "0/0", **changes: Any) -> ChildObservation:
    values: dict[str, Any] = {"agent": "helper", "agent_id": thread, **changes}
    return ChildObservation(thread=thread, **values)


def seen(*children: ChildObservation, **changes: Any) -> Observation:
    return replace(observation(), children=children, **changes)


def asked(text: str = "", **changes: Any) -> ObservedRequest:
    values: dict[str, Any] = {
        "method": "generateContentStream",
        "role": "subagent",
        "thread": "0/0",
        "model": "gemini-2.5-flash",
        "new_contents": ({"role": "user", "parts": [{"text": text}]},),
        "digest": text,
    }
    return ObservedRequest(**{**values, **changes})


def answered(output: str) -> ObservedRequest:
    part = {"functionResponse": {"name": "invoke_agent", "response": {"output": output}}}
    contents = ({"role": "user", "parts": [part]},)
    return asked(role="main", thread="main", new_contents=contents)


def found(run: Observation) -> set[str]:
    probes = set(reached(run))
    assert {probe.partition(":")[0] for probe in probes} <= set(PREFIXES)
    return probes - set(reached(observation()))


def test_a_run_without_children_shows_nothing_of_them() -> None:
    assert not any(probe.startswith("child:") for probe in reached(observation()))


def test_a_child_shows_that_it_started_and_which_sort_it_is() -> None:
    assert found(seen(child())) == {"child:started", "child:agent.custom"}
    assert "child:agent.generalist" in found(seen(child(agent="generalist")))


@pytest.mark.parametrize(
    ("kind", "data", "probe"),
    [
        ("THOUGHT_CHUNK", {"text": "t"}, "child:activity.THOUGHT_CHUNK"),
        ("THOUGHT_CHUNK", {"text": "Graceful recovery succeeded."}, "child:recovered"),
        (
            "THOUGHT_CHUNK",
            {"text": "Execution limit reached (MAX_TURNS). Attempting"},
            "child:recovering.MAX_TURNS",
        ),
        ("ERROR", {"error": "x", "context": "tool_call"}, "child:context.tool_call"),
        ("ERROR", {"error": "x", "errorType": "REJECTED"}, "child:error.REJECTED"),
        ("ERROR", {"error": "Unauthorized tool call: 'x'"}, "child:unauthorized"),
        ("ERROR", {"error": "Graceful recovery attempt failed."}, "child:recovery_failed"),
        ("THOUGHT_CHUNK", {"text": "**Reading** files"}, "child:thought"),
        ("ERROR", {"name": "complete_task", "error": "params/x"}, "child:output_refused"),
        ("ERROR", {"error": "AbortError: Aborted"}, "child:abort_reported"),
        ("ERROR", {"error": "Tool execution blocked: no"}, "child:hook.tool_blocked"),
        ("ERROR", {"error": "Agent execution stopped by hook: no"}, "child:hook.tool_stopped"),
        ("ERROR", {"error": "Tool execution denied by policy. No."}, "child:denied"),
        (
            "ERROR",
            {"name": "invoke_agent", "error": "x", "context": "tool_call_unauthorized"},
            "child:unauthorized.invoke_agent",
        ),
        (
            "TOOL_CALL_END",
            {"name": "complete_task", "data": {"taskCompleted": True}},
            "child:completed.custom",
        ),
        ("TOOL_CALL_END", {"name": "mcp_calc_sum"}, "child:done.mcp"),
    ],
)
def test_each_report_of_a_child_has_its_probe(kind: str, data: dict[str, str], probe: str) -> None:
    assert probe in found(seen(child(activities=[{"type": kind, "data": data}])))


def reporting(*texts: str, thread: str = "0/0") -> ChildObservation:
    data = [("ERROR", {"error": text}) if "fail" in text else text for text in texts]
    pairs = [
        each if isinstance(each, tuple) else ("THOUGHT_CHUNK", {"text": each}) for each in data
    ]
    return child(thread, activities=[{"type": kind, "data": each} for kind, each in pairs])


def test_a_last_turn_shows_with_its_reason_and_what_it_came_to() -> None:
    limit = "Execution limit reached (MAX_TURNS). Attempting"

    assert "child:recovered.MAX_TURNS" in found(
        seen(reporting(limit, "Graceful recovery succeeded."))
    )
    failed = found(seen(reporting(limit, "Graceful recovery attempt failed. Reason: stop")))
    assert "child:recovery_failed.MAX_TURNS" in failed
    assert not any(probe.startswith("child:recovered") for probe in failed)
    assert "child:thought" not in failed


def test_a_complete_task_that_did_not_complete_is_none() -> None:
    data = {"name": "complete_task", "data": {"taskCompleted": False}}
    run = seen(child(activities=[{"type": "TOOL_CALL_END", "data": data}]))

    assert "child:completed.custom" not in found(run)


def test_what_the_harness_itself_announces_is_no_thought_of_an_agents() -> None:
    assert "child:thought" not in found(seen(reporting("Graceful recovery succeeded.")))


def test_agents_after_one_another_have_ids_of_their_own_or_one_for_all() -> None:
    assert "child:own_ids" in found(seen(child("0/0"), child("1/0")))
    assert "child:own_ids" not in found(seen(child("0/0"), child("1/0", agent_id="0/0")))


def test_a_childs_events_show_with_the_reason_of_its_end() -> None:
    events = [{"type": "agent_start"}, {"type": "agent_end", "reason": "max_time"}]

    assert {"child:event.agent_start", "child:end.max_time"} <= found(seen(child(events=events)))


def test_several_children_are_parallel_or_one_after_another() -> None:
    assert "child:parallel" in found(seen(child("0/0"), child("0/1")))
    assert "child:one_after_another" in found(seen(child("0/0"), child("1/0")))
    assert "child:parallel" not in found(seen(child("0/0"), child("1/0")))
    assert "child:nested" in found(seen(child("0/0/1/0")))


@pytest.mark.parametrize(
    ("output", "probe"),
    [
        ("Subagent 'h' finished.\nTermination Reason: TIMEOUT\nResult:\nx", "child:ended.TIMEOUT"),
        ("Subagent 'h' failed. Error: x", "child:failed"),
        ("Subagent 'h' not found.", "child:unknown"),
    ],
)
def test_each_end_that_the_parent_receives_has_its_probe(output: str, probe: str) -> None:
    assert probe in found(seen(requests=[answered(output)]))


@pytest.mark.parametrize(
    ("text", "probe"),
    [
        ("User hints:\n- h", "steering:child.hint"),
        ("Background execution update:\nx", "steering:child.background"),
        ("You have one final chance to complete the task with", "child:last_chance"),
    ],
)
def test_what_a_child_is_asked_shows(text: str, probe: str) -> None:
    assert probe in found(seen(requests=[asked(text)]))
    assert probe not in found(seen(requests=[asked(text, role="main", thread="main")]))


def test_a_childs_fallback_is_the_same_question_to_another_model() -> None:
    again = [asked("q", model="gemini-2.5-pro"), asked("q")]

    assert {"child:fallback", "child:fallback.pro->flash"} <= found(seen(requests=again))
    assert "child:fallback" not in found(seen(requests=[again[0], asked("other")]))


def test_children_that_are_served_in_turn_are_interleaved() -> None:
    threads = ["0/0", "0/1", "0/0"]

    assert "child:interleaved" in found(seen(requests=[asked(thread=each) for each in threads]))
    assert "child:interleaved" not in found(
        seen(requests=[asked(thread=each) for each in sorted(threads)])
    )


def test_an_aborted_call_of_an_agent_shows() -> None:
    events = [{"type": "tool_request", "name": "invoke_agent", "requestId": "c"}]
    ended = {"c": ["validating", "scheduled", "executing", "cancelled"]}
    refused = {"c": ["validating", "awaiting_approval", "cancelled"]}

    assert "child:aborted" in found(seen(events=events, tool_states=ended))
    assert "child:aborted" not in found(seen(events=events, tool_states=refused))
