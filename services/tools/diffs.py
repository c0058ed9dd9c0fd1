"""The size of a change and its context, for the results of the edit tools.

Source: core `tools/diffOptions.ts`, `tools/diff-utils.ts`.
"""

from __future__ import annotations

import re
from typing import Final

from services.patches import ChangeKind, line_changes
from services.wire import js_length

__all__ = ["diff_context", "diff_stat"]

_CONTEXT: Final = 5


def diff_stat(old: str, proposed: str, final: str) -> dict[str, int]:
    """The size of the model's change (`old` to `proposed`) and of the user's (to `final`).

    It counts lines, and UTF-16 units without line ends, as the wire's `diffStat`.
    """
    model, user = _counts(old, proposed), _counts(proposed, final)
    return {
        **{f"model_{key}": value for key, value in model.items()},
        **{f"user_{key}": value for key, value in user.items()},
    }


def _counts(old: str, new: str) -> dict[str, int]:
    counts = {"added_lines": 0, "removed_lines": 0, "added_chars": 0, "removed_chars": 0}
    for change in line_changes(old, new):
        if change.kind is not ChangeKind.KEPT:
            counts[f"{change.kind}_lines"] += len(change.lines)
            counts[f"{change.kind}_chars"] += sum(
                js_length(line.removesuffix("\n")) for line in change.lines
            )
    return counts


def diff_context(old: str, new: str) -> str:
    """The changed parts of `new` with five lines around them and `...` for the gaps.

    For a new file and for equal texts it is the whole of `new`.
    """
    if not old:
        return new
    lines = re.split(r"\r?\n", new)
    ranges = _changed_ranges(old, new, len(lines))
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


def _changed_ranges(old: str, new: str, total: int) -> list[tuple[int, int]]:
    changed: list[tuple[int, int]] = []
    place = 0
    for change in line_changes(old, new):
        count = 0 if change.kind is ChangeKind.REMOVED else len(change.lines)
        if change.kind is not ChangeKind.KEPT:
            changed.append((place, place + count))
        place += count
    merged: list[tuple[int, int]] = []
    for start, stop in changed:
        wide = (max(0, start - _CONTEXT), min(total, stop + _CONTEXT))
        if merged and wide[0] <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], wide[1]))
        else:
            merged.append(wide)
    return merged
