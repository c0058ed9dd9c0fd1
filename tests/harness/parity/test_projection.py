"""Each projection rule hides the values that it names and no others."""

from dataclasses import replace
from typing import Any

import pytest

from harness.parity.channels import CHANNELS
from harness.parity.compare import compare_observations
from harness.parity.divergence import ChannelName
from harness.parity.projection import RULES, project
from harness.replay.observation import Observation
from services.ids import CountingIds
from tests.harness.samples import CALL, TIME, observation

LATER = "2026-01-01T00:00:05.000Z"
UUIDS = ("0b4e28ba-2fa1-41d2-883f-0016d3cca427", "7c9e6679-7425-40de-944b-e07fc1f90ae7")


def channel(name: ChannelName) -> Any:
    return next(channel for channel in CHANNELS if channel.name is name)


def outcome(control: Observation, candidate: Observation) -> tuple[list[str], dict[str, int]]:
    """Paths that differ, and the rules that hid something."""
    comparison = compare_observations(control, candidate)
    return [found.path for found in comparison.divergences], dict(comparison.rules)


def with_event(seen: Observation, index: int, **changes: Any) -> Observation:
    events = [dict(event) for event in seen.events]
    events[index].update(changes)
    return replace(seen, events=events)


def with_line(seen: Observation, line: dict[str, Any], index: int = 1) -> Observation:
    ((path, lines),) = seen.recording.items()
    changed = [{**old, **line} if number == index else old for number, old in enumerate(lines)]
    return replace(seen, recording={path: changed})


def test_every_rule_has_a_reason_and_a_name_of_its_own() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(len(rule.reason) > 40 for rule in RULES)


def test_event_ids_hides_the_id_and_not_that_there_is_none() -> None:
    seen = observation()
    without = with_event(seen, 4)
    del without.events[4]["id"]

    assert outcome(seen, with_event(seen, 4, id="x")) == ([], {"event_ids": 1})
    assert outcome(seen, without)[0] == ["id"]


def test_event_ids_shows_an_id_that_is_there_twice() -> None:
    assert outcome(observation(), with_event(observation(), 4, id="s0-3"))[0] == ["id"]


def test_stream_ids_hides_how_a_stream_is_called_and_not_which_events_share_one() -> None:
    seen = observation()
    renamed = replace(seen, events=[{**event, "streamId": "x"} for event in seen.events])

    assert outcome(seen, renamed) == ([], {"stream_ids": 7})
    assert outcome(seen, with_event(seen, 4, streamId="x"))[0] == ["streamId"]


def test_timestamps_hides_times_and_not_other_text_under_the_key() -> None:
    seen = observation()

    assert outcome(seen, with_event(seen, 4, timestamp=LATER)) == ([], {"timestamps": 1})
    assert outcome(seen, with_event(seen, 4, timestamp="later"))[0] == ["timestamp"]
    assert outcome(seen, with_event(seen, 4, timestamp="2026-01-01 00:00:05"))[0] == ["timestamp"]


def test_timestamps_leaves_times_in_texts_of_tools_and_users() -> None:
    seen = observation()
    args = with_event(seen, 1, args={"timestamp": TIME})

    assert outcome(args, with_event(seen, 1, args={"timestamp": LATER}))[0] == ["args.timestamp"]


@pytest.mark.parametrize("key", ["timestamp"])
def test_timestamps_hides_those_of_recorded_messages(key: str) -> None:
    seen = observation()

    assert outcome(seen, with_line(seen, {key: LATER})) == ([], {"timestamps": 1})


def test_timestamps_hides_those_of_recorded_thoughts() -> None:
    thought = {"subject": "Plan", "description": "read", "timestamp": TIME}
    seen = with_line(observation(), {"thoughts": [thought]})

    later = with_line(seen, {"thoughts": [{**thought, "timestamp": LATER}]})
    assert outcome(seen, later) == ([], {"timestamps": 1})
    other = with_line(seen, {"thoughts": [{**thought, "subject": "Look"}]})
    assert outcome(seen, other)[0] == ["line.thoughts[0].subject"]


def test_timestamps_hides_those_of_recorded_sessions_and_updates() -> None:
    seen = observation()

    assert outcome(seen, with_line(seen, {"startTime": LATER}, 0)) == ([], {"timestamps": 1})
    updated = with_line(seen, {"$set": {"lastUpdated": LATER}}, 2)
    assert outcome(seen, updated) == ([], {"timestamps": 1})


TRACE = 'Traceback (most recent call last):\n  File "{}", line 1\n    go()\n{}: no'


def with_stack(frame: str, error: str, code: str = "E1") -> Observation:
    return with_event(observation(), 5, _meta={"code": code, "stack": TRACE.format(frame, error)})


