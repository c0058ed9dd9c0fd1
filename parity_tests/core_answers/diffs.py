"""Patches, and distances between texts."""

from __future__ import annotations

from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.edit_distance import edit_distance, nearest_names
from services.patches import line_changes, unified_patch
from services.wire import js_units

__all__ = ["SUBJECTS"]


def _patch(asked: tuple[str, str, int]) -> list[Any]:
    before, after, context = asked
    patch = unified_patch(
        "a/b.txt", before, after, before_label="old", after_label="new", context=context
    )
    kinds = [
        [each.kind.name.lower(), len(each.lines), "".join(each.lines)]
        for each in line_changes(before, after)
    ]
    return [patch, kinds]


def _distance(asked: tuple[str, str]) -> int:
    return edit_distance(*map(js_units, asked))


def _nearest(asked: tuple[str, list[str]]) -> str:
    return nearest_names(*asked)


SUBJECTS: Final = (
    Subject("diffs.patch", _patch),
    Subject("diffs.distance", _distance),
    Subject("diffs.nearest", _nearest),
)
