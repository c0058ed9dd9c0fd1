"""Line differences with the same hunks as upstream's diff library.

Which of several shortest edit scripts is taken can be seen in a patch and in the line counts, so
this is Myers's algorithm with that library's choices: among equal furthest points it removes
before it adds. Source: npm `diff` 8, `diffLines` and `createPatch`; core `tools/diffOptions.ts`,
`tools/diff-utils.ts`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from services.wire import js_length

__all__ = ["Change", "Hunk", "create_patch", "diff_context", "diff_lines", "diff_stat", "hunks"]

_Kind = Literal["same", "added", "removed"]
_NO_NEWLINE: Final = "\\ No newline at end of file"
CONTEXT_LINES: Final = 3


@dataclass(frozen=True, slots=True)
class Change:
    """A run of lines (with their line ends) that are in both texts, or in one only."""

    kind: _Kind
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
    kind: _Kind
    before: _Run | None


def split_lines(text: str) -> list[str]:
    r"""The lines of `text`, each with its `\n` where it has one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


@lru_cache(maxsize=8)
def diff_lines(old: str, new: str) -> tuple[Change, ...]:
    """The shortest line edit from `old` to `new`, as runs in order."""
    before, after = split_lines(old), split_lines(new)
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
    last = _Run(start, "same", None) if start else None
    if start == len(old) == len(new):
        return last
    if not set(old[start:]) & set(new[start:]):
        return _replace_all(len(old) - start, len(new) - start, last)
    return _search(old, new, start - 1, last)


def _common_start(old: list[int], new: list[int]) -> int:
    shorter = min(len(old), len(new))
    return next((place for place in range(shorter) if old[place] != new[place]), shorter)


def _replace_all(removed: int, added: int, last: _Run | None) -> _Run | None:
    """The edit when no line is left in common; the search would find the same, in N x M steps."""
    if removed:
        last = _Run(removed, "removed", last)
    return _Run(added, "added", last) if added else last


def _search(old: list[int], new: list[int], place: int, last: _Run | None) -> _Run | None:
    """Myers's greedy search, diagonal by diagonal, from `place` (the last common line).

    `best` holds, per diagonal, the furthest line of `old` reached and the script that led there.
    Diagonals beyond an edge of the grid that was reached are not looked at again.
    """
    old_end, new_end = len(old) - 1, len(new) - 1
    best: dict[int, tuple[int, _Run | None]] = {0: (place, last)}
    low, high = -len(old) - len(new), len(old) + len(new)
    for length in range(1, len(old) + len(new) + 1):
        for diagonal in range(max(low, -length), min(high, length) + 1, 2):
            removing = best.pop(diagonal - 1, None)
            adding = best.get(diagonal + 1)
            if adding is not None and not 0 <= adding[0] - diagonal <= new_end:
                adding = None
            if removing is not None and removing[0] >= old_end:
                removing = None
            if adding is not None and (removing is None or removing[0] < adding[0]):
                place, last = adding[0], _longer(adding[1], "added")
            elif removing is not None:
                place, last = removing[0] + 1, _longer(removing[1], "removed")
            else:
                best.pop(diagonal, None)
                continue
            start = place
            while (
                place < old_end
                and place - diagonal < new_end
                and old[place + 1] == new[place + 1 - diagonal]
            ):
                place += 1
            if place > start:
                last = _Run(place - start, "same", last)
            at_old_end, at_new_end = place >= old_end, place - diagonal >= new_end
            if at_old_end and at_new_end:
                return last
            best[diagonal] = (place, last)
            if at_old_end:
                high = min(high, diagonal - 1)
            if at_new_end:
                low = max(low, diagonal + 1)
    raise AssertionError("an edit as long as both texts always exists")


def _longer(last: _Run | None, kind: _Kind) -> _Run:
    if last is not None and last.kind == kind:
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
        if run.kind == "removed":
            lines = old[old_place : old_place + run.length]
        else:
            lines = new[new_place : new_place + run.length]
            new_place += run.length
        if run.kind != "added":
            old_place += run.length
        changes.append(Change(run.kind, tuple(lines)))
    return tuple(changes)


