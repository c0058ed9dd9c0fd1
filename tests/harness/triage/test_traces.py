import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.parity.verdict import CaseVerdict
from harness.provider.rules import ProviderFinding
from harness.replay.observation import ChildObservation
from harness.replay.trace import to_trace, trace_json
from harness.triage.pairs import compared
from harness.triage.traces import TraceFormatError, parse_trace, read_trace
from tests.harness.samples import observation


def of(text: str) -> Any:
    return parse_trace(text, "a.json")


def written(**changes: Any) -> str:
    return json.dumps({**to_trace(observation()), **changes})


def test_a_trace_read_back_is_written_the_same() -> None:
    text = trace_json(observation())

    assert trace_json(of(text)) == text


def test_a_trace_agrees_with_the_run_that_it_was_made_of() -> None:
    seen = observation()

    assert compared(of(trace_json(seen)), of(trace_json(seen)), "x").verdict is CaseVerdict.PARITY


def test_traces_of_runs_in_other_folders_are_parity() -> None:
    here, there = observation(base="/tmp/run-a"), observation("adk", base="/tmp/run-b")
    result = compared(of(trace_json(here)), of(trace_json(there)), "x")

    assert result.divergences == ()


def test_a_difference_is_found_as_in_a_run() -> None:
    seen = observation("adk")
    lost = replace(seen, events=[event for event in seen.events if event["type"] != "usage"])
    result = compared(of(trace_json(observation())), of(trace_json(lost)), "x")

    assert [found.place for found in result.divergences][:1] == ["events[4] usage"]
    assert {found.cassette for found in result.divergences} == {"x"}


def test_provider_findings_are_read_back() -> None:
    seen = observation()
    finding = ProviderFinding(rule="role-repeated", path="contents[1]", message="twice user")
    requests = [replace(seen.requests[0], provider=(finding,)), *seen.requests[1:]]

    assert of(trace_json(replace(seen, requests=requests))).requests[0].provider == (finding,)


def test_threads_are_lineages_of_their_own() -> None:
    seen = observation()
    child = replace(seen.requests[0], thread="0/1")
    text = trace_json(replace(seen, requests=[seen.requests[0], child, *seen.requests[1:]]))

    assert [request.same_as_previous for request in of(text).requests] == [0, 0, 1]


def test_child_agents_are_read_back() -> None:
    child = ChildObservation(
        thread="0/1", agent="helper", agent_id="i", activities=[{"type": "ERROR", "data": {}}]
    )
    seen = replace(observation(), children=[child], threads={"retries": {0: "0/1"}})

    read = of(trace_json(seen))

    assert (read.children, read.threads) == ([child], {"retries": {0: "0/1"}})
    found = compared(read, of(trace_json(observation())), "x").divergences
    assert {each.channel for each in found} == {"children", "retries"}


def test_unknown_keys_are_ignored() -> None:
    requests = [{**request, "later": 1} for request in to_trace(observation())["requests"]]

    assert of(written(moments=[1], requests=requests)).name == "tools/read"


def test_equal_unused_steps_of_both_sides_leave_the_verdict_parity() -> None:
    sides = [of(trace_json(replace(observation(name), unused_steps=[2]))) for name in ("a", "b")]

    assert compared(sides[0], sides[1], "x").verdict is CaseVerdict.PARITY


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("{", "not JSON"),
        ("[]", "must be a mapping"),
        ("{}", "name: this key is required"),
        (written(events=None), "events: must be a list"),
        (written(events=3), "events: must be a list"),
        (written(name=None), "name: must be text"),
        (written(versions={"a": 1}), "versions.a: must be text"),
        (written(requests=[{}]), "requests[0].contents: this key is required"),
        (written(requests=[3]), "requests[0]: must be a mapping"),
        (written(toolStates=[]), "toolStates: must be a mapping"),
        (written(retries=[{"attempt": "x"}]), "retries[0].attempt: must be a whole number"),
        (written(unusedSteps=[True]), "unusedSteps[0]: must be a whole number"),
        ('{"name": "\\u001b[2J", "name": 1}', "name"),
        ("[" * 200 + "]" * 200, "deep"),
        ('{"events": [' + "9" * 5000 + "]}", ""),
    ],
)
def test_what_is_no_trace_is_refused_by_its_key(text: str, words: str) -> None:
    with pytest.raises(TraceFormatError) as refused:
        of(text)

    assert words in str(refused.value)
    assert str(refused.value).startswith("trace a.json: ")
    assert str(refused.value).isprintable()


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceFormatError, match="cannot be read"):
        read_trace(tmp_path / "gone.json")


def test_a_folder_is_no_trace(tmp_path: Path) -> None:
    with pytest.raises(TraceFormatError, match="is not a regular file"):
        read_trace(tmp_path)
