from dataclasses import replace
from typing import Any

import pytest

from harness.parity.compare import (
    MAX_LISTED,
    compare_observations,
    compare_repeated,
    observation_digest,
)
from harness.parity.divergence import ABSENT, ChannelName, Kind
from harness.parity.verdict import CaseVerdict
from harness.replay.observation import Observation
from harness.replay.request_log import RequestLog
from tests.harness.samples import CALL, Facts, ask, conversation, model, observation, paths, user


def events_with(seen: Observation, index: int, **changes: Any) -> list[dict[str, Any]]:
    events = [dict(event) for event in seen.events]
    events[index].update(changes)
    return events


def requests_of(*asked: list[dict[str, Any]], base: str = "/tmp/run-a", **changes: Any) -> Any:
    log = RequestLog(paths(base))
    for contents in asked:
        log.observe("generateContentStream", ask(contents, **changes))
    return log.requests


def only(control: Observation, candidate: Observation, channel: ChannelName) -> Any:
    """The only divergence of a comparison, which is in this channel."""
    found = compare_observations(control, candidate).divergences
    assert [each.channel for each in found if each.channel is not ChannelName.COST] == [channel]
    return found[0]


def test_equal_runs_have_no_divergence_and_equal_digests() -> None:
    comparison = compare_observations(observation("legacy"), observation("adk"))

    assert comparison.divergences == ()
    assert comparison.rules == {}
    assert comparison.digests[0] == comparison.digests[1] == observation_digest(observation())


def test_runs_in_other_folders_are_equal() -> None:
    comparison = compare_observations(observation(), observation(base="/tmp/run-b"))

    assert comparison.divergences == ()
    assert comparison.digests[0] == comparison.digests[1]


def test_call_ids_may_read_differently_when_they_do_so_everywhere() -> None:
    comparison = compare_observations(observation(), observation(call="read_file_1767225600009_3"))

    assert comparison.divergences == ()
    assert comparison.rules["call_ids"] > 0
    assert comparison.digests[0] != comparison.digests[1]


def test_an_answer_with_another_id_than_its_request_is_a_difference() -> None:
    seen = observation("adk")
    other = replace(seen, events=events_with(seen, 2, requestId="read_file_1767225600009_3"))

    found = only(observation(), other, ChannelName.EVENTS)

    assert (found.path, found.control, found.candidate) == (
        "requestId",
        CALL,
        "read_file_1767225600009_3",
    )


def test_an_event_field_is_named() -> None:
    seen = observation("adk")
    other = replace(seen, events=events_with(seen, 6, reason="failed"))

    found = only(observation(), other, ChannelName.EVENTS)

    assert (found.kind, found.label, found.path) == (Kind.CHANGED, "agent_end", "reason")
    assert (found.control, found.candidate) == ("completed", "failed")
    assert (found.control_index, found.candidate_index) == (6, 6)
    assert found.cassette == "tools/read"


def test_true_is_not_one() -> None:
    seen = observation("adk")
    control = replace(seen, events=events_with(seen, 2, isError=True))
    candidate = replace(seen, events=events_with(seen, 2, isError=1))

    assert only(control, candidate, ChannelName.EVENTS).path == "isError"


def test_a_null_is_not_an_absent_field() -> None:
    seen = observation("adk")
    found = only(seen, replace(seen, events=events_with(seen, 2, data=None)), ChannelName.EVENTS)

    assert (found.path, found.control, found.candidate) == ("data", ABSENT, None)


def test_a_dropped_event_is_one_divergence_and_shifts_nothing() -> None:
    seen = observation("adk")
    events = [event for event in seen.events if event["type"] != "usage"]
    for number, event in enumerate(events):
        event["id"] = f"s0-{number}"

    found = compare_observations(observation(), replace(seen, events=events)).divergences

    events_found = [each for each in found if each.channel is ChannelName.EVENTS]
    assert [(e.kind, e.label, e.control_index) for e in events_found] == [
        (Kind.MISSING, "usage", 4)
    ]
    assert [each.channel for each in found if each not in events_found] == [ChannelName.COST] * 2


def test_a_duplicated_message_is_one_extra() -> None:
    seen = observation("adk")
    events = [*seen.events[:4], {**seen.events[3], "id": "s0-99"}, *seen.events[4:]]

    found = only(observation(), replace(seen, events=events), ChannelName.EVENTS)

    assert (found.kind, found.label) == (Kind.EXTRA, "message(agent)")


def test_a_moved_event_is_a_divergence_of_kind_order() -> None:
    seen = observation("adk")
    events = [*seen.events[:3], seen.events[4], seen.events[3], *seen.events[5:]]

    found = only(observation(), replace(seen, events=events), ChannelName.EVENTS)

    assert found.kind is Kind.ORDER
    assert {found.control_index, found.candidate_index} == {3, 4}


