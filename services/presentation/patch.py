"""Unified patches, line for line those of the `diff` package (jsdiff 8) that upstream uses.

Of the many shortest edit scripts between two texts the one chosen matters: it is shown to people
and stored. Python's `difflib` chooses otherwise, hence the search here.

Source: jsdiff `src/diff/base.ts`, `src/patch/create.ts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

__all__ = ["Change", "ChangeKind", "line_changes", "unified_patch"]


class ChangeKind(StrEnum):
    """What became of a run of lines. The value is its mark in a patch."""

    KEPT = " "
    REMOVED = "-"
    ADDED = "+"


@dataclass(frozen=True, slots=True)
class Change:
    """A run of lines with one fate; each line has its line feed, but for a last one without."""

    kind: ChangeKind
    lines: tuple[str, ...]


_Step: TypeAlias = "tuple[ChangeKind, int, _Step | None]"
"""The last of a path's runs, its length, and the path before it."""

_Path: TypeAlias = "tuple[int, _Step | None]"
"""Index of the last line of the old text that was consumed, and the runs that led there."""


def line_changes(before: str, after: str) -> list[Change]:
    """The shortest edit from `before` to `after`, by lines; adjacent runs differ in kind."""
    old, new = _lines(before), _lines(after)
    changes = []
    old_at = new_at = 0
    for kind, count in _runs(_shortest_path(old, new)):
        if kind is ChangeKind.REMOVED:
            lines = old[old_at : old_at + count]
        else:
            lines = new[new_at : new_at + count]
            new_at += count
        if kind is not ChangeKind.ADDED:
            old_at += count
        changes.append(Change(kind, tuple(lines)))
    return changes


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
    for hunk in _hunks(line_changes(before, after), context):
        lines.append(hunk.header())
        for line in hunk.lines:
            if line.endswith("\n"):
                lines.append(line[:-1])
            else:
                lines += [line, "\\ No newline at end of file"]
    return "\n".join(lines) + "\n"


def _lines(text: str) -> list[str]:
    """Split after line feeds only: `splitlines` knows too many line ends."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _shortest_path(old: list[str], new: list[str]) -> _Step | None:
    """Myers' greedy search over edit lengths, with jsdiff's choice between equals.

    Diagonals beyond the one where an edge of the edit graph was reached are given up: nothing
    shorter can come from them. The search is quadratic in the number of edits, hence plain tuples.
    """
    last_old, last_new = len(old) - 1, len(new) - 1
    path = _slide(old, new, -1, None, 0)
    if path[0] >= last_old and path[0] >= last_new:
        return path[1]
    best: dict[int, _Path] = {0: path}
    length = len(old) + len(new)
    lowest, highest = -length, length
    for edits in range(1, length + 1):
        diagonal = max(lowest, -edits)
        while diagonal <= min(highest, edits):
            stepped = _step(best, diagonal, last_old, last_new)
            if stepped is None:
                best.pop(diagonal, None)
            else:
                path = _slide(old, new, *stepped, diagonal)
                at_old_end, at_new_end = path[0] >= last_old, path[0] - diagonal >= last_new
                if at_old_end and at_new_end:
                    return path[1]
                best[diagonal] = path
                if at_old_end:
                    highest = min(highest, diagonal - 1)
                if at_new_end:
                    lowest = max(lowest, diagonal + 1)
            diagonal += 2
    raise AssertionError("an edit script of every line always exists")


def _step(best: dict[int, _Path], diagonal: int, last_old: int, last_new: int) -> _Path | None:
    """Come to `diagonal` from a neighbour by one edit: the farther one, by removal if equal."""
    removing, adding = best.pop(diagonal - 1, None), best.get(diagonal + 1)
    if adding is not None and not -1 < adding[0] - diagonal <= last_new:
        adding = None
    if removing is not None and removing[0] >= last_old:
        removing = None
    if adding is not None and (removing is None or removing[0] < adding[0]):
        return adding[0], _extended(adding[1], ChangeKind.ADDED)
    if removing is not None:
        return removing[0] + 1, _extended(removing[1], ChangeKind.REMOVED)
    return None


def _extended(last: _Step | None, kind: ChangeKind) -> _Step:
    if last is not None and last[0] is kind:
        return kind, last[1] + 1, last[2]
    return kind, 1, last


def _slide(old: list[str], new: list[str], old_at: int, last: _Step | None, diagonal: int) -> _Path:
    """Follow equal lines along `diagonal` as far as they go."""
    first = old_at
    end = min(len(old), len(new) + diagonal) - 1
    while old_at < end and old[old_at + 1] == new[old_at + 1 - diagonal]:
        old_at += 1
    if old_at > first:
        last = ChangeKind.KEPT, old_at - first, last
    return old_at, last


def _runs(last: _Step | None) -> list[tuple[ChangeKind, int]]:
    runs = []
    while last is not None:
        kind, count, last = last
        runs.append((kind, count))
    return runs[::-1]


@dataclass(slots=True)
class _Hunk:
    old_start: int
    new_start: int
    lines: list[str]

    def header(self) -> str:
        """Where the hunk lies; an empty side counts from the line before it."""
        old_count = sum(1 for line in self.lines if line[0] != ChangeKind.ADDED)
        new_count = sum(1 for line in self.lines if line[0] != ChangeKind.REMOVED)
        old_start = self.old_start if old_count else self.old_start - 1
        new_start = self.new_start if new_count else self.new_start - 1
        return f"@@ -{old_start},{old_count} +{new_start},{new_count} @@"


def _hunks(changes: list[Change], context: int) -> Iterator[_Hunk]:
    """Group changes; kept runs of up to twice the context do not part a hunk."""
    hunk: _Hunk | None = None
    old_line = new_line = 1
    previous: tuple[str, ...] = ()
    for index, change in enumerate(changes):
        marked = [change.kind + line for line in change.lines]
        if change.kind is not ChangeKind.KEPT:
            if hunk is None:
                lead = [ChangeKind.KEPT + line for line in previous[-context:]] if context else []
                hunk = _Hunk(old_line - len(lead), new_line - len(lead), lead)
            hunk.lines += marked
        elif hunk is not None:
            if len(marked) <= context * 2 and index < len(changes) - 1:
                hunk.lines += marked
            else:
                hunk.lines += marked[:context]
                yield hunk
                hunk = None
        previous = change.lines
        old_line += len(marked) if change.kind is not ChangeKind.ADDED else 0
        new_line += len(marked) if change.kind is not ChangeKind.REMOVED else 0
    if hunk is not None:
        yield hunk
