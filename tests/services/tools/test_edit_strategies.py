from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.edit_distance import edit_distance
from services.tools.edit_strategies import Replacement, replace_text


def replaced(text: str, old: str, new: str, *, multiple: bool = False) -> Replacement:
    return replace_text(text, old, new, allow_multiple=multiple)


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        ("a b", "a", "x", "x b"),
        ("one\ntwo", "two", "2\n", "one\n2"),
        ("one\ntwo\n", "two\n", "2", "one\n2\n"),
    ],
)
def test_exact_matches_keep_the_final_newline_as_it_was(text, old, new, after):
    assert replaced(text, old, new).text == after


def test_several_exact_matches_are_counted_and_left_alone():
    assert replaced("a a", "a", "b") == Replacement(text="a a", occurrences=2, strategy="exact")
    assert replaced("a a", "a", "b", multiple=True) == Replacement(
        text="b b", occurrences=2, strategy="exact"
    )


def test_trimmed_lines_match_and_the_new_lines_take_the_old_indentation():
    text = "def f():\n    if x:\n        go()\n"
    found = replaced(text, "if x:\ngo()", "if y:\n    stop()\n\n    end()")
    assert found.text == "def f():\n    if y:\n        stop()\n\n        end()\n"


def test_tokens_match_across_white_space():
    found = replaced("  call( a,b )\nrest\n", "call(a,b)", "call(c)")
    assert found == Replacement(text="  call(c)\nrest\n", occurrences=1, strategy="regex")


def test_one_of_several_token_matches_is_replaced_unless_all_are_wanted():
    text = "f( x )\nf( x )\n"
    assert replaced(text, "f(x)", "g").text == "g\nf( x )\n"
    assert replaced(text, "f(x)", "g").occurrences == 2
    assert replaced(text, "f(x)", "g", multiple=True).text == "g\ng\n"


def test_similar_lines_match_up_to_a_tenth():
    text = "first line here\nthe quick brown fox\nlast line here\n"
    found = replaced(text, "the quik brown fox", "THE FOX")
    assert found == Replacement(
        text="first line here\nTHE FOX\nlast line here\n",
        occurrences=1,
        ranges=((2, 2),),
        strategy="fuzzy",
    )
    assert replaced(text, "the quikc brwon fxo", "x").occurrences == 0


def test_short_texts_are_never_matched_approximately():
    assert replaced("abcdefghi\n", "abcdefghx", "y").occurrences == 0


def test_the_most_similar_places_are_replaced_without_overlaps():
    text = "alpha beta gamma\nalpha beta gamma\nalpha beta gamma\n"
    found = replaced(text, "alpha beta gamm\nalpha beta gamm", "x")
    assert found.ranges == ((1, 2),)
    assert found.text == "x\nalpha beta gamma\n"


def test_an_empty_search_text_has_no_occurrences():
    assert replaced("a", "", "b") == Replacement(text="a", occurrences=0)


def slow_distance(left: str, right: str) -> int:
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_distance_equals_the_textbooks(left, right):
    assert edit_distance(left, right) == slow_distance(left, right)
