"""A document as TOML text, laid out as upstream lays out the files that it saves.

Source: the published package's TOML writer, `stringify`: values first, tables after them, nested
tables indented, long arrays one item a line, digits of integers in groups of three.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from services.wire import js_number

__all__ = ["toml_text"]

_LONGEST_ARRAY: Final = 60
_PLAIN_KEY: Final = re.compile(r"[-A-Za-z0-9_]+", re.ASCII)
_ESCAPES: Final = {"\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def toml_text(document: Mapping[str, Any]) -> str:
    """`document` as TOML. Each array holds values of one type, as `mixed_array` demands."""
    return _table("", "", document)


def _table(prefix: str, indent: str, table: Mapping[str, Any]) -> str:
    lines = [
        f"{indent}{_key(key)} = {_outer_value(value)}"
        for key, value in table.items()
        if _is_inline(value)
    ]
    has_values = bool(lines)
    if has_values:
        lines.append("")
    deeper = indent + "  " if prefix and has_values else ""
    for key, value in table.items():
        if not _is_inline(value):
            full = prefix + _key(key)
            write = _tables if isinstance(value, list) else _subtable
            lines.append(write(full, deeper, value))
    return "\n".join(lines)


def _tables(full: str, indent: str, tables: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(f"{indent}[[{full}]]\n{_table(full + '.', indent, table)}" for table in tables)


def _subtable(full: str, indent: str, table: Mapping[str, Any]) -> str:
    head = f"{indent}[{full}]\n" if any(map(_is_inline, table.values())) else ""
    return head + _table(f"{full}.", indent, table)


def _is_inline(value: Any) -> bool:
    if isinstance(value, Mapping):
        return not value
    if isinstance(value, list):
        return not value or not isinstance(value[0], Mapping)
    return True


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else _basic(key)


def _outer_value(value: Any) -> str:
    if isinstance(value, str) and "\n" in value:
        return _many_lines(value)
    return _value_or_literal(value)


def _value_or_literal(value: Any) -> str:
    if isinstance(value, str) and '"' in value and not re.search(r"[\b\t\n\f\r']", value):
        return f"'{value}'"
    return _value(value)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _basic(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return _grouped(str(value))
    if isinstance(value, float):
        return _grouped(js_number(value)) if _kind(value) == "integer" else _float(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return _moment(value)
    if isinstance(value, list):
        return _array(value)
    pairs = ", ".join(f"{_key(key)} = {_value_or_literal(item)}" for key, item in value.items())
    return f"{{ {pairs} }}" if pairs else "{ }"


def _array(values: Sequence[Any]) -> str:
    if not values:
        return "[ ]"
    kind = _kind_of(values)
    items = [_float(item) if kind == "float" else _value(item) for item in values]
    # An item of several lines is an array that is too long itself.
    if len(joined := ", ".join(items)) > _LONGEST_ARRAY:
        return "[\n  " + ",\n  ".join(items) + "\n]"
    return f"[ {joined} ]"


def _kind_of(values: Sequence[Any]) -> str:
    kinds = {_kind(value) for value in values}
    return "float" if len(kinds) > 1 else kinds.pop()


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, float):
        # Whole numbers lose their point when they are read, all but the negative zero.
        whole = value.is_integer() and (value != 0 or math.copysign(1, value) > 0)
        return "integer" if whole else "float"
    for kind, of in (("integer", int), ("string", str), ("array", list), ("table", Mapping)):
        if isinstance(value, of):
            return kind
    return "datetime"


def _float(value: float) -> str:
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if value == 0 and math.copysign(1, value) < 0:
        return "-0.0"
    whole, _, part = js_number(value).partition(".")
    return f"{_grouped(whole)}.{part or '0'}"


def _grouped(digits: str) -> str:
    return re.sub(r"\B(?=(?:\d{3})+(?!\d))", "_", digits)


def _moment(value: datetime.date | datetime.time) -> str:
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
            return f"{value.isoformat(timespec='milliseconds')}Z"
        return value.isoformat(timespec="milliseconds")
    if isinstance(value, datetime.time):
        return value.isoformat(timespec="milliseconds")
    return value.isoformat()


def _escaped(text: str) -> str:
    text = "".join(_ESCAPES.get(character, character) for character in text)
    return re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found.group()):04x}", text)


def _basic(text: str) -> str:
    return '"' + _escaped(text).replace('"', '\\"') + '"'


def _many_lines(text: str) -> str:
    lines = [re.sub(r'"(?="")', '\\\\"', _escaped(line)) for line in text.split("\n")]
    body = "\n".join(lines)
    return '"""\n' + body + ('\\\n"""' if body.endswith('"') else '"""')
