r"""Applies a change between two texts to a third one, as upstream's diff library applies a patch.

Every line that a hunk removes or keeps must be there. A hunk may fit elsewhere: the search starts
where the hunk before it fitted, and goes forwards and backwards, line by line.

Source: jsdiff 8, `src/patch/apply.ts` (`applyPatch` with a fuzz factor of 0) and
`src/patch/line-endings.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from services.patches import Hunk, hunks

__all__ = ["MOST_COMPARISONS", "applied_change"]

MOST_COMPARISONS: Final = 5_000_000
"""The most comparisons of lines for one change. Beyond them the change does not fit."""
_CONTEXT: Final = 4
_UNIX_END: Final = re.compile(r"(?:^|[^\r])\n")


def applied_change(text: str, before: str, after: str) -> str | None:
    """Return `text` with the change from `before` to `after`; `None` if the change does not fit."""
    change = _with_line_ends(hunks(before, after, _CONTEXT), text)
    if not change:
        return text
    lines = _with_last_line_end(text.split("\n"), change[-1])
    return None if lines is None else _Application(lines).result(change)


@dataclass(frozen=True, slots=True)
class _Fit:
    """The lines that a hunk puts in place of `lines[place:end]`."""

    place: int
    end: int
    lines: list[str]


class _Application:
    """One application of hunks to lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._comparisons = 0

    def result(self, change: Sequence[Hunk]) -> str | None:
        found: list[str] = []
        end = offset = 0
        for hunk in change:
            fit = self._fit(hunk, hunk.old_start + offset - 1, end)
            if fit is None:
                return None
            found += [*self._lines[end : fit.place], *fit.lines]
            end, offset = fit.end, fit.place + 1 - hunk.old_start
        return "\n".join([*found, *self._lines[end:]])

    def _fit(self, hunk: Hunk, start: int, lowest: int) -> _Fit | None:
        for place in _places(start, lowest, len(self._lines) - hunk.old_lines):
            fit = self._fit_at(hunk, place)
            if fit is not None:
                return fit
            if self._comparisons > MOST_COMPARISONS:
                break
        return None

    def _fit_at(self, hunk: Hunk, place: int) -> _Fit | None:
        at, kept, lines = place, 0, list[str]()
        for line in hunk.lines:
            mark, content = line[:1], line[1:]
            if mark == "+":
                lines.append(content)
                kept = 0
            elif mark in "- ":
                self._comparisons += 1
                if not 0 <= at < len(self._lines) or self._lines[at] != content:
                    return None
                at += 1
                kept = kept + 1 if mark == " " else 0
                lines += [content] if mark == " " else []
        # The next hunk may begin in the context behind this one.
        return _Fit(place, at - kept, lines[: len(lines) - kept])


def _places(start: int, lowest: int, highest: int) -> Iterator[int]:
    """Yield `start`, then the places around it by their distance, first forwards."""
    yield start
    for distance in range(1, max(highest - start, start - lowest) + 1):
        if start + distance <= highest:
            yield start + distance
        if start - distance >= lowest:
            yield start - distance


def _with_last_line_end(lines: list[str], last: Hunk) -> list[str] | None:
    """Add or remove the last line end as the last hunk does; `None` if it cannot be done."""
    marks = [line[:1] for line in last.lines]
    unended = {before for before, mark in pairwise(marks) if mark == "\\"}
    ends = lines[-1] == ""
    if "+" in unended and "-" in unended:
        return None if ends else lines
    if "+" in unended:
        return lines[:-1] if ends else None
    if "-" in unended:
        return None if ends else [*lines, ""]
    return lines


def _with_line_ends(change: list[Hunk], text: str) -> list[Hunk]:
    """Give the hunks the line ends of `text`, where each has one kind of them only."""
    ended = [
        line.endswith("\r")
        for hunk in change
        for line, unended in _with_next(hunk.lines)
        if not line.startswith("\\") and (line.endswith("\r") or not unended)
    ]
    windows, unix = "\r\n" in text, bool(_UNIX_END.search(text))
    if windows and not unix and not any(ended):
        return [replace(hunk, lines=tuple(_to_windows(hunk.lines))) for hunk in change]
    if unix and not windows and ended and all(ended):
        return [
            replace(hunk, lines=tuple(line.removesuffix("\r") for line in hunk.lines))
            for hunk in change
        ]
    return change


def _to_windows(lines: Sequence[str]) -> Iterator[str]:
    for line, unended in _with_next(lines):
        keeps = line.startswith("\\") or line.endswith("\r") or unended
        yield line if keeps else f"{line}\r"


def _with_next(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether the line after it says that it has no end."""
    for line, after in zip(lines, (*lines[1:], ""), strict=True):
        yield line, after.startswith("\\")
