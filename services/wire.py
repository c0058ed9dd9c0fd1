"""The API's JSON as Python sees it, and text measured as JavaScript measures it.

Contents travel as plain dicts in the API's camelCase. Once a content has been handed to history or
to a request it is never changed in place: a caller that needs a change makes a copy. Request
observers rely on that, and compare by identity before they compare by value.

All observable lengths (token estimates, truncation, `contentLength`) count UTF-16 code units, as
upstream does.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from json.encoder import encode_basestring
from typing import Any, Final

__all__ = [
    "JS_SPACES",
    "Content",
    "Json",
    "JsonObject",
    "Part",
    "js_entries",
    "js_json",
    "js_json_pretty",
    "js_length",
    "js_locale_number",
    "js_number",
    "js_slice",
    "js_text",
    "js_trim",
    "js_trim_end",
    "js_truthy",
    "js_units",
    "printable",
]

Json = Any
JsonObject = dict[str, Any]
Part = dict[str, Any]
Content = dict[str, Any]

_JS_WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
JS_SPACES: Final = f"[{_JS_WHITE_SPACE}]"
r"""What `\s` stands for in JavaScript, as a character class."""

_EXACT: Final = 2**53
_FIXED_UP_TO: Final = 21
_FIXED_DOWN_TO: Final = -6
_LAST_INDEX: Final = 2**32 - 2
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)
_SURROGATES: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")
_WORDS: Final = {None: "null", True: "true", False: "false"}


def js_length(text: str) -> int:
    """Length in UTF-16 code units: an astral character counts two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(1 for character in text if character > "\uffff")


def js_slice(text: str, start: int, end: int | None = None) -> str:
    """`String.prototype.slice` in UTF-16 code units.

    A cut through a surrogate pair leaves a lone surrogate in JavaScript. Here that half becomes
    U+FFFD, as in JSON and in files.
    """
    if text.isascii():
        return text[start:end]
    units = text.encode("utf-16-le", "surrogatepass")
    length = len(units) // 2
    first, last, _ = slice(start, end).indices(length)
    return units[first * 2 : max(first, last) * 2].decode("utf-16-le", "replace")


def js_units(text: str) -> str:
    """`text` with one character for each UTF-16 code unit."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    return "".join(map(chr, memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")))


def js_trim(text: str) -> str:
    """`String.prototype.trim`: JavaScript's white space, which is not quite Python's."""
    return text.strip(_JS_WHITE_SPACE)


def js_trim_end(text: str) -> str:
    """`String.prototype.trimEnd`: the same white space, at the end alone."""
    return text.rstrip(_JS_WHITE_SPACE)


def js_json(value: Json) -> str:
    """`JSON.stringify` of what `JSON.parse` makes of `value`: compact, non-ASCII kept.

    Numbers are doubles, written as JavaScript writes them; one that is too large is `null`. Keys
    that are array indices come first, in order, as in every object there. Half a surrogate pair is
    escaped.

    Raises:
        TypeError: something in `value` is not JSON.
    """
    if _is_plain(value):
        return _escaped(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    return _escaped(_text(value, "", "", ":"))


def js_json_pretty(value: Json, indent: int = 2) -> str:
    """`JSON.stringify(value, null, indent)`; see `js_json`."""
    return _escaped(_text(value, "\n", " " * indent, ": "))


def js_truthy(value: Json) -> bool:
    """Whether JavaScript counts `value` as true: empty lists and objects do."""
    return bool(value) or isinstance(value, (dict, list))


def js_entries(value: Json) -> list[tuple[str, Json]]:
    """`Object.entries(value)`; a text gives its characters, which may be halves of one there.

    Raises:
        TypeError: there is no value; the message is JavaScript's.
    """
    if value is None:
        raise TypeError("Cannot convert undefined or null to object")
    if isinstance(value, dict):
        return list(_in_order(value))
    if isinstance(value, (str, list, tuple)):
        return [(str(index), item) for index, item in enumerate(value)]
    return []


def js_text(value: Json) -> str:
    """`String(value)`."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, (list, tuple)):
        return ",".join("" if item is None else js_text(item) for item in value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "-Infinity" if value < 0 else "Infinity"
    return js_json(value)


def js_number(value: float) -> str:
    """`Number.prototype.toString` for a finite number; `null` for what JSON has no text for."""
    try:
        double = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(double):
        return "null"
    sign = "-" if double < 0 else ""
    mantissa, _, exponent = f"{abs(double)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(digits) - len(fraction) + int(exponent or "0")
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    if len(digits) <= point <= _FIXED_UP_TO:
        return sign + digits.ljust(point, "0")
    if 0 < point <= _FIXED_UP_TO:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if _FIXED_DOWN_TO < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"


def _text(value: Json, line: str, indent: str, colon: str) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, int) and -_EXACT <= value <= _EXACT:
        return int.__repr__(value)
    if isinstance(value, (int, float)):
        return js_number(value)
    inner = line + indent
    if isinstance(value, dict):
        items = [
            f"{encode_basestring(key)}{colon}{_text(item, inner, indent, colon)}"
            for key, item in _in_order(value)
        ]
        start, end = "{}"
    elif isinstance(value, (list, tuple)):
        items = [_text(item, inner, indent, colon) for item in value]
        start, end = "[]"
    else:
        raise TypeError(f"{type(value).__name__} is no JSON")
    if not items:
        return start + end
    return f"{start}{inner}{f',{inner}'.join(items)}{line}{end}"


def _is_plain(value: Json) -> bool:
    """Whether Python's own, much faster encoder writes it in the same way."""
    kind = value.__class__
    if kind is str or value is None or kind is bool:
        return True
    if kind is dict:
        # A loop without calls for texts: every recorded value comes through here.
        for key, item in value.items():
            if key[:1].isdigit() and _is_index(key):
                return False
            if item.__class__ is not str and not _is_plain(item):
                return False
        return True
    if kind is list:
        return all(map(_is_plain, value))
    return kind is int and -_EXACT <= value <= _EXACT


def _escaped(text: str) -> str:
    """`text` with halves of surrogate pairs escaped."""
    return text if text.isascii() else _SURROGATES.sub(_paired, text)


def _paired(found: re.Match[str]) -> str:
    text = found.group()
    if len(text) == 1:
        return f"\\u{ord(text):04x}"
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _in_order(value: JsonObject) -> Iterable[tuple[str, Json]]:
    """The entries as JavaScript orders them."""
    indices = [key for key in value if _is_index(key)]
    if not indices:
        return value.items()
    return [(key, value[key]) for key in sorted(indices, key=int)] + [
        (key, item) for key, item in value.items() if not _is_index(key)
    ]


def _is_index(key: str) -> bool:
    return _INDEX.fullmatch(key) is not None and int(key) <= _LAST_INDEX


def printable(text: str) -> str:
    """`text` on one line, with what a terminal or a file could take amiss as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def js_locale_number(value: int) -> str:
    """`Number.prototype.toLocaleString` for en-US: digits in groups of three."""
    return f"{value:,}"
