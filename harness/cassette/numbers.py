"""Numbers of a YAML file, within the bounds of a double.

Python converts a whole number of n digits in n² steps; readers of the wire hold doubles.
"""

from __future__ import annotations

import math
import re
from typing import Final

import yaml

__all__ = ["yaml_integer", "yaml_real"]

_MOST_DIGITS: Final = 400
"""More than the largest double has."""
_ONE_INTEGER: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+")
_ONE_REAL: Final = re.compile(
    r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.\w+"
)
"""Numbers that YAML 1.1 and 1.2 read alike; `010` is eight or ten, `1:30` ninety or text."""
_SAFE: Final = yaml.SafeLoader("")


def yaml_integer(text: str) -> int:
    """A whole number as YAML writes it: decimal, or hexadecimal with `0x`.

    Raises:
        ValueError, OverflowError: it is no number, is too large, or is ambiguous.
    """
    value: int = _SAFE.construct_yaml_int(_checked(text, _ONE_INTEGER))
    float(value)
    return value


def yaml_real(text: str) -> float:
    """A number with a point as YAML writes it.

    Raises:
        ValueError, OverflowError: it is no number, is too large, or is ambiguous.
    """
    value: float = _SAFE.construct_yaml_float(_checked(text, _ONE_REAL))
    if not math.isfinite(value):
        raise ValueError("JSON has no such number")
    return value


def _checked(text: str, alike: re.Pattern[str]) -> yaml.ScalarNode:
    """`text` as a node; its constructor, not the tag, decides what it becomes."""
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a number has at most {_MOST_DIGITS} digits")
    if alike.fullmatch(text) is None:
        raise ValueError("readers of YAML 1.1 and 1.2 take it for different values")
    return yaml.ScalarNode("", text)
