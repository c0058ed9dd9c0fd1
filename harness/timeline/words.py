"""Formats values on one line, for timelines and explanations."""

from __future__ import annotations

import json
from typing import Any, Final

from harness.canonical import printable

__all__ = ["content_line", "cut", "one_line", "ordinal", "quoted", "short_json"]

_TEXT: Final = 80
_LINE: Final = 240
_SHOWN: Final = 260


def quoted(text: object, room: int = _TEXT) -> str:
    """A text in quotes, cut to `room` characters, on one line."""
    whole = printable(str(text)[: 4 * room].replace("\n", " "))
    return f"'{whole[: room - 1]}…'" if len(whole) > room else f"'{whole}'"


def content_line(content: Any) -> str:
    """A content by its last part: `function response read_file`, `text 'Hello'`."""
    parts = content.get("parts") if isinstance(content, dict) else None
    if not isinstance(parts, list) or not parts:
        return "nothing"
    last = _part(parts[-1])
    return last if len(parts) == 1 else f"{len(parts)} parts, {last}"


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return quoted(part)
    call, response = part.get("functionCall"), part.get("functionResponse")
    if isinstance(call, dict):
        return f"call {call.get('name')} {short_json(call.get('args'))}".rstrip()
    if isinstance(response, dict):
        return f"function response {response.get('name')}: {_output(response.get('response'))}"
    if str(part.get("text")).startswith("<session_context>"):
        return "the environment"
    if "text" in part:
        return f"{'thought' if part.get('thought') else 'text'} {quoted(part['text'])}"
    return f"{next(iter(part), 'empty')} part"


def _output(response: Any) -> str:
    if isinstance(response, dict) and len(response) == 1:
        (key, value), *_ = response.items()
        prefix = "" if key == "output" else f"{key} "
        return prefix + (quoted(value) if isinstance(value, str) else short_json(value))
    return short_json(response)


def short_json(value: Any) -> str:
    """A value as JSON, cut."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"


def one_line(text: str) -> str:
    """`text`, printable and cut to the length of a timeline's line."""
    return cut(text, _LINE)


def cut(text: str, room: int = _SHOWN) -> str:
    """`text` on one line, printable, with at most `room` characters."""
    text = printable(text)
    return text if len(text) <= room else f"{text[: room - 1]}…"


_ORDINALS: Final = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)


def ordinal(index: int) -> str:
    """`first` for 0, `14th` for 13."""
    if index < len(_ORDINALS):
        return _ORDINALS[index]
    number = index + 1
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"