def test_a_transcript_part_is_named() -> None:
    seen = observation("adk")
    transcript = [*seen.transcript[:3], model("It says hallo.")]

    found = only(observation(), replace(seen, transcript=transcript), ChannelName.TRANSCRIPT)

    assert (found.label, found.path) == ("content(model)", "parts[0].text")
    assert (found.control, found.candidate) == ("It says hello.", "It says hallo.")


def test_a_recorded_line_is_named() -> None:
    seen = observation("adk")
    ((path, lines),) = seen.recording.items()
    changed = [lines[0], {**lines[1], "content": [{"text": "Read b.txt"}]}, lines[2]]

    found = only(observation(), replace(seen, recording={path: changed}), ChannelName.RECORDING)

    assert (found.label, found.path) == ("message(user) in file 0", "line.content[0].text")


def test_a_recording_of_another_name_is_one_divergence() -> None:
    seen = observation("adk")
    ((_, lines),) = seen.recording.items()

    found = only(observation(), replace(seen, recording={"x.jsonl": lines}), ChannelName.RECORDING)

    assert found.path == "files[0]"


def test_a_tool_state_is_named() -> None:
    seen = observation("adk")
    states = {CALL: ["validating", "executing", "success"]}

    found = compare_observations(observation(), replace(seen, tool_states=states)).divergences

    assert found[0].channel is ChannelName.TOOL_STATES
    assert (found[0].path, found[0].control) == ("states[1]", "scheduled")


def test_a_file_that_only_one_side_wrote_is_named() -> None:
    seen = observation("adk")
    found = only(
        observation(), replace(seen, workspace_changes={"old.txt": None}), ChannelName.WORKSPACE
    )

    assert (found.kind, found.label) == (Kind.MISSING, "new.txt")
    assert found.control == {"path": "new.txt", "text": "<WS>"}


def test_a_delay_and_a_side_event_are_named() -> None:
    seen = observation("adk")
    retries = [replace(seen.retries[0], delay_ms=4000)]
    side = [{"event": "model-changed", "model": "other"}]

    found = only(observation(), replace(seen, retries=retries), ChannelName.RETRIES)
    other = only(observation(), replace(seen, side_events=side), ChannelName.RETRIES)

    assert (found.path, found.control, found.candidate) == ("retry.delayMs", 5000, 4000)
    assert (other.label, other.path) == ("model-changed", "side.model")


def test_a_request_is_settled_by_its_digest() -> None:
    seen = observation("adk")
    contents = conversation()
    rewritten = requests_of(contents[:1], [dict(content) for content in contents[:3]])

    assert compare_observations(observation(), replace(seen, requests=rewritten)).divergences == ()


def test_a_text_in_a_request_is_named_once_where_it_enters() -> None:
    seen, contents = observation("adk"), conversation()
    contents[2]["parts"][0]["functionResponse"]["response"]["output"] = "hallo"
    asked = [contents[:1], contents[:3], [*contents, user("And?")]]
    control = replace(
        seen, requests=requests_of(asked[0], conversation()[:3], [*conversation(), user("And?")])
    )

    found = only(control, replace(seen, requests=requests_of(*asked)), ChannelName.REQUESTS)

    assert found.control_index == 1
    assert found.label == "generateContentStream(main)"
    assert found.path == "contents[2].parts[0].functionResponse.response.output"
    assert (found.control, found.candidate) == ("hello", "hallo")


def paths_of(control: Any, candidate: Any) -> list[tuple[int | None, str | None]]:
    seen = replace(observation(), requests=control)
    other = replace(observation("adk"), requests=candidate)
    found = compare_observations(seen, other).divergences
    return [
        (each.control_index, each.path) for each in found if each.channel is ChannelName.REQUESTS
    ]


def test_each_difference_of_a_request_is_named_and_none_of_those_before_again() -> None:
    asked = [user("a"), model("b"), user("c"), model("d"), user("e")]
    other = [user("A"), model("b"), user("C"), model("d"), user("E")]

    found = paths_of(requests_of(asked[:3], asked), requests_of(other[:3], other))

    assert found == [
        (0, "contents[0].parts[0].text"),
        (0, "contents[2].parts[0].text"),
        (1, "contents[4].parts[0].text"),
    ]


def test_a_content_in_addition_shifts_no_other_and_hides_no_later_difference() -> None:
    asked = [user("a"), model("b"), user("c"), model("d"), user("e")]
    other = [user("a"), user("more"), *asked[1:4], user("E")]

    found = paths_of(requests_of(asked[:4], asked), requests_of(other[:5], other))

    assert found == [(0, "contents[1]"), (1, "contents[4].parts[0].text")]


