"""Writing single settings into a settings file: comments, order and layout stay.

Source: `packages/cli` `utils/commentJson.ts` (`updateSettingsFilePreservingFormat`), which keeps
the comments and writes the layout anew.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.json_comments import without_comments
from services.json_values import parse_json
from services.private_files import make_private_folder, write_private
from services.regular_files import MOST_TEXT, read_regular
from services.settings import settings_from_file
from services.wire import Json

__all__ = ["save_setting", "with_setting_text", "without_setting_text"]

_BLANKS: Final = re.compile(r"\s*")
_DECODER: Final = json.JSONDecoder()
_STEP: Final = "  "
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object by its places in the text: the key's, and the value's with its end."""

    name: str
    start: int
    value: int
    end: int


def save_setting(file: Path, key: str, value: Json) -> None:
    """Write one setting into a settings file, and create the file if it does not exist.

    A reader sees the file before or after the change, never half of it. A link stays a link.

    Args:
        file: the settings file.
        key: the setting's name; dots lead into objects.
        value: the new value; `None` removes the setting.

    Raises:
        OSError: the file cannot be read or written.
        ValueError: the file is not JSON with comments, or the setting does not take this value;
            the message names the file.
    """
    place = Path(os.path.realpath(file))
    try:
        raw = read_regular(place, MOST_TEXT)
    except FileNotFoundError:
        raw = b""
    try:
        text = raw.decode("utf-8-sig")
        changed = (
            without_setting_text(text, key)
            if value is None
            else with_setting_text(text, key, value)
        )
        if changed == text:
            return
        settings_from_file(parse_json(without_comments(changed)))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: {error}; mend the file first, or write another value") from error
    make_private_folder(place.parent)
    draft = place.with_name(f"{place.name}.{os.getpid()}.tmp")
    bom = _BOM if raw.startswith(_BOM) else b""
    try:
        write_private(draft, bom + changed.encode("utf-8"), draft=True)
        if raw:
            shutil.copymode(place, draft)
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


def with_setting_text(text: str, key: str, value: Json) -> str:
    """A settings document with `value` at `key`, whose dots lead into objects.

    Raises:
        ValueError: `text` is not a JSON object, with or without comments.
    """
    plain = without_comments(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    names = key.split(".")
    if not plain.strip():
        head = f"{text.rstrip()}{newline}" if text.strip() else ""
        return f"{head}{_written(_nested(names, value), '', newline)}{newline}"
    place = _opening(plain)
    while True:
        members, end = _members(plain, place)
        found = next((each for each in members if each.name == names[0]), None)
        if found is None:
            return _added(text, place, members, end, names, value, newline)
        if len(names) == 1 or plain[found.value] != "{":
            new = _written(_nested(names[1:], value), _indent_of(text, found.start), newline)
            return f"{text[: found.value]}{new}{text[found.end :]}"
        place, names = found.value, names[1:]


def without_setting_text(text: str, key: str) -> str:
    """A settings document without `key`; objects that hold it stay.

    Raises:
        ValueError: `text` is not a JSON object, with or without comments.
    """
    plain = without_comments(text)
    if not plain.strip():
        return text
    place = _opening(plain)
    *outer, last = key.split(".")
    for name in outer:
        found = next((each for each in _members(plain, place)[0] if each.name == name), None)
        if found is None or plain[found.value] != "{":
            return text
        place = found.value
    members, _ = _members(plain, place)
    index = next((number for number, each in enumerate(members) if each.name == last), None)
    if index is None:
        return text
    gone = members[index]
    if index + 1 < len(members):
        comma = plain.index(",", gone.end)
        return text[: gone.start] + text[comma + 1 :].lstrip(" \t\r\n")
    before = len(text[: gone.start].rstrip())
    if index:
        comma = plain.index(",", members[index - 1].end)
        return text[:comma] + text[comma + 1 : before] + text[gone.end :]
    return text[:before] + text[gone.end :]


def _opening(plain: str) -> int:
    document = parse_json(plain)
    if not isinstance(document, dict):
        raise ValueError("the document is not an object")
    return _after_blanks(plain, 0)


def _members(plain: str, place: int) -> tuple[Sequence[_Member], int]:
    """The members of the object at `place`, and the place of its closing brace."""
    members = []
    position = _after_blanks(plain, place + 1)
    while plain[position] != "}":
        start = position
        name, position = _DECODER.raw_decode(plain, position)
        value = _after_blanks(plain, _after_blanks(plain, position) + 1)
        _, end = _DECODER.raw_decode(plain, value)
        members.append(_Member(name, start, value, end))
        position = _after_blanks(plain, end)
        if plain[position] == ",":
            position = _after_blanks(plain, position + 1)
    return members, position


def _added(
    text: str,
    place: int,
    members: Sequence[_Member],
    end: int,
    names: Sequence[str],
    value: Json,
    newline: str,
) -> str:
    """`text` with a further member in the object between `place` and `end`."""
    outer = _indent_of(text, place)
    indent = _indent_of(text, members[-1].start) if members else outer + _STEP
    key = json.dumps(names[0], ensure_ascii=False)
    nested = _nested(names[1:], value)
    inner = len(text[:end].rstrip())
    last = members[-1].end if members else place + 1
    comma = "," if members else ""
    if members and newline not in text[place:end]:
        return f"{text[:last]}, {key}: {_written(nested, outer, newline)}{text[last:]}"
    member = f"{newline}{indent}{key}: {_written(nested, indent, newline)}"
    closing = text[inner:end] if newline in text[inner:end] else f"{newline}{outer}"
    return f"{text[:last]}{comma}{text[last:inner]}{member}{closing}{text[end:]}"


def _nested(names: Sequence[str], value: Json) -> Json:
    for name in reversed(names):
        value = {name: value}
    return value


def _written(value: Json, indent: str, newline: str) -> str:
    text = json.dumps(value, indent=_STEP, ensure_ascii=False)
    return text.replace("\n", f"{newline}{indent}")


def _indent_of(text: str, place: int) -> str:
    """The blanks before the first sign of the line that has `place`."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]


def _after_blanks(text: str, position: int) -> int:
    found = _BLANKS.match(text, position)
    return position if found is None else found.end()
