"""The places at which two JSON values differ, with the value of each side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.canonical import canonical, sha256_hex
from harness.parity.divergence import ABSENT
from harness.timeline.fields import first_difference
from services.wire import Json

__all__ = ["Difference", "bounded", "bounded_pair", "differences", "path_text"]

_LONG: Final = 1000
"""Characters of a value that reports show."""
_LEAD: Final = 120
"""Characters of a long text shown before its first difference."""

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One differing place, with both values (bounded, or `ABSENT`)."""

    path: str
    control: Json
    candidate: Json


def differences(control: Json, candidate: Json) -> list[Difference]:
    """Every place at which two JSON values differ, in document order (keys sorted)."""
    from deepdiff import DeepDiff  # slow, and a run at parity needs it never

    found = DeepDiff(
        _shortened(control),
        _shortened(candidate),
        view="tree",
        threshold_to_diff_deeper=0,
        zip_ordered_iterables=True,
    )
    places: set[Path] = set()
    for levels in found.values():
        places.update(tuple(level.path(output_format="list")) for level in levels)
    result = []
    for place in sorted(places, key=_document_order):
        here, there = bounded_pair(_at(control, place), _at(candidate, place))
        result.append(Difference(path=path_text(place), control=here, candidate=there))
    return result


def path_text(path: Sequence[str | int]) -> str:
    """`("content", 0, "text")` as `content[0].text`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def bounded_pair(control: Json, candidate: Json) -> tuple[Json, Json]:
    """Both values as reports keep them: long texts are cut around their first difference."""
    if not (isinstance(control, str) and isinstance(candidate, str)):
        return bounded(control), bounded(candidate)
    start = max(0, first_difference(control, candidate) - _LEAD)
    return bounded(control, start), bounded(candidate, start)


def bounded(value: Json, start: int = 0) -> Json:
    """`value`; of a long text an excerpt from `start`, with its length and digest."""
    text = value if isinstance(value, str) else canonical(value)
    if len(text) <= _LONG:
        return value
    shown = text[start : start + _LONG]
    before = "…" if start else ""
    return f"{before}{shown}… ({len(text)} characters, sha256 {sha256_hex(text)[:12]})"


def _shortened(value: Json) -> Json:
    """`value` with digests for long texts, which deepdiff would diff line by line."""
    if isinstance(value, str):
        return value if len(value) <= _LONG and "\n" not in value else sha256_hex(value)
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    return value


def _at(value: Any, path: Path) -> Json:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError):
            return ABSENT
    return value


def _document_order(path: Path) -> list[tuple[int, int, str]]:
    return [(0, step, "") if isinstance(step, int) else (1, 0, step) for step in path]