def test_contents_that_a_request_of_one_side_lacks_are_named_one_by_one() -> None:
    asked = [user("a"), model("b"), user("c"), model("d"), user("e")]
    other = [user("a"), model("b"), user("C"), *asked[3:]]

    found = paths_of(requests_of(asked[:1], asked), requests_of(other[:1], other[:3], other))

    more = [(1, f"contents[{index}]") for index in (3, 4)]
    assert found == [(1, "contents[2].parts[0].text"), *more, (None, "")]


def test_a_side_that_rewrote_its_history_to_the_same_is_equal() -> None:
    seen = observation("adk")
    start, answer = user("a"), model("b")
    control = replace(seen, requests=requests_of([start], [start, answer, user("c")]))
    detour = requests_of([start], [start, answer, user("c")])
    detour[1] = replace(detour[1], same_as_previous=0, new_contents=(start, answer, user("c")))

    found = compare_observations(control, replace(seen, requests=detour)).divergences

    assert [each.channel for each in found] == [ChannelName.COST]


@pytest.mark.parametrize(
    ("changes", "path", "values"),
    [
        ({"model": "other"}, "model", ("gemini-2.5-flash", "other")),
        (
            {"config": {**ask([]).config, "temperature": 0}},
            "config.temperature",
            (1, 0),
        ),
        (
            {"config": {**ask([]).config, "systemInstruction": "Be /tmp/run-a/ws."}},
            "systemInstruction",
            ("You work in <WS>.", "Be <WS>."),
        ),
    ],
)
def test_a_field_of_a_request_is_named(
    changes: dict[str, Any], path: str, values: tuple[Any, Any]
) -> None:
    contents = conversation()
    other = requests_of(contents[:1], contents[:3], **changes)

    found = compare_observations(observation(), replace(observation("adk"), requests=other))

    assert {each.path for each in found.divergences} == {path}
    assert (found.divergences[0].control, found.divergences[0].candidate) == values


@pytest.mark.parametrize("uninstructed", ["control", "candidate"])
def test_between_engines_an_instruction_on_one_side_only_shows(uninstructed: str) -> None:
    contents = conversation()
    without = {key: value for key, value in ask([]).config.items() if key != "systemInstruction"}
    bare = requests_of(contents[:1], contents[:3], config=without)
    control = replace(observation(), words="another")
    candidate = observation("adk")

    if uninstructed == "control":
        control = replace(control, requests=bare)
    else:
        candidate = replace(candidate, requests=bare)
    found = compare_observations(control, candidate)

    assert {each.path for each in found.divergences} == {"systemInstruction"}


def test_a_declared_tool_and_its_schema_are_compared() -> None:
    contents = conversation()
    schema = {"name": "glob", "parameters": {"type": "OBJECT"}}
    tools = [{"functionDeclarations": [{"name": "read_file"}, schema]}]
    other = requests_of(contents[:1], contents[:3], config={**ask([]).config, "tools": tools})

    found = compare_observations(observation(), replace(observation("adk"), requests=other))

    assert {each.path for each in found.divergences} == {"toolsDigest"}


def test_an_id_that_stands_for_two_is_found_also_where_one_tool_more_is_declared() -> None:
    contents = conversation()
    answer = {"name": "read_file", "response": {"output": "hello"}, "id": "somebody else"}
    mixed = [*contents[:2], {"role": "user", "parts": [{"functionResponse": answer}]}]
    tools = [{"functionDeclarations": [{"name": "read_file"}, {"name": "glob"}, {"name": "ls"}]}]
    other = requests_of(contents[:1], mixed, config={**ask([]).config, "tools": tools})

    found = compare_observations(observation(), replace(observation("adk"), requests=other))

    paths = [each.path for each in found.divergences if each.candidate == "somebody else"]
    assert len(paths) == 1
    assert paths[0].endswith("functionResponse.id")


def test_a_request_that_only_one_side_made_is_missing() -> None:
    other = replace(observation("adk"), requests=observation("adk").requests[:1])
    found = compare_observations(observation(), other).divergences

    assert (found[0].channel, found[0].kind) == (ChannelName.REQUESTS, Kind.MISSING)
    assert found[0].control_index == 1


def test_cost_counts_calls_tokens_and_what_was_sent_again() -> None:
    seen = observation("adk")
    usage = events_with(seen, 4, inputTokens=11)
    found = compare_observations(observation(), replace(seen, events=usage)).divergences

    assert [each.path for each in found] == ["inputTokens", "tokens.inputTokens"]
    assert found[1].channel is ChannelName.COST


