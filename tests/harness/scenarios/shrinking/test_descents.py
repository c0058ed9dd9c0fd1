from typing import Any

import pytest

from harness.scenarios.shrinking.descents import Pass, dropping, fewer, lower, one_of, replacing
from harness.scenarios.shrinking.edits import places, value_at, with_value
from tests.harness.scenarios.shrinking.descending import Document, down

NUMBERS = {"all": list(range(20))}


def test_neighbouring_items_are_dropped_together() -> None:
    tried: list[Document] = []

    def wanted(document: Document) -> bool:
        tried.append(document)
        return 13 in document["all"]

    assert down(dropping("x", "all"), NUMBERS, wanted) == {"all": [13]}
    assert len(tried) < 20


def test_items_are_left_out_the_last_first() -> None:
    tried: list[list[int]] = []

    def wanted(document: Document) -> bool:
        tried.append(document["all"])
        return False

    down(dropping("x", "all"), {"all": [1, 2, 3, 4]}, wanted)

    assert tried == [[], [1, 2], [3, 4], [1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]]


def test_a_pass_keeps_the_least_number_of_items() -> None:
    assert len(down(dropping("x", "all", least=2), NUMBERS, lambda document: True)["all"]) == 2


def test_nothing_is_proposed_where_there_is_nothing() -> None:
    each = Pass("x", lambda document: fewer((), lambda rest: {}, document))

    assert down(each, NUMBERS, lambda document: True) == NUMBERS


@pytest.mark.parametrize("least", range(5))
@pytest.mark.parametrize("value", range(13))
def test_a_number_is_lowered_to_the_least_that_will_do(value: int, least: int) -> None:
    each = replacing("x", "n", lower(0))

    found = down(each, {"n": value}, lambda document: document["n"] >= least)

    assert found == {"n": min(value, least)}


@pytest.mark.parametrize("value", ["3", True, None, -1])
def test_only_numbers_are_lowered(value: Any) -> None:
    assert down(replacing("x", "n", lower(0)), {"n": value}, lambda document: True) == {"n": value}


def test_the_plainest_that_is_kept_ends_it() -> None:
    tried: list[str] = []

    def wanted(document: Document) -> bool:
        tried.append(document["a"])
        return document["a"] == "plain"

    each = replacing("x", "a", one_of("plainest", "plain", "less plain"))

    assert down(each, {"a": "odd"}, wanted) == {"a": "plain"}
    assert tried == ["plainest", "plain"]


def test_plain_values_are_not_replaced() -> None:
    each = replacing("x", "a", one_of("plain", "less plain"))

    assert down(each, {"a": "plain"}, lambda document: True) == {"a": "plain"}


def test_places_are_found_by_pattern() -> None:
    document = {"a": [{"b": {"c": 1}}, {"d": 2}, 3, {"b": {"e": 4}}]}

    assert places(document, "a/*/b/*") == [("a", 0, "b", "c"), ("a", 3, "b", "e")]
    assert places(document, "") == [()]
    assert places(document, "nowhere/*/b") == []
    assert value_at(document, ("a", 3, "b", "e")) == 4


def test_a_document_is_never_changed() -> None:
    document = {"a": [{"b": 1}, {"b": 2}], "c": {"d": 3}}

    changed = with_value(document, ("a", 1, "b"), 9)

    assert changed == {"a": [{"b": 1}, {"b": 9}], "c": {"d": 3}}
    assert document["a"] == [{"b": 1}, {"b": 2}]
    assert changed["c"] is document["c"]
