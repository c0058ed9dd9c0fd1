"""Words in lines, as Vim's keys find them.

Source: `packages/cli` `ui/components/shared/text-buffer.ts`. A word is a run of letters and digits
of one script, `_` included, or a run of other marks; a big word ends at a blank.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import Final

__all__ = ["Place", "next_end", "next_start", "previous_start"]

Place = tuple[int, int]
"""A row and a column."""

_SCRIPTS: Final = frozenset({"LATIN", "CJK", "ARABIC", "HIRAGANA", "KATAKANA", "CYRILLIC"})
_BLANK: Final = ""
_MARK: Final = "mark"


def _class(letter: str, *, big: bool) -> str:
    """What letters of one word have in common; empty for a blank."""
    if letter.isspace():
        return _BLANK
    if big:
        return _MARK
    if letter == "_" or unicodedata.category(letter)[0] in "LN":
        script = unicodedata.name(letter, "").split(" ")[0]
        return script if script in _SCRIPTS else "other"
    return _MARK


def _runs(line: str, *, big: bool) -> list[tuple[int, int]]:
    """The begin and the end of each word of a line."""
    runs: list[tuple[int, int]] = []
    last = _BLANK
    for column, letter in enumerate(line):
        combining = unicodedata.category(letter)[0] == "M" and last != _BLANK
        kind = last if combining else _class(letter, big=big)
        if kind != _BLANK:
            if kind == last:
                runs[-1] = (runs[-1][0], column + 1)
            else:
                runs.append((column, column + 1))
        last = kind
    return runs


def next_start(lines: Sequence[str], place: Place, *, big: bool) -> Place | None:
    """Where the next word begins, maybe in a later line; `None`: there is none."""
    return _forward(lines, place, lambda run, column: run[0] > column, 0, big=big)


def next_end(lines: Sequence[str], place: Place, *, big: bool) -> Place | None:
    """The last letter of the word, or of the next one from its last letter."""
    return _forward(lines, place, lambda run, column: run[1] - 1 > column, 1, big=big)


def previous_start(lines: Sequence[str], place: Place, *, big: bool) -> Place | None:
    """Where the word begins, or the one before it from its first letter."""
    row, column = place
    while row >= 0:
        starts = [run[0] for run in _runs(lines[row], big=big) if run[0] < column]
        if starts:
            return row, starts[-1]
        row -= 1
        column = len(lines[row]) if row >= 0 else 0
    return None


def _forward(
    lines: Sequence[str],
    place: Place,
    wanted: Callable[[tuple[int, int], int], bool],
    side: int,
    *,
    big: bool,
) -> Place | None:
    """The first or the last letter of the first wanted word; else the first empty line."""
    row, column = place
    for each in range(row, len(lines)):
        for run in _runs(lines[each], big=big):
            if wanted(run, column if each == row else -1):
                return each, run[side] - side
    empty = (each for each in range(row + 1, len(lines)) if not lines[each])
    found = next(empty, None)
    return None if found is None else (found, 0)
