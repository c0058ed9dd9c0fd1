"""Applies a change to a third text as upstream's library does.

The expected values are those of jsdiff 8 (`applyPatch(text, createPatch(name, before, after))`).
"""

from __future__ import annotations

import pytest

import services.patching
from services.patching import applied_change

TWELVE = "".join(f"line {number}\n" for number in range(1, 13))


@pytest.mark.parametrize(
    ("text", "before", "after", "result"),
    [
        ("a\nb\nc\n", "b\n", "x\n", "a\nx\nc\n"),
        ("other\n", "same\n", "same\n", "other\n"),
        ("mine\n", "", "first\n", "first\nmine\n"),
        ("first\nmine\n", "first\n", "", "mine\n"),
        ("one\r\ntwo\r\n", "one\ntwo\n", "two\n", "two\r\n"),
        ("one\ntwo\n", "one\r\ntwo\r\n", "two\r\n", "two\n"),
        ("one\r\ntwo\n", "one\ntwo\n", "two\n", None),
        ("a\nb", "a\nb", "a\nb\n", "a\nb\n"),
        ("a\nb\n", "a\nb", "a\nb\n", None),
        ("a\nb\n", "a\nb\n", "a\nb", "a\nb"),
        ("a\nb", "a\nb\n", "a\nb", None),
        ("a\nb\n", "a\nb", "a\nc", None),
        ("a\nb", "a\nb", "a\nc", "a\nc"),
    ],
)
def test_a_change_is_applied_with_its_line_ends(
    text: str, before: str, after: str, result: str | None
) -> None:
    assert applied_change(text, before, after) == result


def test_a_hunk_is_found_where_its_lines_have_moved() -> None:
    without = TWELVE.replace("line 9\n", "")
    assert applied_change("new\n" * 3 + TWELVE, TWELVE, without) == "new\n" * 3 + without


def test_four_lines_around_a_change_must_be_as_they_were() -> None:
    without = TWELVE.replace("line 6\n", "")
    near, far = (TWELVE.replace(f"line {number}\n", "mine\n") for number in (2, 1))
    assert applied_change(near, TWELVE, without) is None
    assert applied_change(far, TWELVE, without) == without.replace("line 1\n", "mine\n")


def test_one_hunk_that_does_not_fit_refuses_the_whole_change() -> None:
    after = TWELVE.replace("line 2\n", "").replace("line 12\n", "x\n")
    text = TWELVE.replace("line 10\n", "line 10\nmine\n")
    assert applied_change(text, TWELVE, after) is None


def test_the_search_ends_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x\n" * 50 + "a\n"
    assert applied_change(text, "a\n", "b\n") == "x\n" * 50 + "b\n"
    monkeypatch.setattr(services.patching, "MOST_COMPARISONS", 10)
    assert applied_change(text, "a\n", "b\n") is None
