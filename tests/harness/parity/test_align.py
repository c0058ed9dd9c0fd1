from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.parity.align import Pair, align


def pairs(left: str, right: str) -> list[Pair]:
    """Align words; a word's first letter is its label."""
    a, b = left.split(), right.split()
    return align(a, b, [word[0] for word in a], [word[0] for word in b])


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("a b c", "a b c", [(0, 0), (1, 1), (2, 2)]),
        ("m1 u1 e", "m1 e", [(0, 0), (1, None), (2, 1)]),
        ("m1 m2 u", "m1 m2 m12 u", [(0, 0), (1, 1), (None, 2), (2, 3)]),
        ("m1 m2 u", "m1 m9 u", [(0, 0), (1, 1), (2, 2)]),
        ("m1 x u", "m1 y u", [(0, 0), (1, None), (None, 1), (2, 2)]),
        ("", "a", [(None, 0)]),
        ("a", "", [(0, None)]),
        ("", "", []),
        ("a b a b", "b a b a", [(None, 0), (0, 1), (1, 2), (2, 3), (3, None)]),
    ],
)
def test_pairs(left: str, right: str, expected: list[Pair]) -> None:
    assert pairs(left, right) == expected


WORDS = st.lists(st.sampled_from(["a1", "a2", "b1", "b2", "c1", "c2", "c3"]), max_size=12)


@given(WORDS, WORDS)
def test_every_item_is_placed_once_in_order_and_partners_have_one_label(
    left: list[str], right: list[str]
) -> None:
    found = align(left, right, [x[0] for x in left], [x[0] for x in right])

    assert [a for a, _ in found if a is not None] == list(range(len(left)))
    assert [b for _, b in found if b is not None] == list(range(len(right)))
    assert all(left[a][0] == right[b][0] for a, b in found if a is not None and b is not None)


@given(WORDS, WORDS)
def test_one_edit_leaves_every_other_item_with_its_partner(
    left: list[str], right: list[str]
) -> None:
    numbered = [f"{word}-{number}" for number, word in enumerate(left)]
    edited = [*numbered[:3], "z9", *numbered[3:]]
    found = align(numbered, edited, [x[0] for x in numbered], [x[0] for x in edited])

    assert sum(a is not None and b is not None for a, b in found) == len(numbered)


def test_long_sequences_without_anchors_are_paired_by_position() -> None:
    left, right = ["a"] * 900, ["b"] * 901
    found = align(left, right, ["x"] * 900, ["x"] * 901)

    assert found[:900] == [(n, n) for n in range(900)]
    assert found[900] == (None, 900)


def test_a_long_sequence_with_one_gap_finds_it() -> None:
    left = [f"m{n}" for n in range(5000)]
    right = left[:2500] + left[2501:]
    found = align(left, right, ["m"] * 5000, ["m"] * 4999)

    assert [pair for pair in found if None in pair] == [(2500, None)]
    assert SequenceMatcher(None, left[2490:2510], right[2490:2509]).ratio() < 1
