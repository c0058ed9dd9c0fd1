"""Cuts the fields of two items that differ to what a timeline can keep."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice, zip_longest
from typing import Final

from services.wire import Content, Json, JsonObject

__all__ = ["CUT", "bounded_fields", "first_difference", "request_fields"]

CUT: Final = "…"
"""Stands for items of a list, or the rest of a text, that were left out."""

_LEAD: Final = 60
_ITEMS: Final = 200
"""How many leading items of a list are kept."""
_CONTENT = re.compile(r"contents\[(\d+)\]")


def bounded_fields(control: Json, candidate: Json, room: int) -> tuple[Json, Json]:
    """Both values with every text cut to `room` characters around its first difference.

    Paths into the values stay valid as far as they lead to what is kept.
    """
    if isinstance(control, str) and isinstance(candidate, str):
        start = 0
        if control != candidate and max(len(control), len(candidate)) > room:
            start = max(0, first_difference(control, candidate) - _LEAD)
        return _cut(control, start, room), _cut(candidate, start, room)
    if isinstance(control, dict) and isinstance(candidate, dict):
        return _bounded_objects(control, candidate, room)
    if isinstance(control, list) and isinstance(candidate, list):
        pairs = islice(zip_longest(control, candidate), _ITEMS)
        kept = [bounded_fields(here, there, room) for here, there in pairs]
        here, there = (
            [pair[side] for pair in kept[: len(whole)]] + [CUT] * (len(whole) > _ITEMS)
            for side, whole in enumerate((control, candidate))
        )
        return here, there
    return _alone(control, room), _alone(candidate, room)


def _bounded_objects(
    control: JsonObject, candidate: JsonObject, room: int
) -> tuple[JsonObject, JsonObject]:
    both = {
        key: bounded_fields(control.get(key), candidate.get(key), room)
        for key in {**control, **candidate}
    }
    here = {key: pair[0] for key, pair in both.items() if key in control}
    return here, {key: pair[1] for key, pair in both.items() if key in candidate}


def _alone(value: Json, room: int) -> Json:
    return bounded_fields(value, value, room)[0] if isinstance(value, (str, dict, list)) else value


def _cut(text: str, start: int, room: int) -> str:
    if len(text) <= room:
        return text
    shown = text[start : start + room]
    before = CUT if start else ""
    after = f"{CUT} ({len(text)} characters)" if start + room < len(text) else ""
    return f"{before}{shown}{after}"


def first_difference(one: str, other: str) -> int:
    """The index of the first differing character; the shorter text's length if it is a prefix."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def request_fields(
    value: JsonObject, contents: Sequence[Content] | None, count: int, paths: Sequence[str]
) -> Json:
    """A compared request, its contents from the first that one of `paths` names.

    `…` stands for each equal content before it. Where `contents` is `None`, or no path leads into
    them, the request keeps only their `count`.
    """
    fields = {key: item for key, item in value.items() if key not in _CONTINUED}
    named = [int(found[1]) for path in paths if (found := _CONTENT.match(path))]
    if contents is None or not named:
        fields["contentsCount"] = count
        return fields
    first = min(named)
    kept: list[Json] = [CUT] * min(first, count)
    kept.extend(contents[first : first + _FOLLOWING])
    if count > first + _FOLLOWING:
        kept.append(CUT)
    fields["contents"] = kept
    return fields


_FOLLOWING: Final = 3
_CONTINUED: Final = ("sameAsPrevious", "newContents")
