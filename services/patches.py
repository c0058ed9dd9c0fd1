"""Line differences and unified patches, line for line those of upstream's diff library.

The choice between several shortest edit scripts shows in a patch and in the line counts. So this is
Myers's algorithm with that library's choice: among equal furthest points it removes before it adds.
(Python's `difflib` chooses differently.)

Source: jsdiff 8, `src/diff/base.ts` (`diffLines`) and `src/patch/create.ts` (`createPatch`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

__all__ = ["Change", "ChangeKind", "Hunk", "hunks", "line_changes", "unified_patch"]

MOST_STEPS: Final = 3_000_000
"""The most steps of the search for the shortest edit. Beyond them all lines after the common start
are removed and added."""
_NO_NEWLINE: Final = "\\ No newline at end of file"


class ChangeKind(StrEnum):
    """The change of a run of lines."""

    KEPT = "same"
    REMOVED = "removed"
    ADDED = "added"


_MARKS: Final = {ChangeKind.KEPT: " ", ChangeKind.REMOVED: "-", ChangeKind.ADDED: "+"}


@dataclass(frozen=True, slots=True)
class Change:
    """A run of lines with one kind of change. Each has its line feed, if the text has it."""

    kind: ChangeKind
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hunk:
    r"""One `@@` block. Starts count from 1; `lines` begin with a space, `+`, `-` or `\\`."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]


class _Run(NamedTuple):
    """The end of a linked list of runs: an edit script, read backwards."""

    length: int
    kind: ChangeKind
    before: _Run | None


