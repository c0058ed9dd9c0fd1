"""What JavaScript makes of values and texts, and Node of errors of the system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services import wire
from services.node_errors import error_code, node_error_message

__all__ = ["SUBJECTS"]


def _json(value: Any) -> list[Any]:
    try:
        entries: Any = wire.js_entries(value)
    except TypeError as error:
        entries = str(error)
    return [
        wire.js_json(value),
        wire.js_json_pretty(value),
        wire.js_json_pretty(value, 4),
        wire.js_text(value),
        wire.js_truthy(value),
        entries,
    ]


def _number(text: str) -> list[str]:
    return [wire.js_number(float(text)), wire.js_text(float(text))]


def _units(asked: dict[str, Any]) -> list[Any]:
    text = _text_of(asked["units"])
    found = wire.js_slice(text, asked["start"], asked["end"])
    split = wire.js_units(text)
    lengths = {wire.js_length(text), len(split), len(asked["units"])}
    length = lengths.pop() if len(lengths) == 1 else None
    return [length, found, wire.js_json(text)]


def _text_of(units: Sequence[int]) -> str:
    raw = b"".join(unit.to_bytes(2, "little") for unit in units)
    return raw.decode("utf-16-le", "surrogatepass")


def _trim(text: str) -> list[str]:
    return [wire.js_trim(text), wire.js_trim_end(text)]


def _system_error(asked: list[Any]) -> list[str]:
    number, syscall, path = asked
    error = OSError() if number is None else OSError(number, "what Python says")
    return [error_code(error), node_error_message(error, syscall, path)]


SUBJECTS: Final = (
    Subject("javascript.json", _json),
    Subject("javascript.number", _number),
    Subject("javascript.units", _units),
    Subject("javascript.trim", _trim),
    Subject("javascript.grouped", wire.js_locale_number),
    Subject("javascript.system_error", _system_error),
)
