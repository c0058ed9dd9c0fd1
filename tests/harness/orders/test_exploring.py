from collections.abc import Mapping, Sequence

import pytest

from harness.orders.exploring import Explorer
from harness.orders.order import Choice, Order, Schedule, left_at, preempts
from harness.orders.places import Place
from tests.harness.orders.programs import explored_program

TWO = {"a": ["0/0 answer 0", "0/0 answer 1"], "b": ["0/1 answer 0", "0/1 answer 1"]}


def explored(
    steps: Mapping[str, Sequence[str]], most: int, *, chunks: bool = False
) -> tuple[list[str], list[int], bool]:
    """The tried orders, the preemptions in each, and whether these are all orders."""
    found: list[str] = []
    costs: list[int] = []
    explorer = Explorer(most, chunks=chunks)

    def run(order: Order, cost: int) -> list[Choice]:
        choices = explored_program(steps, order)
        assert left_at(order.places, [choice.chosen for choice in choices]) is None
        found.append(", ".join(str(choice.chosen) for choice in choices))
        costs.append(cost)
        return choices

    explorer.orders(run)
    return found, costs, explorer.exhaustive


def test_every_order_is_tried_once_where_there_are_few() -> None:
    found, _, exhaustive = explored(TWO, 100)

    assert len(found) == len(set(found)) == 6
    assert exhaustive


def test_all_orders_of_three_that_complete_at_once_are_tried() -> None:
    found, costs, exhaustive = explored({n: [f"0/{n} call"] for n in "012"}, 6)

    assert len(set(found)) == 6
    assert set(costs) == {0}
    assert exhaustive


def test_of_many_orders_those_with_few_preemptions_come_first() -> None:
    found, costs, exhaustive = explored(TWO, 4)

    assert found[:2] == [
        "0/0 answer 0, 0/0 answer 1, 0/1 answer 0, 0/1 answer 1",
        "0/1 answer 0, 0/1 answer 1, 0/0 answer 0, 0/0 answer 1",
    ]
    assert costs == [0, 0, 1, 1]
    assert not exhaustive


def test_an_order_that_was_left_begins_no_other() -> None:
    explorer = Explorer(100)

    explorer.orders(lambda order, cost: None)

    assert explorer.tried == 1
    assert explorer.exhaustive


def test_among_chunks_only_choices_that_concern_them_are_varied() -> None:
    steps = {"a": ["0/0 answer 0", "0/0 answer 0 chunk 1"], "b": ["0/1 answer 0"]}

    found, _, exhaustive = explored(steps, 100, chunks=True)

    assert found == [
        "0/0 answer 0, 0/0 answer 0 chunk 1, 0/1 answer 0",
        "0/0 answer 0, 0/1 answer 0, 0/0 answer 0 chunk 1",
    ]
    assert exhaustive


def places(*texts: str) -> tuple[Place, ...]:
    return tuple(map(Place.parse, texts))


def test_places_outside_of_the_order_follow_without_switching() -> None:
    schedule = Schedule(Order(places("0/1 answer 0")))

    assert schedule.next(places("0/0 answer 0", "0/1 answer 0")) == places("0/1 answer 0")[0]
    assert str(schedule.next(places("0/0 answer 0", "0/1/0/0 call"))) == "0/1/0/0 call"
    assert str(schedule.next(places("0/2 answer 0", "0/0 answer 0"))) == "0/0 answer 0"


@pytest.mark.parametrize(
    ("chosen", "last", "expected"),
    [
        ("0/1 answer 0", (0, 0), True),
        ("0/0 answer 1", (0, 0), False),
        ("0/1 answer 0", (2, 0), False),
        ("0/1 answer 0", None, False),
    ],
)
def test_going_on_with_another_counts_where_the_last_could_go_on(
    chosen: str, last: tuple[int, ...] | None, expected: bool
) -> None:
    ready = places("0/0 answer 1", "0/1 answer 0")

    assert preempts(Place.parse(chosen), ready, last) is expected


def test_a_message_names_the_place_where_an_order_was_left() -> None:
    wanted = places("0/1 call", "0/0 call")

    assert left_at(wanted, places("0/1 call", "0/0 call", "main answer 1")) is None
    assert left_at(wanted, places("0/0 call")) == ("0/1 call was next, but 0/0 call continued")
    assert left_at(wanted, places("0/1 call")) == "0/0 call was next, but did not occur"