def _lines(text: str) -> list[str]:
    r"""The lines of `text`, each with its `\n` where it has one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def line_changes(before: str, after: str) -> list[Change]:
    """The shortest edit from `before` to `after`, by lines; adjacent runs differ in kind."""
    return list(_changes(before, after))


@lru_cache(maxsize=8)
def _changes(old: str, new: str) -> tuple[Change, ...]:
    before, after = _lines(old), _lines(new)
    numbers: dict[str, int] = {}
    return _as_changes(
        _shortest_edit(
            [numbers.setdefault(line, len(numbers)) for line in before],
            [numbers.setdefault(line, len(numbers)) for line in after],
        ),
        before,
        after,
    )


def _shortest_edit(old: list[int], new: list[int]) -> _Run | None:
    start = _common_start(old, new)
    last = _Run(start, ChangeKind.KEPT, None) if start else None
    if not set(old[start:]) & set(new[start:]):
        return _replace_all(len(old) - start, len(new) - start, last)
    return _search(old, new, start - 1, last)


def _common_start(old: list[int], new: list[int]) -> int:
    shorter = min(len(old), len(new))
    return next((place for place in range(shorter) if old[place] != new[place]), shorter)


def _replace_all(removed: int, added: int, last: _Run | None) -> _Run | None:
    """The edit when no line is left in common; the search would find the same, in N x M steps."""
    if removed:
        last = _Run(removed, ChangeKind.REMOVED, last)
    return _Run(added, ChangeKind.ADDED, last) if added else last


def _search(old: list[int], new: list[int], place: int, last: _Run | None) -> _Run | None:
    """Myers's greedy search, diagonal by diagonal, from `place` (the last common line).

    `best` holds, per diagonal, the furthest line of `old` reached and the script that led there.
    Diagonals beyond an edge of the grid that was reached are not looked at again.
    """
    old_end, new_end = len(old) - 1, len(new) - 1
    best: dict[int, tuple[int, _Run | None]] = {0: (place, last)}
    low, high = -len(old) - len(new), len(old) + len(new)
    steps = 0
    first, common = place, last
    for length in range(1, len(old) + len(new) + 1):
        diagonals = range(max(low, -length), min(high, length) + 1, 2)
        steps += len(diagonals)
        if steps > MOST_STEPS:
            return _replace_all(old_end - first, new_end - first, common)
        for diagonal in diagonals:
            reached = _step(best, diagonal, old_end, new_end)
            if reached is None:
                best.pop(diagonal, None)
                continue
            place, last = reached
            start = place
            while (
                place < old_end
                and place - diagonal < new_end
                and old[place + 1] == new[place + 1 - diagonal]
            ):
                place += 1
            if place > start:
                last = _Run(place - start, ChangeKind.KEPT, last)
            at_old_end, at_new_end = place >= old_end, place - diagonal >= new_end
            if at_old_end and at_new_end:
                return last
            best[diagonal] = (place, last)
            if at_old_end:
                high = min(high, diagonal - 1)
            if at_new_end:
                low = max(low, diagonal + 1)
    raise AssertionError("an edit as long as both texts always exists")


def _step(
    best: dict[int, tuple[int, _Run | None]], diagonal: int, old_end: int, new_end: int
) -> tuple[int, _Run | None] | None:
    """The furthest place on `diagonal` by one more line; `None` where both edges are reached."""
    removing = best.pop(diagonal - 1, None)
    adding = best.get(diagonal + 1)
    if adding is not None and not 0 <= adding[0] - diagonal <= new_end:
        adding = None
    if removing is not None and removing[0] >= old_end:
        removing = None
    if adding is not None and (removing is None or removing[0] < adding[0]):
        return adding[0], _longer(adding[1], ChangeKind.ADDED)
    if removing is not None:
        return removing[0] + 1, _longer(removing[1], ChangeKind.REMOVED)
    return None


def _longer(last: _Run | None, kind: ChangeKind) -> _Run:
    if last is not None and last.kind is kind:
        return _Run(last.length + 1, kind, last.before)
    return _Run(1, kind, last)


def _as_changes(last: _Run | None, old: list[str], new: list[str]) -> tuple[Change, ...]:
    runs: list[_Run] = []
    while last is not None:
        runs.append(last)
        last = last.before
    changes: list[Change] = []
    old_place = new_place = 0
    for run in reversed(runs):
        if run.kind is ChangeKind.REMOVED:
            lines = old[old_place : old_place + run.length]
        else:
            lines = new[new_place : new_place + run.length]
            new_place += run.length
        if run.kind is not ChangeKind.ADDED:
            old_place += run.length
        changes.append(Change(run.kind, tuple(lines)))
    return tuple(changes)


def hunks(old: str, new: str, context: int) -> list[Hunk]:
    """The hunks of the edit from `old` to `new`, with `context` unchanged lines around each."""
    found: list[Hunk] = []
    changes = [*_changes(old, new), Change(ChangeKind.KEPT, ())]
    body: list[str] = []
    old_start = new_start = 0
    old_line = new_line = 1
    previous: tuple[str, ...] = ()
    for index, change in enumerate(changes):
        count = len(change.lines)
        if change.kind is not ChangeKind.KEPT:
            if not old_start:
                body = [f" {line}" for line in previous[-context:]] if context > 0 else []
                old_start, new_start = old_line - len(body), new_line - len(body)
            body.extend(_MARKS[change.kind] + line for line in change.lines)
            old_line += 0 if change.kind is ChangeKind.ADDED else count
            new_line += count if change.kind is ChangeKind.ADDED else 0
        else:
            if old_start and count <= context * 2 and index < len(changes) - 2:
                body.extend(f" {line}" for line in change.lines)
            elif old_start:
                shown = min(count, context)
                body.extend(f" {line}" for line in change.lines[:shown])
                found.append(
                    Hunk(
                        old_start,
                        old_line - old_start + shown,
                        new_start,
                        new_line - new_start + shown,
                        tuple(_finished(body)),
                    )
                )
                old_start = new_start = 0
                body = []
            old_line += count
            new_line += count
        previous = change.lines
    return found


def _finished(body: list[str]) -> list[str]:
    lines: list[str] = []
    for line in body:
        if line.endswith("\n"):
            lines.append(line[:-1])
        else:
            lines.extend((line, _NO_NEWLINE))
    return lines


def unified_patch(
    path: str,
    before: str,
    after: str,
    *,
    before_label: str,
    after_label: str,
    context: int = 3,
) -> str:
    """A patch of one file with `context` lines around each change.

    Four header lines stand even where nothing differs; hunk headers always carry counts.
    """
    lines = [
        f"Index: {path}",
        "=" * 67,
        f"--- {path}\t{before_label}",
        f"+++ {path}\t{after_label}",
    ]
    for hunk in hunks(before, after, context):
        # The format's quirk: an empty side starts one line earlier.
        old_start = hunk.old_start - (0 if hunk.old_lines else 1)
        new_start = hunk.new_start - (0 if hunk.new_lines else 1)
        lines.append(f"@@ -{old_start},{hunk.old_lines} +{new_start},{hunk.new_lines} @@")
        lines.extend(hunk.lines)
    return "\n".join(lines) + "\n"
