"""Child agents in a baseline: kept whole, read back, and refused where they are none."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.baseline.document import from_document, to_document
from harness.baseline.files import Baseline, BaselineFormatError, baseline_text, parse_baseline
from harness.parity.compare import compare_observations
from harness.replay.observation import ChildObservation, Observation
from tests.harness.samples import observation

NAME, DIGEST = "tools/read", "a" * 64
THOUGHT = {"type": "THOUGHT_CHUNK", "data": {"text": "Look into /tmp/run-a/ws"}}
ENDED = {"type": "agent_end", "reason": "failed", "_meta": {"stack": "at /x.py:1"}}


def seen(**changes: Any) -> Observation:
    child = ChildObservation(
        thread="0/0", agent="helper", agent_id="id", activities=[THOUGHT], events=[ENDED]
    )
    values: dict[str, Any] = {"children": [child], "threads": {"side_events": {0: "0/0"}}}
    return replace(observation(), **{**values, **changes})


def kept(run: Observation) -> Baseline:
    text = baseline_text(Baseline.of(run, NAME, DIGEST))
    return parse_baseline(text, Path("b.json"), NAME)


def test_children_are_kept_and_agree_with_the_run() -> None:
    run = seen()

    stored = kept(run).observation

    assert stored.children[0].activities[0]["data"]["text"] == "Look into <WS>"
    assert stored.threads == {"side_events": {0: "0/0"}}
    assert (
        compare_observations(stored, Baseline.of(run, NAME, DIGEST).observation).divergences == ()
    )


def test_a_stack_in_a_childs_event_is_not_kept() -> None:
    (child,) = kept(seen()).observation.children

    assert child.events is not None
    assert child.events[0]["_meta"] == {"stack": "<stack>"}


def test_a_child_without_a_session_stays_one() -> None:
    child = replace(seen().children[0], events=None)

    assert kept(seen(children=[child])).observation.children[0].events is None


def test_a_run_without_children_is_written_as_before() -> None:
    assert {"children", "threads"}.isdisjoint(to_document(observation()))


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("children", [{"thread": "main/0", "agent": "a", "agentId": "i"}], "is no thread"),
        ("children", [{"thread": "0/0", "agent": "a"}], "agentId"),
        ("children", {}, "must be a list"),
        (
            "threads",
            {"requests": {}},
            "threads.requests: Input should be 'tool_states', 'retries' or 'side_events'",
        ),
        (
            "threads",
            {"retries": {"x": "0/0"}},
            "threads.retries.x: must be a whole number, not 'x'",
        ),
        ("threads", {"retries": {"0": "0"}}, "is no thread"),
    ],
)
def test_what_is_no_child_is_refused_with_its_place(key: str, value: Any, problem: str) -> None:
    document = json.loads(baseline_text(Baseline.of(seen(), NAME, DIGEST)))
    document["observation"][key] = value

    with pytest.raises(BaselineFormatError) as refused:
        parse_baseline(json.dumps(document), Path("b.json"), NAME)

    assert problem in str(refused.value)
    assert key in str(refused.value)


def test_a_document_without_children_is_read() -> None:
    document = json.loads(json.dumps(to_document(kept(observation()).observation)))

    read = from_document(document, name=NAME, runtime="legacy", versions={})

    assert (read.children, read.threads) == ([], {})
