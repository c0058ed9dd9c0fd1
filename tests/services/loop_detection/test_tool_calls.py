import json
from typing import Any

import pytest

from services.loop_detection.tool_calls import ToolCallLoops


def first_loop(calls: list[tuple[str, dict[str, Any]]]) -> int | None:
    """How many calls it takes, or None."""
    loops = ToolCallLoops()
    return next((n for n, call in enumerate(calls, start=1) if loops.add(*call)), None)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_a_cycle_is_a_loop_at_its_fifth_round(length: int) -> None:
    cycle = [("read_file", {"n": n}) for n in range(length)]

    assert first_loop(cycle * 6) == length * 5


def test_a_cycle_of_six_is_none() -> None:
    assert first_loop([("read_file", {"n": n}) for n in range(6)] * 9) is None


@pytest.mark.contract("P-115")
def test_a_cycle_may_begin_after_other_calls() -> None:
    before = [("glob", {"n": n}) for n in range(7)]

    assert first_loop(before + [("a", {}), ("b", {})] * 5) == 17


def test_another_call_in_between_starts_the_count_anew() -> None:
    same = [("a", {})]

    assert first_loop(same * 4 + [("b", {})] + same * 4) is None
    assert first_loop(same * 4 + [("b", {})] + same * 5) == 10


@pytest.mark.parametrize(
    "args",
    [
        {"path": "b"},
        {"path": "a", "limit": 1},
        {},
    ],
)
def test_other_arguments_make_another_call(args: dict[str, Any]) -> None:
    calls = [("read_file", {"path": "a"})] * 4 + [("read_file", args)]

    assert first_loop(calls) is None


def test_the_order_of_arguments_counts() -> None:
    one, other = json.loads('{"a": 1, "b": 2}'), json.loads('{"b": 2, "a": 1}')

    assert first_loop([("t", one)] * 4 + [("t", other)]) is None


def test_half_a_surrogate_pair_is_an_argument_like_any_other() -> None:
    assert first_loop([("t", {"text": "\ud83d"})] * 5) == 5


def test_cleared_calls_are_forgotten() -> None:
    loops = ToolCallLoops()
    for _ in range(4):
        loops.add("a", {})
    loops.clear()

    assert not loops.add("a", {})
