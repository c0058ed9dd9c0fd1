"""How far texts are from each other, and the names nearest to an unknown one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from services.wire import js_units

__all__ = ["edit_distance", "nearest_names"]

_SUGGESTIONS: Final = 3
_LONGEST_COMPARED: Final = 1000
"""The most characters of an unknown name that are compared with the known ones."""


def nearest_names(unknown: str, names: Iterable[str]) -> str:
    """The three nearest names as a sentence with a leading space; empty without any name."""
    compared = js_units(unknown[:_LONGEST_COMPARED])
    ranked = sorted(names, key=lambda name: edit_distance(compared, js_units(name)))[:_SUGGESTIONS]
    if not ranked:
        return ""
    start = " Did you mean one of: " if len(ranked) > 1 else " Did you mean "
    return start + ", ".join(f'"{name}"' for name in ranked) + "?"


def edit_distance(left: str, right: str) -> int:
    """Levenshtein's distance in characters.

    A column of the table at a time is one integer. Source: Myers 1999.
    """
    if not left:
        return len(right)
    mask = (1 << len(left)) - 1
    top = 1 << (len(left) - 1)
    positions: dict[str, int] = {}
    for index, character in enumerate(left):
        positions[character] = positions.get(character, 0) | (1 << index)
    up, down, distance = mask, 0, len(left)
    for character in right:
        equal = positions.get(character, 0)
        vertical = equal | down
        horizontal = (((equal & up) + up) ^ up) | equal
        grow = (down | ~(horizontal | up)) & mask
        shrink = up & horizontal
        if grow & top:
            distance += 1
        if shrink & top:
            distance -= 1
        grow = (grow << 1) | 1
        up = ((shrink << 1) | ~(vertical | grow)) & mask
        down = grow & vertical & mask
    return distance
