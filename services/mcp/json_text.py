"""JSON as `JSON.parse` reads it.

A server may send half of a surrogate pair as an escape. JavaScript writes it as U+FFFD; here it is
read as U+FFFD.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

from services.json_values import refuse_depth
from services.wire import Json

__all__ = ["parse_json"]

_ESCAPED_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
_HALF: Final = re.compile("[\ud800-\udfff]")
_EXACT: Final = 2**53


def parse_json(text: str) -> Json:
    """The value that `text` stands for.

    Raises:
        ValueError: `text` is no JSON, or nested too deeply.
    """
    try:
        value = json.loads(text, parse_int=_integer, parse_float=_float, parse_constant=_refused)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    refuse_depth(value)
    return _whole(value) if _ESCAPED_HALF.search(text) else value


def _integer(digits: str) -> int | float | None:
    # Every number is a double; a short one is exact, and most are short.
    if len(digits) < 16:
        return int(digits)
    value = float(digits)
    return int(digits) if abs(value) < _EXACT else _float(digits)


def _float(digits: str) -> int | float | None:
    value = float(digits)
    if math.isinf(value):
        # JavaScript's Infinity is written as null.
        return None
    return int(value) if value.is_integer() and abs(value) < 1e21 else value


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value