def hunks(old: str, new: str, context: int = CONTEXT_LINES) -> list[Hunk]:
    """The hunks of the edit from `old` to `new`, with `context` unchanged lines around each."""
    found: list[Hunk] = []
    changes = [*diff_lines(old, new), Change("same", ())]
    body: list[str] = []
    old_start = new_start = 0
    old_line = new_line = 1
    previous: tuple[str, ...] = ()
    for index, change in enumerate(changes):
        count = len(change.lines)
        if change.kind != "same":
            if not old_start:
                body = [f" {line}" for line in previous[-context:]] if context > 0 else []
                old_start, new_start = old_line - len(body), new_line - len(body)
            sign = "+" if change.kind == "added" else "-"
            body.extend(sign + line for line in change.lines)
            old_line += 0 if change.kind == "added" else count
            new_line += count if change.kind == "added" else 0
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


def create_patch(
    name: str,
    old: str,
    new: str,
    old_header: str,
    new_header: str,
    context: int = CONTEXT_LINES,
) -> str:
    """A unified patch of one file; equal texts give the four header lines and no hunk."""
    lines = [
        f"Index: {name}",
        "=" * 67,
        f"--- {name}\t{old_header}",
        f"+++ {name}\t{new_header}",
    ]
    for hunk in hunks(old, new, context):
        # The format's quirk: an empty side starts one line earlier.
        old_start = hunk.old_start - (0 if hunk.old_lines else 1)
        new_start = hunk.new_start - (0 if hunk.new_lines else 1)
        lines.append(f"@@ -{old_start},{hunk.old_lines} +{new_start},{hunk.new_lines} @@")
        lines.extend(hunk.lines)
    return "\n".join(lines) + "\n"


def diff_stat(old: str, proposed: str, final: str) -> dict[str, int]:
    """How much the model changed (`old` to `proposed`) and the user after it (to `final`).

    Lines, and UTF-16 units without line ends, as the wire's `diffStat`.
    """
    model, user = _counts(old, proposed), _counts(proposed, final)
    return {
        **{f"model_{key}": value for key, value in model.items()},
        **{f"user_{key}": value for key, value in user.items()},
    }


def _counts(old: str, new: str) -> dict[str, int]:
    counts = {"added_lines": 0, "removed_lines": 0, "added_chars": 0, "removed_chars": 0}
    for change in diff_lines(old, new):
        if change.kind != "same":
            counts[f"{change.kind}_lines"] += len(change.lines)
            counts[f"{change.kind}_chars"] += sum(
                js_length(line.removesuffix("\n")) for line in change.lines
            )
    return counts


def diff_context(old: str, new: str, context: int = 5) -> str:
    """The changed parts of `new` with `context` lines around them, gaps shown as `...`.

    The whole of `new` for a new file and for texts that are equal.
    """
    if not old:
        return new
    lines = re.split(r"\r?\n", new)
    ranges = _changed_ranges(old, new, context, len(lines))
    if not ranges:
        return new
    parts: list[str] = []
    end = 0
    for start, stop in ranges:
        if start > end:
            parts.append("...")
        parts.append("\n".join(lines[start:stop]))
        end = stop
    if end < len(lines):
        parts.append("...")
    return "\n".join(parts)


def _changed_ranges(old: str, new: str, context: int, total: int) -> list[tuple[int, int]]:
    changed: list[tuple[int, int]] = []
    place = 0
    for change in diff_lines(old, new):
        count = 0 if change.kind == "removed" else len(change.lines)
        if change.kind != "same":
            changed.append((place, place + count))
        place += count
    merged: list[tuple[int, int]] = []
    for start, stop in changed:
        wide = (max(0, start - context), min(total, stop + context))
        if merged and wide[0] <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], wide[1]))
        else:
            merged.append(wide)
    return merged
