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


def test_error_stacks_hides_the_stack_and_not_the_code() -> None:
    seen = observation()
    stack = with_event(seen, 5, _meta={"code": "E1", "stack": "elsewhere"})
    code = with_event(seen, 5, _meta={"code": "E2", "stack": "elsewhere"})
    none = with_event(seen, 5, _meta={"code": "E1"})

    assert outcome(seen, stack) == ([], {"error_stacks": 1})
    assert outcome(seen, code)[0] == ["_meta.code"]
    assert outcome(seen, none)[0] == ["_meta.stack"]


def test_call_ids_hides_the_id_in_every_channel_and_nothing_beside_it() -> None:
    paths, rules = outcome(observation(), observation(call="c"))

    assert paths == []
    assert set(rules) == {"call_ids"}


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
