"""Spans of time in words."""

import pytest

from surfaces.commands.durations import age

MINUTE = 60_000


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (-5, "just now"),
        (59_999, "just now"),
        (MINUTE, "1m ago"),
        (60 * MINUTE - 1, "59m ago"),
        (60 * MINUTE, "1h ago"),
        (24 * 60 * MINUTE, "1d ago"),
    ],
)
def test_an_age_has_one_unit(milliseconds: int, words: str) -> None:
    assert age(milliseconds) == words
