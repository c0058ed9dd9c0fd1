"""The channel of child agents: what they report is compared child by child."""

import json
from dataclasses import replace
from typing import Any

import pytest

from harness.explain import explain
from harness.parity.compare import compare_observations, compare_repeated
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.side_by_side.build import packed_timelines
from harness.parity.verdict import CaseVerdict
from harness.replay.observation import ChildObservation, Observation
from harness.timeline.model import unpack
from tests.harness.samples import TIME, Facts, observation

HERE = "11111111-1111-4111-8111-111111111111"
THERE = "22222222-2222-4222-8222-222222222222"
THOUGHTS = ("33333333-3333-4333-8333-333333333333", "44444444-4444-4444-8444-444444444444")


def activities(agent_id: str) -> list[dict[str, Any]]:
    call = f"{agent_id}#0-0"
    return [
        {"type": "THOUGHT_CHUNK", "data": {"text": "Look"}},
        {"type": "TOOL_CALL_START", "data": {"name": "glob", "args": {}, "callId": call}},
        {"type": "TOOL_CALL_END", "data": {"name": "glob", "id": call, "output": "a.txt"}},
    ]


def events(agent_id: str, reason: str = "completed") -> list[dict[str, Any]]:
    stream = {"streamId": f"s-{agent_id[:4]}", "timestamp": TIME}
    call = f"{agent_id}#0-0"
    reported: list[dict[str, Any]] = [
        {**stream, "type": "agent_start"},
        {**stream, "type": "tool_request", "requestId": call, "name": "glob", "args": {}},
        {**stream, "type": "agent_end", "reason": reason},
    ]
    return [{**event, "id": f"s-{agent_id[:4]}-{number}"} for number, event in enumerate(reported)]


def child(agent_id: str, thread: str = "0/0", **changes: Any) -> ChildObservation:
    reported = {"activities": activities(agent_id), "events": events(agent_id), **changes}
    return ChildObservation(thread=thread, agent="helper", agent_id=agent_id, **reported)


def run(*children: ChildObservation, **changes: Any) -> Observation:
    return replace(observation(), children=children, **changes)


def found_between(control: Observation, candidate: Observation) -> list[Divergence]:
    found = list(compare_observations(control, candidate).divergences)
    assert {each.channel for each in found} <= {ChannelName.CHILDREN}
    return found


def test_children_of_other_ids_and_streams_are_alike() -> None:
    found = compare_observations(run(child(HERE)), run(child(THERE)))

    assert found.divergences == ()
    assert found.rules["agent_ids"] > 0
    assert found.rules["event_ids"] > 0


def test_an_activity_that_is_lost_is_one_difference_and_named() -> None:
    (found,) = found_between(run(child(HERE)), run(child(HERE, activities=activities(HERE)[1:])))

    assert (found.kind, found.label) == (Kind.MISSING, "THOUGHT_CHUNK, thread 0/0")


def test_an_activity_that_says_something_else_is_named_by_its_field() -> None:
    other = activities(HERE)
    other[2]["data"]["output"] = "b.txt"

    (found,) = found_between(run(child(HERE)), run(child(HERE, activities=other)))

    assert found.path == "activity.data.output"
    assert (found.control, found.candidate) == ("a.txt", "b.txt")


def test_an_event_out_of_order_is_a_difference_of_order() -> None:
    swapped = events(HERE)
    swapped[0], swapped[1] = swapped[1], swapped[0]

    found = found_between(run(child(HERE)), run(child(HERE, events=swapped)))

    assert Kind.ORDER in {each.kind for each in found}
    assert all("thread 0/0" in each.label for each in found)


def test_a_changed_end_reason_is_named_by_its_field() -> None:
    (found,) = found_between(
        run(child(HERE)), run(child(HERE, events=events(HERE, reason="max_turns")))
    )

    assert (found.label, found.path) == ("agent_end, thread 0/0", "event.reason")
    assert (found.control, found.candidate) == ("completed", "max_turns")


@pytest.mark.parametrize("kind", [Kind.MISSING, Kind.EXTRA])
def test_a_child_that_one_side_alone_has_is_one_difference_with_thread_and_agent(
    kind: Kind,
) -> None:
    more, less = run(child(HERE), child(THERE, "0/1")), run(child(HERE))
    sides = (more, less) if kind is Kind.MISSING else (less, more)

    (found,) = found_between(*sides)

    assert (found.kind, found.label) == (kind, "child, thread 0/1")
    assert {"thread": "0/1", "agent": "helper"} in (found.control, found.candidate)


