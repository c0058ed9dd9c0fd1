"""Runs with parallel agents: which differences of order count."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harness.parity.compare import compare_observations
from harness.parity.divergence import ChannelName, Kind
from harness.parity.threads import RUN_RULES, by_thread
from harness.replay.observation import Observation, ObservedRequest
from services.state import RetryAttempt
from tests.harness.samples import observation

TWO = ("main", "0/0", "0/1", "0/0", "0/1", "main")
SWAPPED = ("main", "0/1", "0/0", "0/1", "0/0", "main")


def asked(threads: Sequence[str], role: str = "subagent") -> Observation:
    """A run whose requests are on these threads, each numbered on its thread."""
    seen: dict[str, int] = {}
    requests = []
    for thread in threads:
        seen[thread] = seen.get(thread, 0) + 1
        requests.append(
            ObservedRequest(
                method="generateContentStream",
                role="main" if thread == "main" else role,
                thread=thread,
                model="m",
                new_contents=({"role": "user", "parts": [{"text": f"{thread} {seen[thread]}"}]},),
                digest=f"{thread} {seen[thread]}",
            )
        )
    return replace(observation(), requests=requests, order=[])


def threads(seen: Observation) -> list[str]:
    return [request.thread for request in seen.requests]


def test_two_agents_side_by_side_may_be_served_in_any_order() -> None:
    found = compare_observations(asked(TWO), asked(SWAPPED))

    assert found.divergences == ()
    assert found.rules == {"thread_interleaving": 2}


def test_the_order_within_a_thread_is_compared() -> None:
    control, candidate = asked(TWO), asked(TWO)
    requests = list(candidate.requests)
    requests[1], requests[3] = requests[3], requests[1]

    found = compare_observations(control, replace(candidate, requests=requests)).divergences

    assert found
    assert {each.channel for each in found} == {ChannelName.REQUESTS}
    assert all("thread 0/0" in each.label for each in found)


def test_a_request_of_a_child_after_its_parent_continued_is_a_difference() -> None:
    late = ("main", "0/0", "0/1", "0/0", "main", "0/1")

    found = compare_observations(asked(TWO), asked(late)).divergences

    assert [each.kind for each in found] == [Kind.ORDER]


def test_grandchildren_depend_on_their_parent_and_not_on_its_siblings() -> None:
    one = asked(["main", "0/0", "0/0/0/0", "0/1", "0/0", "main"])
    other = asked(["main", "0/1", "0/0", "0/0/0/0", "0/0", "main"])
    broken = asked(["main", "0/0", "0/0", "0/0/0/0", "0/1", "main"])

    assert compare_observations(one, other).divergences == ()
    assert compare_observations(one, broken).divergences != ()


def test_a_childs_own_children_are_independent_of_each_other() -> None:
    one = asked(["main", "0/0", "0/0/0/0", "0/0/0/1", "0/0", "main"])
    other = asked(["main", "0/0", "0/0/0/1", "0/0/0/0", "0/0", "main"])

    assert compare_observations(one, other).divergences == ()


def test_requests_of_a_parents_tool_beside_a_child_have_no_order() -> None:
    first = asked(["main", "0/1", "main"])
    tool = replace(first.requests[1], role="utility_tool", thread="main", digest="t")
    main, child, last = first.requests
    one = replace(first, requests=[main, tool, child, last])
    other = replace(first, requests=[main, child, tool, last])

    assert compare_observations(one, other).divergences == ()


def test_a_run_without_children_is_the_same_object() -> None:
    seen = observation()

    assert by_thread(seen) is seen


@given(st.permutations(range(6)))
def test_the_normal_form_is_one_for_every_order_of_two_threads(order: list[int]) -> None:
    mixed = sorted(["0/0", "0/1"] * 3)
    shuffled = asked(["main", *(mixed[index] for index in order), "main"])

    normal = by_thread(shuffled)

    assert threads(normal) == ["main", "0/0", "0/0", "0/0", "0/1", "0/1", "0/1", "main"]
    assert by_thread(normal).requests == normal.requests
    numbers = [request.digest for request in normal.requests if request.thread == "0/0"]
    assert numbers == sorted(numbers)


def test_calls_retries_and_side_events_are_put_in_order_by_thread() -> None:
    seen = replace(
        observation(),
        tool_states={"b": ["success"], "a": ["success"], "m": ["success"]},
        retries=[retry("b"), retry("a")],
        side_events=[{"event": "confirmation", "of": "b"}, {"event": "confirmation", "of": "a"}],
        threads={
            "tool_states": {0: "0/1", 1: "0/0"},
            "retries": {0: "0/1", 1: "0/0"},
            "side_events": {0: "0/1", 1: "0/0"},
        },
        order=[("tool_states", 0, 1), ("retries", 1, 2), ("retries", 2, 3)],
        times={("tool_states", 0): 5, ("retries", 1): 6, ("events", 0): 7},
    )

    normal = by_thread(seen)

    assert list(normal.tool_states) == ["a", "b", "m"]
    assert [each.error for each in normal.retries] == ["a", "b"]
    assert [each["of"] for each in normal.side_events] == ["a", "b"]
    assert normal.threads["tool_states"] == {1: "0/1", 0: "0/0"}
    assert normal.order == [("tool_states", 1, 1), ("retries", 0, 2), ("retries", 3, 3)]
    assert normal.times == {("tool_states", 1): 5, ("retries", 0): 6, ("events", 0): 7}


def retry(error: str) -> RetryAttempt:
    return RetryAttempt(attempt=1, max_attempts=3, delay_ms=5, error=error, model="m")


def test_a_retry_on_another_thread_is_a_difference() -> None:
    seen = replace(observation(), retries=[retry("a")])
    one = replace(seen, threads={"retries": {0: "0/0"}})
    other = replace(seen, threads={"retries": {0: "0/1"}})

    found = compare_observations(one, other).divergences

    assert {each.channel for each in found} == {ChannelName.RETRIES}


def test_every_rule_about_runs_says_why() -> None:
    assert all(len(reason) > 40 for reason in RUN_RULES.values())