def test_error_stacks_hides_the_frames_and_not_the_code() -> None:
    seen = with_stack("a.py", "ValueError")
    none = with_event(seen, 5, _meta={"code": "E1"})

    assert outcome(seen, with_stack("b.py", "ValueError")) == ([], {"error_stacks": 1})
    assert outcome(seen, with_stack("b.py", "ValueError", "E2"))[0] == ["_meta.code"]
    assert outcome(seen, none)[0] == ["_meta.stack"]


def test_error_stacks_shows_another_error_under_the_same_message() -> None:
    places, _ = outcome(with_stack("a.py", "ValueError"), with_stack("a.py", "TypeError"))

    assert places == ["_meta.stack"]


def test_own_stacks_hides_the_whole_stack_across_products_alone() -> None:
    core = replace(with_stack("a.js", "ApiError"), words="upstream")

    assert outcome(core, with_stack("a.py", "ValueError")) == ([], {"own_stacks": 1})
    assert outcome(core, with_stack("a.py", "ValueError", "E2"))[0] == ["_meta.code"]


def test_own_environment_hides_the_text_across_products_alone() -> None:
    def resumed(date: str) -> Observation:
        text = {"text": f"<session_context>It is {date}.</session_context>"}
        first, *others = observation().transcript
        return replace(observation(), transcript=[{**first, "parts": [text]}, *others])

    core = replace(resumed("Monday"), words="upstream")

    assert outcome(core, resumed("Tuesday")) == ([], {"own_environment": 1})
    assert outcome(resumed("Monday"), resumed("Tuesday"))[0] == ["parts[0].text"]


def with_request(seen: Observation, **changes: Any) -> Observation:
    first, *others = seen.requests
    return replace(seen, requests=[replace(first, **changes), *others])


def alike(one: Observation, other: Observation, *, across: bool) -> bool:
    """Whether both first requests are the same when projected."""
    first, second = (
        project(channel(ChannelName.REQUESTS), seen, across=across)[0] for seen in (one, other)
    )
    return first.digest == second.digest


def test_own_instructions_hides_the_words_across_products_alone() -> None:
    one = with_request(observation(), system_digest="brief", tools_digest="a")
    other = with_request(observation(), system_digest="kind", tools_digest="b")
    without = with_request(observation(), system_digest=None)

    assert alike(one, other, across=True)
    assert not alike(one, other, across=False)
    assert not alike(one, without, across=True)


def test_own_tasks_shows_the_users_request_across_products_and_all_within_one() -> None:
    def asked(words: str, objective: str) -> Observation:
        text = f"{words}\n<objective>\n{objective}\n</objective>"
        contents = ({"role": "user", "parts": [{"text": text}]},)
        return with_request(observation(), thread="0/1", new_contents=contents)

    here = asked("Find it:", "the port")

    assert alike(here, asked("Look for it:", "the port"), across=True)
    assert not alike(here, asked("Look for it:", "the port"), across=False)
    assert not alike(here, asked("Find it:", "the host"), across=True)


def test_call_ids_hides_the_id_in_every_channel_and_nothing_beside_it() -> None:
    paths, rules = outcome(observation(), observation(call="read_file_1767225600009_0"))

    assert paths == []
    assert set(rules) == {"call_ids"}


def test_call_ids_hides_the_hash_of_a_turns_random_id_where_a_call_has_none() -> None:
    one, other = (observation(call=f"synth_orph_read_file_{digit * 32}") for digit in "ab")

    paths, rules = outcome(one, other)

    assert (paths, set(rules)) == ([], {"call_ids"})


def test_call_ids_shows_a_change_of_the_id_that_the_model_gave() -> None:
    paths, _ = outcome(observation(call="read_file__c1"), observation(call="read_file__c2"))

    assert "requestId" in paths


def test_call_ids_shows_that_one_side_replaced_the_id_that_the_model_gave() -> None:
    paths, _ = outcome(observation(call="read_file__c1"), observation())

    assert "requestId" in paths


def test_call_ids_leaves_ids_inside_arguments_and_outputs() -> None:
    seen = observation()
    transcript = [dict(content) for content in seen.transcript]
    call = {"functionCall": {"id": CALL, "name": "read_file", "args": {"id": "x"}}}
    transcript[1] = {"role": "model", "parts": [call]}
    other = {"functionCall": {"id": CALL, "name": "read_file", "args": {"id": "y"}}}
    changed = [*transcript[:1], {"role": "model", "parts": [other]}, *transcript[2:]]

    found = outcome(replace(seen, transcript=transcript), replace(seen, transcript=changed))

    assert found[0] == ["parts[0].functionCall.args.id"]


def test_recorded_ids_hides_uuids_and_not_ids_that_mean_something() -> None:
    seen = observation()

    assert outcome(seen, with_line(seen, {"id": UUIDS[1]})) == ([], {"recorded_ids": 1})
    assert outcome(seen, with_line(seen, {"id": "environment-context"}))[0] == ["line.id"]


