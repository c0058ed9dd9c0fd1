"""Shortens a relative path to at most 35 characters for the user.

Source: core `utils/paths.ts`, `shortenPath`.
"""

from __future__ import annotations

from typing import Final

__all__ = ["shorten_path"]

_LIMIT: Final = 35
_GAP: Final = "/.../"
_DOTS: Final = "..."


def shorten_path(path: str) -> str:
    """Keep the first folder and as many of the last names as fit, with `...` between them.

    If possible the last name is kept whole; a path of one name is cut in its middle.
    """
    if len(path) <= _LIMIT:
        return path
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) == 1:
        return _middle_cut(path)
    first, last = segments[0], segments[-1]
    ending = last
    for segment in reversed(segments[1:-1]):
        longer = f"{segment}/{ending}"
        if len(first + _GAP + longer) > _LIMIT:
            break
        ending = longer
    room = _LIMIT - len(_GAP + ending)
    return _tail(path, last) if room <= 0 else _cut(first, room) + _GAP + ending


def _tail(path: str, last: str) -> str:
    for candidate in (f"{_DOTS}/{last}", last):
        if len(candidate) <= _LIMIT:
            return candidate
    return _middle_cut(path)


def _middle_cut(path: str) -> str:
    keep = (_LIMIT - len(_DOTS)) // 2
    return path[:keep] + _DOTS + path[-keep:]


def _cut(first: str, room: int) -> str:
    if len(first) <= room:
        return first
    dots = _DOTS if room > len(_DOTS) else ""
    return first[: room - len(dots)] + dots
