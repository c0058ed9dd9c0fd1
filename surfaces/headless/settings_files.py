"""Reading settings files: JSON with comments, `$VARIABLES` filled in.

An error names the file, the line and what to write. Source: `packages/cli`
`config/settings.ts`, `utils/envVarResolver.ts`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from services.json_comments import without_comments
from services.json_values import parse_json
from services.model.errors import FatalConfigError
from services.regular_files import MOST_TEXT, read_regular
from services.settings import SettingError, Settings, settings_from_file
from services.settings.variables import filled_in
from services.wire import Json, JsonObject, printable

__all__ = [
    "LoadedSettings",
    "load_settings",
    "loaded_settings",
    "merged_value",
    "with_setting",
]

_BLANKS: Final = re.compile(r"\s*")
_DECODER: Final = json.JSONDecoder()
_UNITED: Final = frozenset(
    {
        "adminPolicyPaths",
        "context.fileFiltering.customIgnoreFilePaths",
        "hooksConfig.disabled",
        "policyPaths",
        "skills.disabled",
        "tools.exclude",
    }
)
"""Lists that keep the entries of all files, each once."""
_JOINED: Final = frozenset({"context.includeDirectories"})
_EACH_JOINED: Final = "hooks."
"""Lists that keep the entries of all files, one file after the other."""
_SHALLOW: Final = frozenset({"mcpServers"})
"""Objects whose values are taken whole from one file."""


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, and the document they come from."""

    settings: Settings
    document: JsonObject

    def text(self, path: str) -> str | None:
        """The text at a key of the document; dots lead into objects. `None` for other values."""
        value = self._value(path)
        return value if isinstance(value, str) else None

    def texts(self, path: str) -> tuple[str, ...]:
        """The texts of a list of the document by its key; none if it is not a list."""
        value = self._value(path)
        items = value if isinstance(value, list) else []
        return tuple(item for item in items if isinstance(item, str))

    def _value(self, path: str) -> Any:
        value: Any = self.document
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


def loaded_settings(document: JsonObject) -> LoadedSettings:
    """The settings of a checked document."""
    return LoadedSettings(settings_from_file(document), document)


def with_setting(document: JsonObject, key: str, value: Json) -> JsonObject:
    """A copy of `document` with `value` under `key`, dots leading into objects."""
    first, _, rest = key.partition(".")
    below = document.get(first)
    inner = with_setting(below if isinstance(below, dict) else {}, rest, value) if rest else value
    return {**document, first: inner}


def load_settings(
    files: Sequence[Path], variables: Mapping[str, str], *, required: bool
) -> LoadedSettings:
    """Read `files`: a later one wins. Objects are merged key by key, and some lists are joined.

    Args:
        files: where settings may be.
        variables: the values of `$NAME` and `${NAME:-otherwise}`.
        required: whether a file that is not there is a fault.

    Raises:
        FatalConfigError: a file cannot be read, is not JSON, or a setting has no meaning.
    """
    merged: JsonObject = {}
    for file in files:
        text = _read(file, required=required)
        if text is None:
            continue
        document = filled_in(_parse(file, text), variables)
        try:
            settings_from_file(document)
        except SettingError as error:
            place = f"{file}, line {_line_of(text, error.key)}"
            words = printable(f"{place}: {error.key}: {error.problem}")
            raise FatalConfigError(words) from error
        merged = _merged(merged, document)
    return loaded_settings(merged)


def _read(file: Path, *, required: bool) -> str | None:
    try:
        return read_regular(file, MOST_TEXT).decode("utf-8-sig")
    except FileNotFoundError as error:
        if not required:
            return None
        raise FatalConfigError(
            f"{file}: there is no such file; name a settings file with --settings"
        ) from error
    except UnicodeDecodeError as error:
        raise FatalConfigError(
            f"{file}: not UTF-8 (byte {error.start}); save it as such"
        ) from error
    except OSError as error:
        raise FatalConfigError(
            f"{file}: cannot be read: {error.strerror}; make it readable, or remove it"
        ) from error


def _parse(file: Path, text: str) -> JsonObject:
    plain = without_comments(text)
    if not plain.strip():
        return {}
    try:
        document = parse_json(plain)
    except json.JSONDecodeError as error:
        raise FatalConfigError(
            f"{file}, line {error.lineno}, column {error.colno}: not JSON: {error.msg}\n"
            "Please fix the configuration file(s) and try again."
        ) from error
    except ValueError as error:
        mend = "write fewer levels, and numbers that can be held"
        raise FatalConfigError(f"{file}: {error}; {mend}") from error
    if not isinstance(document, dict):
        raise FatalConfigError(
            f'{file}, line 1: an object expected; write {{"model": {{"name": "auto"}}}} or the like'
        )
    return document


def merged_value(key: str, values: Sequence[Any]) -> Any:
    """The value in force of a setting that several files may have; `None`: none of them has it.

    Source: `packages/cli` `utils/deepMerge.ts`, `config/settingsSchema.ts` (`mergeStrategy`).

    Args:
        key: the setting's name; dots lead into objects.
        values: what the files have, the one that counts most last; `None` for none.
    """
    found: Any = None
    for value in values:
        if value is not None:
            found = value if found is None else _both(found, value, key)
    return found


def _both(below: Any, above: Any, path: str) -> Any:
    if isinstance(below, list) and isinstance(above, list):
        if path in _UNITED:
            return [*below, *(each for each in above if each not in below)]
        joined = path in _JOINED or path.startswith(_EACH_JOINED)
        return [*below, *above] if joined else above
    if isinstance(below, dict) and isinstance(above, dict):
        if path in _SHALLOW:
            return {**below, **above}
        return _merged(below, above, f"{path}.")
    return above


def _merged(below: JsonObject, above: JsonObject, place: str = "") -> JsonObject:
    result = dict(below)
    for key, value in above.items():
        result[key] = _both(result[key], value, f"{place}{key}") if key in result else value
    return result


def _line_of(text: str, key: str) -> int:
    """The line of a setting in a document that parses; of what holds it, where it is missing."""
    plain = without_comments(text)
    path = re.findall(r"[^.\[\]]+", key)
    return plain.count("\n", 0, _place_of(plain, _after_blanks(plain, 0), path)) + 1


def _place_of(text: str, start: int, path: Sequence[str]) -> int:
    """Where the value at `start` has the member that `path` leads to."""
    if not path or text[start] not in "{[":
        return start
    position, index = _after_blanks(text, start + 1), 0
    while text[position] not in "}]":
        place, name = position, str(index)
        if text[start] == "{":
            name, position = _DECODER.raw_decode(text, position)
            # Past the colon.
            position = _after_blanks(text, _after_blanks(text, position) + 1)
        if name == path[0]:
            inner = _place_of(text, position, path[1:])
            return place if inner == position else inner
        _, position = _DECODER.raw_decode(text, position)
        position = _after_blanks(text, position)
        if text[position] == ",":
            position = _after_blanks(text, position + 1)
        index += 1
    return start


def _after_blanks(text: str, position: int) -> int:
    found = _BLANKS.match(text, position)
    return position if found is None else found.end()