def test_recorded_ids_shows_a_rewind_to_another_message() -> None:
    seen = observation()
    ((path, lines),) = seen.recording.items()
    more = [*lines, {**lines[1], "id": UUIDS[1]}]
    right = replace(seen, recording={path: [*more, {"$rewindTo": UUIDS[0]}]})
    wrong = replace(seen, recording={path: [*more, {"$rewindTo": UUIDS[1]}]})

    assert outcome(right, wrong)[0] == ["line.$rewindTo"]


def test_random_suffixes_hides_the_suffix_and_not_the_file() -> None:
    seen = observation()

    def wrote(name: str) -> Observation:
        text = f"saved to <HOME>/tool-outputs/session-1/{name} for you"
        return with_event(seen, 3, content=[{"type": "text", "text": text}])

    hidden = outcome(wrote("shell_c1_a8f3k2.txt"), wrote("shell_c1_zz11.txt"))
    assert hidden == ([], {"random_suffixes": 1})
    assert outcome(wrote("shell_c1_a8.txt"), wrote("shell_c2_a8.txt"))[0] == ["content[0].text"]


def test_random_suffixes_hides_a_later_session_and_not_the_first() -> None:
    seen = observation()

    def wrote(session: str) -> Observation:
        text = f"saved to <HOME>/tool-outputs/session-{session}/shell_c1_a8.txt"
        return with_event(seen, 3, content=[{"type": "text", "text": text}])

    first = CountingIds().uuid("session")
    assert outcome(wrote(UUIDS[0]), wrote(UUIDS[1])) == ([], {"random_suffixes": 1})
    assert outcome(wrote(first), wrote(UUIDS[1]))[0] == ["content[0].text"]


def test_random_suffixes_shows_a_text_that_names_another_file_than_the_one_before() -> None:
    def wrote(*suffixes: str) -> Observation:
        texts = [f"see <HOME>/tool-outputs/session-1/shell_c1_{each}.txt" for each in suffixes]
        content = [{"type": "text", "text": text} for text in texts]
        return with_event(observation(), 3, content=content)

    assert outcome(wrote("a8", "a8"), wrote("zz", "zz"))[0] == []
    assert outcome(wrote("a8", "a8"), wrote("zz", "z1"))[0] == ["content[1].text"]


def with_recordings(*sessions: tuple[str, str]) -> Observation:
    """Recordings of sessions, each with its id and its starting minute."""
    files = {
        f"tmp/ws/chats/session-2026-01-01T00-{minute}-{session[:8]}.jsonl": [
            {"sessionId": session, "startTime": f"2026-01-01T00:{minute}:00.000Z"},
            {"$set": {"sessionId": session}},
        ]
        for session, minute in sessions
    }
    return replace(observation(), recording=files)


def test_later_sessions_hides_their_ids_and_not_the_first_ones() -> None:
    first = CountingIds().uuid("session")
    one = with_recordings((first, "00"), (UUIDS[0], "01"))

    hidden = outcome(one, with_recordings((first, "00"), (UUIDS[1], "01")))
    shown = outcome(one, with_recordings((UUIDS[1], "00"), (UUIDS[0], "01")))

    assert hidden == ([], {"later_sessions": 3})
    assert shown[0] == ["files[0]", "line.sessionId", "line.$set.sessionId"]


def test_later_sessions_shows_which_recordings_share_a_session() -> None:
    two = with_recordings((UUIDS[0], "01"), (UUIDS[1], "02"))
    path = list(two.recording)[-1]
    shared = {**two.recording, path: [{**two.recording[path][0], "sessionId": UUIDS[0]}]}

    places, _ = outcome(two, replace(two, recording=shared))

    assert places


def test_recordings_stand_in_the_order_in_which_they_were_begun() -> None:
    seen = with_recordings((UUIDS[0], "02"), (UUIDS[1], "01"))

    [files, *_] = channel(ChannelName.RECORDING).items(seen)

    assert [path.partition("T00-")[2][:2] for path in files["files"]] == ["01", "02"]


def test_whole_numbers_are_one_kind_and_fractions_are_not() -> None:
    seen = observation()

    assert outcome(seen, with_event(seen, 4, inputTokens=10.0))[0] == []
    assert outcome(seen, with_event(seen, 4, inputTokens=10.5))[0][0] == "inputTokens"


def test_projection_leaves_the_observation_alone() -> None:
    seen, again = observation(), observation()
    for each in CHANNELS:
        project(each, seen)

    assert seen.events == again.events
    assert seen.recording == again.recording
    assert seen.requests == again.requests


def test_projection_replaces_the_runs_own_paths() -> None:
    items = project(channel(ChannelName.WORKSPACE), observation(base="/tmp/run-z"))

    assert items[0].value == {"path": "new.txt", "text": "<WS>"}
