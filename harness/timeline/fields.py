"""What is kept of two items that differ: their fields, each text short enough to be shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from services.wire import Content, Json, JsonObject

__all__ = ["CUT", "bounded_fields", "request_fields"]

CUT: Final = "…"
"""Stands for what was left out: an item of a list, or the rest of a text."""

_LEAD: Final = 60
_ITEMS: Final = 200
"""Items of a list that are kept; of a longer one the first."""
_CONTENT = re.compile(r"contents\[(\d+)\]")


def bounded_fields(control: Json, candidate: Json, room: int) -> tuple[Json, Json]:
    """Both values with every text cut to `room` characters around its first difference.

    Paths into the values stay valid as far as they lead to what is kept.
    """
    if isinstance(control, str) and isinstance(candidate, str):
        start = 0
        if control != candidate and max(len(control), len(candidate)) > room:
            start = max(0, _common(control, candidate) - _LEAD)
        return _cut(control, start, room), _cut(candidate, start, room)
    if isinstance(control, dict) and isinstance(candidate, dict):
        both: list[JsonObject] = [{}, {}]
        for key in {**control, **candidate}:
            for side, value in enumerate(
                bounded_fields(control.get(key), candidate.get(key), room)
            ):
                if key in (control, candidate)[side]:
                    both[side][key] = value
        return both[0], both[1]
    if isinstance(control, list) and isinstance(candidate, list):
        lists: list[list[Json]] = [[], []]
        for number in range(min(_ITEMS, max(len(control), len(candidate)))):
            here = control[number] if number < len(control) else None
            there = candidate[number] if number < len(candidate) else None
            for side, value in enumerate(bounded_fields(here, there, room)):
                if number < len((control, candidate)[side]):
                    lists[side].append(value)
        for side, whole in enumerate((control, candidate)):
            if len(whole) > _ITEMS:
                lists[side].append(CUT)
        return lists[0], lists[1]
    return _alone(control, room), _alone(candidate, room)


def _alone(value: Json, room: int) -> Json:
    if isinstance(value, str):
        return _cut(value, 0, room)
    if isinstance(value, dict):
        return {key: _alone(item, room) for key, item in value.items()}
    if isinstance(value, list):
        kept = [_alone(item, room) for item in value[:_ITEMS]]
        return [*kept, CUT] if len(value) > _ITEMS else kept
    return value


def _cut(text: str, start: int, room: int) -> str:
    if len(text) <= room:
        return text
    shown = text[start : start + room]
    before = CUT if start else ""
    after = f"{CUT} ({len(text)} characters)" if start + room < len(text) else ""
    return f"{before}{shown}{after}"


def _common(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def request_fields(
    value: JsonObject, contents: Sequence[Content] | None, count: int, paths: Sequence[str]
) -> Json:
    """A request as it is compared, its contents from the first that one of `paths` names.

    Those before stand as `…`: they are alike. `contents` is `None` where no path leads into them;
    then their number is all that is said of them.
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