def test_other_notes_are_a_divergence_of_the_requests_and_equal_ones_a_remark() -> None:
    note = "request 3 found no step in /tmp/run-a/ws"
    noted = replace(observation(), notes=[note])
    result = compare_repeated([noted], [replace(observation("adk"), notes=[note])], Facts())
    other = compare_repeated([noted], [observation("adk")], Facts())

    assert result.verdict is CaseVerdict.PARITY
    assert "found no step in <WS>" in result.remarks[0]
    assert other.verdict is CaseVerdict.DIVERGENT
    assert (other.divergences[0].channel, other.divergences[0].kind) == ("requests", "replay")
    assert other.divergences[0].path == "notes[0]"


def test_other_leftovers_are_a_divergence() -> None:
    left = replace(observation("adk"), unused_steps=[2])
    result = compare_repeated([observation()], [left], Facts(unused=(2,)))

    assert result.verdict is CaseVerdict.DIVERGENT
    assert result.divergences[0].path == "unusedSteps[0]"


@pytest.mark.parametrize(
    ("declared", "verdict"), [((2,), CaseVerdict.PARITY), ((), CaseVerdict.INCONCLUSIVE)]
)
def test_alike_leftovers_are_fine_when_declared(
    declared: tuple[int, ...], verdict: CaseVerdict
) -> None:
    sides = [replace(observation(side), unused_steps=[2]) for side in ("legacy", "adk")]
    result = compare_repeated(sides[:1], sides[1:], Facts(unused=declared))

    assert result.verdict is verdict
    assert ("model[2]" in "".join(result.doubts)) is (verdict is CaseVerdict.INCONCLUSIVE)


def test_the_same_failure_on_both_sides_is_parity_with_a_remark() -> None:
    sides = [replace(observation(side), error="ValueError: no") for side in ("legacy", "adk")]

    result = compare_repeated(sides[:1], sides[1:], Facts())

    assert result.verdict is CaseVerdict.PARITY
    assert result.remarks == ("both sides ended with the same error: ValueError: no",)


def test_two_runs_that_never_began_are_no_parity() -> None:
    sides = [
        replace(observation(side), error="not supported", events=[], requests=[])
        for side in ("legacy", "adk")
    ]

    result = compare_repeated(sides[:1], sides[1:], Facts())

    assert result.verdict is CaseVerdict.INCONCLUSIVE
    assert result.blockers[0] == "legacy and adk got nowhere: not supported"


def test_a_run_that_hangs_while_the_other_ends_is_divergent() -> None:
    stalled = replace(observation("adk"), stalled=True)
    result = compare_repeated([observation()], [stalled], Facts())

    assert result.verdict is CaseVerdict.DIVERGENT
    assert [found.kind for found in result.divergences] == [Kind.REPLAY]


def test_two_runs_that_hang_decide_nothing() -> None:
    hung = [replace(observation(name), stalled=True) for name in ("legacy", "adk")]

    assert compare_repeated(hung[:1], hung[1:], Facts()).verdict is CaseVerdict.INCONCLUSIVE


def test_a_run_cut_off_by_the_deadline_decides_nothing() -> None:
    cut = replace(observation("adk"), stalled=True, deadline_passed=True)

    assert compare_repeated([observation()], [cut], Facts()).verdict is CaseVerdict.INCONCLUSIVE


def test_a_control_that_differs_from_itself_is_noise() -> None:
    seen = observation()
    flaky = replace(seen, events=events_with(seen, 6, reason="failed"))
    other = replace(observation("adk"), events=events_with(seen, 6, reason="aborted"))

    result = compare_repeated([seen, flaky], [other, other], Facts())

    assert result.verdict is CaseVerdict.INCONCLUSIVE
    assert [(noise.place, noise.hides) for noise in result.noise] == [
        ("events[6] agent_end: reason", 1)
    ]


def test_a_candidate_that_alone_differs_from_itself_is_divergent_with_its_rate() -> None:
    seen = observation("adk")
    flaky = replace(seen, events=events_with(seen, 6, reason="failed"))

    result = compare_repeated([observation()] * 3, [seen, flaky, seen], Facts())

    assert result.verdict is CaseVerdict.DIVERGENT
    assert result.divergences[0].kind is Kind.NONDETERMINISTIC
    assert "1 of 2 repetitions" in result.divergences[0].candidate


def test_a_case_lists_a_limited_number_of_differences() -> None:
    seen = observation("adk")
    numbers = range(MAX_LISTED + 5)
    many = [{"type": "usage", "inputTokens": number} for number in numbers]
    other = [{"type": "usage", "inputTokens": -1 - number} for number in numbers]

    comparison = compare_observations(replace(seen, events=many), replace(seen, events=other))

    listed = [each for each in comparison.divergences if each.channel is ChannelName.EVENTS]
    assert len(listed) == MAX_LISTED
    assert comparison.cut == (ChannelName.EVENTS,)
