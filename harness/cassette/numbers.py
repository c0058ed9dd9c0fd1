"""Numbers of a file: refused where JSON's readers could not hold them, or only after a long time.

Python holds whole numbers of any length, and converts one of n digits in n² steps; whatever reads
the wire holds doubles.
"""

from __future__ import annotations

import math
from typing import Final, NoReturn

import yaml

from harness.cassette.problems import FormatProblem, shortened

__all__ = ["json_integer", "json_real", "refuse_number", "yaml_integer", "yaml_real"]

_MOST_DIGITS: Final = 400
"""More than the largest double has; converting takes long for many."""
_SAFE: Final = yaml.SafeLoader("")


def json_integer(text: str) -> int:
    """A whole number as JSON writes it.

    Raises:
        FormatProblem: it cannot be held.
    """
    return int(text) if _is_held(text) else refuse_number(text)


def json_real(text: str) -> float:
    """A number with a point or an exponent as JSON writes it.

    Raises:
        FormatProblem: it cannot be held.
    """
    return float(text) if _is_held(text) else refuse_number(text)


def refuse_number(text: str) -> NoReturn:
    """Say that `text` is no number that JSON's readers know, such as `NaN`.

    Raises:
        FormatProblem: always.
    """
    problem = f"{shortened(text, 40)} is not a JSON number"
    raise FormatProblem("", problem, "write a number that can be held, or text")


def yaml_integer(text: str) -> int:
    """A whole number as YAML writes it: in another base or in sixties, too.

    Raises:
        ValueError, IndexError, OverflowError: it is none, or cannot be held.
    """
    _check_digits(text)
    value: int = _SAFE.construct_yaml_int(yaml.ScalarNode("tag:yaml.org,2002:int", text))
    float(value)
    return value


def yaml_real(text: str) -> float:
    """A number with a point as YAML writes it.

    Raises:
        ValueError, IndexError, OverflowError: it is none, or cannot be held.
    """
    _check_digits(text)
    value: float = _SAFE.construct_yaml_float(yaml.ScalarNode("tag:yaml.org,2002:float", text))
    if not math.isfinite(value):
        raise ValueError("JSON has no such number")
    return value


def _is_held(text: str) -> bool:
    return len(text) <= _MOST_DIGITS and math.isfinite(float(text))


def _check_digits(text: str) -> None:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a number has at most {_MOST_DIGITS} digits")
