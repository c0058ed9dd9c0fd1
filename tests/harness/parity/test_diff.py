from typing import Any

import pytest

from harness.parity.diff import bounded, bounded_pair, differences, path_text
from harness.parity.divergence import ABSENT


@pytest.mark.parametrize(
    ("control", "candidate", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [("a", 1, 2)]),
        ({"a": 1}, {"a": True}, [("a", 1, True)]),
        ({"a": None}, {}, [("a", None, ABSENT)]),
        ({}, {"a": None}, [("a", ABSENT, None)]),
        ({"a": [1, 2]}, {"a": [1]}, [("a[1]", 2, ABSENT)]),
        ({"a": [{"b": "x"}]}, {"a": [{"b": "y"}]}, [("a[0].b", "x", "y")]),
        ([1], {"a": 1}, [("", [1], {"a": 1})]),
        ("x", "y", [("", "x", "y")]),
        ({"b": 1, "a": 1}, {"b": 2, "a": 2}, [("a", 1, 2), ("b", 1, 2)]),
        ({"a": "x\ny"}, {"a": "x\nz"}, [("a", "x\ny", "x\nz")]),
        ({"a": {}}, {"a": []}, [("a", {}, [])]),
    ],
)
def test_differences(control: Any, candidate: Any, expected: list[Any]) -> None:
    found = differences(control, candidate)

    assert [(each.path, each.control, each.candidate) for each in found] == expected


def test_a_long_text_is_cut_around_its_first_difference() -> None:
    here = "x" * 5000 + "A" + "y" * 5000
    there = "x" * 5000 + "B" + "y" * 5000

    one, other = bounded_pair(here, there)

    assert one.startswith("…x")
    assert one[:200].index("A") == other[:200].index("B")
    assert "10001 characters" in one
    assert one != other


def test_texts_that_differ_only_in_length_show_both_lengths() -> None:
    one, other = bounded_pair("x" * 3000, "x" * 3001)

    assert "3000 characters" in one
    assert "3001 characters" in other


def test_a_large_value_is_kept_as_bounded_text() -> None:
    kept = bounded({"a": ["b" * 100] * 100})

    assert isinstance(kept, str)
    assert len(kept) < 1200


def test_paths_read_like_code() -> None:
    assert path_text(["content", 0, "text"]) == "content[0].text"
    assert path_text([0, "a"]) == "[0].a"
    assert path_text([]) == ""
