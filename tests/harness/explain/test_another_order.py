"""Results of calls in another order are reported once, not as a change at each place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from harness.explain import Explanation, Seam, explained
from harness.parity.compare import compare_repeated
from harness.replay.observation import Observation
from harness.replay.request_log import RequestLog
from tests.harness.samples import Facts, ask, observation, paths, user

Result = tuple[str, str, str]
"""Id of the call, name of the tool, output."""
ALPHA, BRAVO, TREE = ("c0", "read_file", "alpha"), ("c1", "read_file", "bravo"), ("c2", "glob", "t")


def asked(runtime: str, results: Sequence[Result]) -> Observation:
    """A run whose second request has these results."""
    calls = [
        {"functionCall": {"id": id_, "name": name, "args": {}}}
        for id_, name, _ in (ALPHA, BRAVO, TREE)
    ]
    parts = [
        {"functionResponse": {"id": id_, "name": name, "response": {"output": said}}}
        for id_, name, said in results
    ]
    log = RequestLog(paths())
    contents = [user("Read"), {"role": "model", "parts": calls}, {"role": "user", "parts": parts}]
    log.observe("generateContentStream", ask(contents[:1]))
    log.observe("generateContentStream", ask(contents))
    return replace(observation(runtime), requests=log.requests)


def emitting(runtime: str, results: Sequence[Result]) -> Observation:
    """A run that emits these results."""
    seen = observation(runtime)
    before, after = list(seen.events[:2]), list(seen.events[3:])
    events = [
        {**seen.events[2], "requestId": id_, "name": name, "display": {"description": said}}
        for id_, name, said in results
    ]
    return replace(seen, events=[*before, *events, *after])


def compared(control: Observation, candidate: Observation) -> Explanation:
    return explained(compare_repeated([control], [candidate], Facts()), "legacy", "adk")


def test_results_of_a_request_in_another_order_are_reported_as_the_same() -> None:
    made = compared(asked("legacy", [ALPHA, BRAVO, TREE]), asked("adk", [TREE, BRAVO, ALPHA]))

    assert made.sentences[0].endswith(
        "the second request has the same 3 tool results in another order."
    )
    assert made.sentences[2] == (
        "At contents[2] (turn 3 of the history in the request) legacy has: "
        "read_file 'alpha', read_file 'bravo', glob 't'."
    )
    assert made.sentences[3] == "adk has: glob 't', read_file 'bravo', read_file 'alpha'."
    assert made.seam is Seam.SCHEDULER


def test_results_with_long_outputs_are_recognised_as_well() -> None:
    long = [(f"c{n}", "read_file", letter * 3000) for n, letter in enumerate("ab")]

    made = compared(asked("legacy", long), asked("adk", long[::-1]))

    assert "the same 2 tool results in another order" in made.sentences[0]


@pytest.mark.parametrize(
    "results",
    [
        [BRAVO, ("c0", "read_file", "other")],  # one result differs
        [("c0", "read_file", "bravo"), BRAVO],  # one result occurs twice
    ],
)
def test_results_that_are_not_the_same_ones_are_changes(results: Sequence[Result]) -> None:
    made = compared(asked("legacy", [ALPHA, BRAVO]), asked("adk", results))

    assert "another order" not in " ".join(made.sentences)


def test_outputs_under_each_others_names_are_no_other_order() -> None:
    exchanged = [("c0", "read_file", "t"), ("c2", "glob", "alpha")]

    made = compared(asked("legacy", [ALPHA, TREE]), asked("adk", exchanged))

    assert "another order" not in " ".join(made.sentences)


def test_results_that_differ_only_in_ids_are_compared_by_id() -> None:
    one, other = ("c0", "read_file", "same"), ("c1", "read_file", "same")

    made = compared(asked("legacy", [one, other]), asked("adk", [other, one]))

    assert "the same 2 tool results in another order" in made.sentences[0]
    assert "legacy has: c0, c1 (the ids of the calls; the results are equal" in made.sentences[2]


@pytest.mark.parametrize("order", [(1, 0, 2), (2, 1, 0), (1, 2, 0)])
def test_results_that_are_emitted_in_another_order_are_reported_as_the_same(
    order: Sequence[int],
) -> None:
    results = [ALPHA, BRAVO, TREE]
    moved = [results[number] for number in order]

    made = compared(emitting("legacy", results), emitting("adk", moved))

    assert made.sentences[0].startswith("The first difference is in the events of the client")
    assert "tool results in another order." in made.sentences[0]
    said: dict[str, Any] = dict(line.split(" has: ", 1) for line in made.sentences[2:4])
    assert sorted(said) == ["adk", "legacy"]
    assert said["adk"] != said["legacy"]
    assert made.seam is Seam.EVENTS


def test_a_result_that_is_lacking_is_no_other_order() -> None:
    made = compared(emitting("legacy", [ALPHA, BRAVO]), emitting("adk", [BRAVO]))

    assert "another order" not in " ".join(made.sentences)
