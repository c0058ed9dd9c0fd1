"""Runs of one product that do the same must do it at the same virtual times."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from harness.explain import explain
from harness.parity.compare import compare_observations, compare_repeated
from harness.parity.divergence import ChannelName, Kind
from harness.replay.observation import ChildObservation, HookRun, Observation
from services.state import RetryAttempt
from tests.harness.samples import Facts, observation

RETRY = RetryAttempt(attempt=1, max_attempts=4, delay_ms=1000, error="INVALID", model="pro")


def timed(**changes: Any) -> Observation:
    """A run with a retry at 5 ms, and events at 10, 11, 12 ms and so on."""
    seen = observation()
    events = [{**each, "timestamp": stamp(10 + n)} for n, each in enumerate(seen.events)]
    values = {"events": events, "retries": [RETRY], "times": {("retries", 0): 5}, **changes}
    return replace(seen, **values)


def stamp(ms: int) -> str:
    return f"2026-01-01T00:00:{ms // 1000:02d}.{ms % 1000:03d}Z"


def late(seen: Observation, ms: int, numbers: Sequence[int]) -> Observation:
    """`seen` with some of its events later."""
    events = [
        {**each, "timestamp": stamp(10 + n + ms)} if n in numbers else each
        for n, each in enumerate(seen.events)
    ]
    return replace(seen, events=events)


def places(control: Observation, candidate: Observation) -> list[tuple[str, int | None, str]]:
    found = compare_observations(control, candidate).divergences
    return [(each.channel.value, each.control_index, each.path) for each in found]


def test_equal_times_are_parity() -> None:
    assert places(timed(), timed()) == []


def test_a_retry_announced_after_its_wait_is_a_difference_though_nothing_else_is_late() -> None:
    after = timed(times={("retries", 0): 1005})

    (found,) = compare_observations(timed(), after).divergences

    assert (found.channel, found.kind, found.label) == (
        ChannelName.RETRIES,
        Kind.CHANGED,
        "retry",
    )
    assert (found.path, found.control, found.candidate) == ("atMs", 5, 1005)


def test_a_late_event_is_named_once_for_all_that_are_late_by_the_same() -> None:
    seen = timed()

    assert places(seen, late(seen, 40, [3, 4, 5, 6])) == [("events", 3, "timestamp")]
    assert places(seen, late(late(seen, 40, [3, 4]), 90, [5])) == [
        ("events", 3, "timestamp"),
        ("events", 5, "timestamp"),
    ]


def test_a_late_line_of_a_recording_is_a_difference() -> None:
    seen = timed()
    ((path, lines),) = seen.recording.items()
    changed = [*lines]
    changed[1] = {**lines[1], "timestamp": stamp(700)}

    assert places(seen, replace(seen, recording={path: changed})) == [
        ("recording", 2, "line.timestamp")
    ]


@pytest.mark.parametrize(
    ("hooks", "kind"),
    [
        ([HookRun(event="AfterAgent", hook="log", at_ms=21)], Kind.CHANGED),
        ([], Kind.MISSING),
    ],
)
def test_a_hook_at_another_time_or_not_started_is_a_difference(
    hooks: list[HookRun], kind: Kind
) -> None:
    here = timed(hooks=[HookRun(event="AfterAgent", hook="log", at_ms=20)])

    (found,) = compare_observations(here, timed(hooks=hooks)).divergences

    assert (found.channel, found.label, found.kind) == (ChannelName.RETRIES, "hook", kind)
    assert found.control == {"event": "AfterAgent", "hook": "log", "atMs": 20}


def test_hooks_of_parallel_calls_may_start_in_another_order_at_the_same_times() -> None:
    one = HookRun(event="AfterTool", hook="a", at_ms=20)
    other = HookRun(event="AfterTool", hook="b", at_ms=20)

    assert places(timed(hooks=[one, other]), timed(hooks=[other, one])) == []


def test_a_time_may_differ_by_what_requests_beside_real_work_have_moved_it_and_no_more() -> None:
    seen = timed()
    raced = replace(late(seen, 1, range(3, 7)), raced=[(12, 1)])
    before = replace(late(seen, 1, range(3, 7)), raced=[(15, 1)])
    more = replace(late(seen, 2, range(3, 7)), raced=[(12, 1)])

    assert places(seen, raced) == []
    assert compare_observations(seen, raced).rules == {"timestamps": 4}
    assert places(seen, before) == [("events", 3, "timestamp")]
    assert places(seen, more) == [("events", 3, "timestamp")]


def test_times_are_not_compared_across_products_or_with_a_baseline() -> None:
    seen = timed()
    after = late(seen, 40, range(7))

    assert places(replace(seen, words="upstream"), after) == []
    assert places(replace(seen, times={}), after) == []


def test_times_are_compared_with_one_subagent_and_not_with_several() -> None:
    children = [ChildObservation(thread=f"0/{n}", agent="helper", agent_id="a") for n in range(2)]
    one, two = timed(children=children[:1]), timed(children=children)

    assert places(one, late(one, 40, range(7))) == [("events", 0, "timestamp")]
    assert places(two, late(two, 40, range(7))) == []


def test_a_run_that_did_something_else_is_not_late_as_well() -> None:
    seen = timed()
    other = late(seen, 40, range(7))
    other.events[4] = {**other.events[4], "inputTokens": 11}  # type: ignore[index]  # a list, though only read as a sequence

    paths = [path for _, _, path in places(seen, other)]

    assert "inputTokens" in paths
    assert "timestamp" not in paths


def test_the_explanation_of_a_late_retry_names_the_time_on_both_sides() -> None:
    result = compare_repeated([timed()], [timed(times={("retries", 0): 1005})], Facts())

    words = "\n".join(explain(result, "legacy", "adk"))

    assert "virtual milliseconds since the run began" in words
    assert "1005" in words
