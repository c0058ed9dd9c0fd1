"""Reads JSON from outside: every fault is a `ValueError`, and every number fits a double.

Python's own reader also raises `RecursionError` for deep nesting, accepts `NaN`, reads `1e999` as
infinity, and keeps whole numbers that no double holds.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Final, NoReturn

from services.wire import Json, JsonObject

__all__ = [
    "MOST_LEVELS",
    "is_deeper",
    "parse_json",
    "real",
    "refuse_constant",
    "refuse_depth",
    "whole",
]

MOST_LEVELS: Final = 100
"""Far less than Python's limit of 1,000 nested calls."""
_MOST_DIGITS: Final = 400
"""More than the largest double has; the time to convert a number grows with the square."""
_SHOWN: Final = 40


def parse_json(text: str | bytes, *, unique_keys: bool = False) -> Json:
    """The value that `text` stands for.

    Args:
        text: JSON; bytes are UTF-8, -16 or -32.
        unique_keys: Refuse an object that has a key twice, instead of taking the last.

    Raises:
        ValueError: `text` is not JSON, nested too deeply, or holds a number that cannot be held;
            `json.JSONDecodeError` where it says the place.
    """
    try:
        value = json.loads(
            text,
            parse_int=whole,
            parse_float=real,
            parse_constant=refuse_constant,
            object_pairs_hook=_unique if unique_keys else None,
        )
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    refuse_depth(value)
    return value


def refuse_depth(value: Json) -> None:
    """Make sure that recursive functions can walk through `value`.

    Raises:
        ValueError: it is nested deeper than `MOST_LEVELS`.
    """
    if is_deeper(value, MOST_LEVELS):
        raise ValueError(f"nested deeper than {MOST_LEVELS} levels")


def is_deeper(value: Json, levels: int) -> bool:
    """Whether lists and objects in `value` are nested more than `levels` deep."""
    level = [value] if isinstance(value, dict | list) else []
    while level and levels:
        levels -= 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return bool(level)


def whole(digits: str) -> int:
    """A whole number as JSON writes it.

    Raises:
        ValueError: it is beyond what a double can hold.
    """
    return int(digits) if _is_held(digits) else refuse_constant(digits)


def real(digits: str) -> float:
    """A number with a point or an exponent as JSON writes it.

    Raises:
        ValueError: it is beyond what a double can hold.
    """
    return float(digits) if _is_held(digits) else refuse_constant(digits)


def refuse_constant(word: str) -> NoReturn:
    """Refuse `word`, such as `NaN`, as a JSON number.

    Raises:
        ValueError: always.
    """
    shown = word if len(word) <= _SHOWN else f"{word[:_SHOWN]}... ({len(word):,} characters)"
    raise ValueError(f"{shown} is not a JSON number")


def _is_held(digits: str) -> bool:
    return len(digits) <= _MOST_DIGITS and math.isfinite(float(digits))


def _unique(pairs: list[tuple[str, Json]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice[:_SHOWN]!r} is there twice")
    return found