def test_children_are_compared_by_thread_in_any_order_of_starts() -> None:
    one = run(child(HERE, "0/0"), child(THERE, "0/1"))
    other = run(child(THERE, "0/0"), child(HERE, "0/1"))

    assert found_between(one, other) == []


def test_an_answer_that_names_the_other_threads_call_is_a_difference() -> None:
    reported = activities(HERE)
    reported[2]["data"]["id"] = f"{THERE}#0-0"
    other = child(THERE, "0/1")

    found = found_between(run(child(HERE), other), run(child(HERE, activities=reported), other))

    assert found[0].path == "activity.data.id"


def test_events_that_one_side_cannot_show_are_left_aside_by_a_named_rule() -> None:
    blind = child(HERE, events=None)

    found = compare_observations(run(child(HERE)), run(blind))

    assert found.divergences == ()
    assert found.rules["unseen_sessions"] == 1


def test_activities_are_compared_where_events_cannot_be() -> None:
    blind = child(HERE, events=None, activities=activities(HERE)[1:])

    assert len(found_between(run(child(HERE)), run(blind))) == 1


def test_a_childs_recording_is_compared_with_that_of_its_thread() -> None:
    def recorded(first: str, second: str, said: str = "two") -> dict[str, Any]:
        return {
            f"tmp/ws/chats/{THOUGHTS[0]}/{id_}.jsonl": [
                {"sessionId": id_, "startTime": TIME, "kind": "subagent"},
                {"type": "user", "content": [{"text": text}]},
            ]
            for id_, text in ((first, "one"), (second, said))
        }

    def seen(first: str, second: str, said: str = "two") -> Observation:
        children = (child(first, "0/0"), child(second, "0/1"))
        return run(*children, recording=recorded(first, second, said))

    assert compare_observations(seen(HERE, THERE), seen(THERE, HERE)).divergences == ()

    (found,) = compare_observations(seen(HERE, THERE), seen(THERE, HERE, "three")).divergences
    assert found.channel is ChannelName.RECORDING
    assert found.label == "message(user) in thread 0/1"
    assert found.path == "line.content[0].text"


def test_recordings_of_one_thread_in_two_sessions_are_in_the_order_of_their_beginning() -> None:
    def seen(first: str, second: str) -> Observation:
        recorded = {
            f"tmp/ws/chats/{THOUGHTS[0]}/{id_}.jsonl": [
                {"sessionId": id_, "startTime": f"2026-01-01T00:00:0{began}.000Z"},
                {"type": "user", "content": [{"text": f"asked at {began}"}]},
            ]
            for id_, began in sorted([(first, 1), (second, 9)])
        }
        return run(child(first), child(second), recording=recorded)

    assert compare_observations(seen(HERE, THERE), seen(THERE, HERE)).divergences == ()


def test_ids_of_thoughts_in_an_agents_progress_may_differ_and_what_they_say_may_not() -> None:
    def seen(thought: str, says: str = "Look") -> Observation:
        shown = {
            "isSubagentProgress": True,
            "recentActivity": [{"id": thought, "type": "thought", "content": says}],
        }
        response = {
            "type": "tool_response",
            "requestId": "c",
            "display": {"result": {"type": "text", "text": json.dumps(shown)}},
        }
        return run(child(HERE), events=[response])

    assert compare_observations(seen(THOUGHTS[0]), seen(THOUGHTS[1])).divergences == ()
    (found,) = compare_observations(seen(THOUGHTS[0]), seen(THOUGHTS[1], "Stare")).divergences
    assert found.path == "display.result.text"


def test_a_finding_is_explained_and_shown_side_by_side() -> None:
    control, candidate = run(child(HERE)), run(child(HERE, activities=activities(HERE)[1:]))
    result = compare_repeated([control], [candidate], Facts())

    assert result.verdict is CaseVerdict.DIVERGENT
    words = "\n".join(explain(result, "legacy", "adk"))
    assert "the reports of the subagents (channel children)" in words
    assert "child agents" in words.rpartition("seam:")[2]
    rows = unpack(packed_timelines(control, candidate, result.divergences, {})).rows
    lines = [row.control.line for row in rows if row.control is not None]
    assert "subagent 0/0 reported THOUGHT_CHUNK: 'Look'" in lines
    assert "started subagent 0/0 (helper)" in lines


def test_an_id_that_is_not_random_is_compared_as_it_stands() -> None:
    assert found_between(run(child("side")), run(child("call"))) == []  # ids of calls are renamed

    seen = [replace(run(child(id_)), side_events=[{"event": id_}]) for id_ in ("side", "call")]
    found = compare_observations(seen[0], seen[1]).divergences
    assert {each.channel for each in found} == {ChannelName.RETRIES}
