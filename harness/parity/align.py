"""Aligns two sequences: which item of one side belongs to which of the other.

Equal items are anchors, found by patience diff: first those unique on both sides, then those
between them. The items between two anchors are paired by label, in order. So a changed item keeps
its partner, an inserted or dropped item stands alone, and no later item shifts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

__all__ = ["Pair", "align"]

Pair = tuple[int | None, int | None]
"""An index on each side; `None` where a side has no such item."""

_SMALL = 400 * 400
"""Cells up to which a stretch without unique anchors is matched exactly, else by position."""


def align(
    left: Sequence[Hashable],
    right: Sequence[Hashable],
    left_labels: Sequence[str],
    right_labels: Sequence[str],
) -> list[Pair]:
    """Pair up two sequences of digests. Both columns of the result ascend.

    Takes linear time where the sequences differ in few places.
    """
    pairs: list[Pair] = []
    here = there = 0
    for a, b in [*_anchors(left, right), (len(left), len(right))]:
        pairs.extend(_by_label(left_labels, right_labels, (here, a), (there, b)))
        if a < len(left) and b < len(right):
            pairs.append((a, b))
        here, there = a + 1, b + 1
    return pairs


def _anchors(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs of equal items, ascending on both sides."""
    found: list[tuple[int, int]] = []
    stretches = [(0, len(left), 0, len(right))]
    while stretches:
        a, a_end, b, b_end = stretches.pop()
        while a < a_end and b < b_end and left[a] == right[b]:
            found.append((a, b))
            a, b = a + 1, b + 1
        while a < a_end and b < b_end and left[a_end - 1] == right[b_end - 1]:
            a_end, b_end = a_end - 1, b_end - 1
            found.append((a_end, b_end))
        if a == a_end or b == b_end:
            continue
        unique = _unique_anchors(left[a:a_end], right[b:b_end])
        if not unique:
            found.extend((a + i, b + j) for i, j in _common(left[a:a_end], right[b:b_end]))
            continue
        for i, j in unique:
            found.append((a + i, b + j))
        edges = [(-1, -1), *unique, (a_end - a, b_end - b)]
        stretches.extend(
            (a + i + 1, a + next_i, b + j + 1, b + next_j)
            for (i, j), (next_i, next_j) in pairwise(edges)
        )
    return sorted(found)


def _unique_anchors(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """The longest ascending run of items that occur exactly once on each side."""
    here, there = Counter(left), Counter(right)
    at = {item: index for index, item in enumerate(right) if there[item] == 1}
    matches = [(i, at[x]) for i, x in enumerate(left) if here[x] == 1 and x in at]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(matches):
        place = bisect_left(tails, j)
        before.append(ends[place - 1] if place else -1)
        tails[place : place + 1] = [j]
        ends[place : place + 1] = [number]
    chosen: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        chosen.append(matches[number])
        number = before[number]
    return chosen[::-1]


def _common(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    if len(left) * len(right) > _SMALL:
        return [(k, k) for k, (x, y) in enumerate(zip(left, right, strict=False)) if x == y]
    blocks = SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    return [(block.a + k, block.b + k) for block in blocks for k in range(block.size)]


def _by_label(
    left: Sequence[str], right: Sequence[str], here: tuple[int, int], there: tuple[int, int]
) -> list[Pair]:
    """Pair the items between two anchors; `here` and `there` are the bounds on each side."""
    a, a_end = here
    b, b_end = there
    pairs: list[Pair] = []
    for i, j in [*_common(left[a:a_end], right[b:b_end]), (a_end - here[0], b_end - there[0])]:
        pairs.extend((index, None) for index in range(a, here[0] + i))
        pairs.extend((None, index) for index in range(b, there[0] + j))
        if here[0] + i < a_end and there[0] + j < b_end:
            pairs.append((here[0] + i, there[0] + j))
        a, b = here[0] + i + 1, there[0] + j + 1
    return pairs
