"""Shortens a path to at most 35 characters for the user.

Source: core `utils/paths.ts`, `shortenPath`.
"""

from __future__ import annotations

from typing import Final, Literal

__all__ = ["shorten_path"]

_LIMIT: Final = 35
_Mode = Literal["start", "center", "end"]


def shorten_path(path: str, limit: int = _LIMIT) -> str:
    """Keep the first folder and as many of the last names as fit, with `...` between them.

    If possible the last name is kept whole; a path of one name is cut in its middle.
    """
    if len(path) <= limit:
        return path
    root = "/" if path.startswith("/") else ""
    segments = [segment for segment in path[len(root) :].split("/") if segment]
    if len(segments) <= 1:
        return _middle_cut(path, limit)
    first, last = segments[0], segments[-1]
    ending = _ending(root + first, segments, limit)
    parts = [first, *ending]
    budget = limit - (len(root) + len(ending) + 1 + 3)
    smallest = [min(len(part), 1) for part in parts[:-1]] + [len(last)]
    if budget <= 0 or budget < sum(smallest):
        return _tail(path, root, last, limit)
    lengths = [len(part) for part in parts]
    while sum(lengths) > budget:
        index = _longest(lengths, smallest)
        if index is None:
            return _tail(path, root, last, limit)
        lengths[index] -= 1
    middle: list[_Mode] = ["center"] * (len(parts) - 2)
    modes: list[_Mode] = ["start", *middle, "end"]
    cut = [
        _cut(part, length, mode) for part, length, mode in zip(parts, lengths, modes, strict=True)
    ]
    shortened = f"{root}{cut[0]}/.../{'/'.join(cut[1:])}"
    return shortened if len(shortened) <= limit else _tail(path, root, last, limit)


def _ending(start: str, segments: list[str], limit: int) -> list[str]:
    ending = [segments[-1]]
    length = len(segments[-1])
    for segment in reversed(segments[1:-1]):
        if len(start) + 1 + 3 + 1 + length + 1 + len(segment) > limit:
            break
        ending.insert(0, segment)
        length += 1 + len(segment)
    return ending


def _longest(lengths: list[int], smallest: list[int]) -> int | None:
    best: int | None = None
    for index, length in enumerate(lengths):
        if length <= smallest[index] or index == len(lengths) - 1:
            continue
        if best is None or length > lengths[best]:
            best = index
    return best


def _tail(path: str, root: str, last: str, limit: int) -> str:
    for candidate in (f".../{last}", f"{root}.../{last}", f"{root}{last}", last):
        if len(candidate) <= limit:
            return candidate
    return _middle_cut(path, limit)


def _middle_cut(path: str, limit: int) -> str:
    keep = (limit - 3) // 2
    return f"{path[:keep]}...{path[len(path) - keep :]}"


def _cut(part: str, length: int, mode: _Mode) -> str:
    if len(part) <= length:
        return part
    if length <= 3:
        return part[-length:] if mode == "end" else part[:length]
    if mode == "start":
        return f"{part[: length - 3]}..."
    if mode == "end":
        return f"...{part[len(part) - (length - 3) :]}"
    back = (length - 3) // 2
    front = length - 3 - back
    return f"{part[:front]}...{part[len(part) - back :]}"
