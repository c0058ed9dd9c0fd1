"""The API's JSON as Python sees it, and text measured as JavaScript measures it.

Contents travel as plain dicts in the API's camelCase. Once a content has been handed to history or
to a request it is never changed in place: whoever wants it otherwise makes a copy. Request
observers rely on that, and compare by identity before they compare by value.

All lengths that can be seen (token estimates, truncation, `contentLength`) count UTF-16 code
units, as upstream does.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = [
    "Content",
    "Json",
    "JsonObject",
    "Part",
    "js_json",
    "js_json_pretty",
    "js_length",
    "js_locale_number",
    "js_slice",
    "js_trim",
]

Json = Any
JsonObject = dict[str, Any]
Part = dict[str, Any]
Content = dict[str, Any]

_JS_WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


def js_length(text: str) -> int:
    """Length in UTF-16 code units: an astral character counts two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(1 for character in text if character > "\uffff")


def js_slice(text: str, start: int, end: int | None = None) -> str:
    """`String.prototype.slice` in UTF-16 code units.

    A cut through a surrogate pair leaves a lone surrogate in JavaScript; here the half that would
    not be valid text becomes U+FFFD, which is what JSON and files would make of it.
    """
    if text.isascii():
        return text[start:end]
    units = text.encode("utf-16-le", "surrogatepass")
    length = len(units) // 2
    first, last, _ = slice(start, end).indices(length)
    return units[first * 2 : max(first, last) * 2].decode("utf-16-le", "replace")


def js_trim(text: str) -> str:
    """`String.prototype.trim`: JavaScript's white space, which is not quite Python's."""
    return text.strip(_JS_WHITE_SPACE)


def js_json(value: Json) -> str:
    """`JSON.stringify(value)`: compact, insertion order, non-ASCII kept, `1.0` as `1`."""
    return json.dumps(_integral(value), ensure_ascii=False, separators=(",", ":"))


def js_json_pretty(value: Json, indent: int = 2) -> str:
    """`JSON.stringify(value, null, indent)`."""
    return json.dumps(_integral(value), ensure_ascii=False, indent=indent)


def _integral(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    if isinstance(value, dict):
        return {key: _integral(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_integral(item) for item in value]
    return value


def js_locale_number(value: int) -> str:
    """`Number.prototype.toLocaleString` for en-US: digits in groups of three."""
    return f"{value:,}"
