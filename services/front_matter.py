"""Reads the YAML at the top of a file for an agent or a skill as JavaScript does.

Plain values are those of YAML 1.2: `yes` is a text, `0o17` a number, a date is a date.

Source: core `agents/agentLoader.ts`, which uses `js-yaml` with its default schema.
"""

from __future__ import annotations

import datetime
import math
import re
from typing import ClassVar, Final

import yaml
from yaml.events import (
    NodeEvent,
    ScalarEvent,
)

from services.bounded_yaml import YAML_TAG, YamlProblem, YamlReader, is_merge
from services.wire import Json, JsonObject, js_entries, js_text
from services.zod import UNDEFINED

__all__ = ["FrontMatterError", "parse_front_matter", "split_file"]

MAX_FRONT_MATTER: Final = 100_000
"""Characters. Reading takes a second at most."""
MAX_DEPTH: Final = 50
MAX_VALUES: Final = 100_000
"""The most values, counting those that aliases repeat."""

_PARTS: Final = re.compile(r"---\r?\n(.*?)\r?\n---(?:\r?\n(.*))?", re.DOTALL)
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE: Final = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o[0-7_]+|[0-9][0-9_]*)(?<!_)")
_EXACT: Final = 2**53
_BASES: Final = {"0b": 2, "0x": 16, "0o": 8}
_FLOAT: Final = re.compile(
    r"(?:[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?"
    r"|\.[0-9_]+(?:[eE][-+]?[0-9]+)?)(?<!_)"
)
_INFINITE: Final = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_NANS: Final = frozenset({".nan", ".NaN", ".NAN"})
_DATE: Final = re.compile(
    r"\d{4}-\d\d-\d\d"
    r"|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?"
    r"(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?",
    re.ASCII,
)


_SOME_DATE: Final = datetime.date.min
"""Stands for every date: no field may be one."""


class FrontMatterError(ValueError):
    """YAML that cannot be read; the message has the reason and, where known, the line."""


def split_file(text: str) -> tuple[str, str] | None:
    """Front matter and body of a file; `None` for a file that does not begin with the former."""
    match = _PARTS.match(text)
    return None if match is None else (match[1], match[2] or "")


def parse_front_matter(text: str) -> Json:
    """The value that `text` stands for; `UNDEFINED` where it is empty.

    Raises:
        FrontMatterError: it is not YAML, is too long, nested too deeply, or refers to itself.
    """
    if len(text) > MAX_FRONT_MATTER:
        raise FrontMatterError(
            f"longer than {MAX_FRONT_MATTER} characters; put instructions below the second ---"
        )
    # js-yaml ends the last line where nothing does.
    ended = text if text.endswith(("\n", "\r")) else f"{text}\n"
    try:
        documents = _FrontMatter(MAX_DEPTH, MAX_VALUES).read(ended)
    except YamlProblem as problem:
        raise FrontMatterError(f"{problem}{_place(problem.line)}") from problem
    except yaml.MarkedYAMLError as error:
        raise FrontMatterError(_message(error)) from error
    except yaml.reader.ReaderError as error:
        raise FrontMatterError(
            f"a character that YAML does not allow (number {error.character:#x}) at position "
            f"{error.position}"
        ) from error
    except (yaml.YAMLError, ValueError) as error:
        raise FrontMatterError(str(error)) from error
    if not documents:
        return None if text.strip(" ") else UNDEFINED
    return documents[0]


class _FrontMatter(YamlReader):
    """YAML as `js-yaml` reads it."""

    loader = yaml.SafeLoader  # its messages are better than those of the one in C
    words: ClassVar = {
        "deep": f"nested more than {MAX_DEPTH} levels deep",
        "many": f"more than {MAX_VALUES} values, those counted that aliases repeat",
        "tag": "unknown tag !<{}>",
    }

    def key(self, event: NodeEvent, value: Json) -> Json:
        return _key(self.scalar(event) if isinstance(event, ScalarEvent) else value, event)

    def mapping(self, entries: list[tuple[NodeEvent, Json, Json]]) -> Json:
        own: set[str] = set()
        values: JsonObject = {}
        for event, key, value in entries:
            if is_merge(event):
                _merge(values, value, event)
                continue
            if key in own:
                raise YamlProblem("duplicated mapping key", event)
            own.add(key)
            values[key] = value
        return dict(js_entries(values))

    def scalar(self, event: ScalarEvent) -> Json:
        text: str = event.value
        if event.implicit[0] and event.tag is None:
            return _plain(text)
        if event.implicit[1] or event.tag in ("!", f"{YAML_TAG}str"):
            return text
        value = _plain(text)
        expected = {
            f"{YAML_TAG}int": isinstance(value, int) and not isinstance(value, bool),
            f"{YAML_TAG}float": isinstance(value, (int, float)) and not isinstance(value, bool),
            f"{YAML_TAG}bool": isinstance(value, bool),
            f"{YAML_TAG}null": value is None and not (event.style and not text),
            f"{YAML_TAG}timestamp": value is _SOME_DATE,
        }
        if event.tag not in expected:
            raise self.problem("tag", "", event)
        if not expected[event.tag]:
            problem = f"cannot resolve a node with !<{event.tag}> explicit tag"
            raise YamlProblem(problem, event)
        return value


def _merge(values: JsonObject, sources: Json, event: NodeEvent) -> None:
    """Add the items of `sources` whose keys `values` lacks; the first source counts."""
    for source in sources if isinstance(sources, list) else [sources]:
        if not isinstance(source, dict):
            problem = "cannot merge mappings; the provided source object is unacceptable"
            raise YamlProblem(problem, event)
        values.update([item for item in source.items() if item[0] not in values])


def _plain(text: str) -> Json:
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _WHOLE.fullmatch(text):
        return _integer(text.replace("_", ""))
    if _FLOAT.fullmatch(text):
        return float(text.replace("_", ""))
    if infinite := _INFINITE.fullmatch(text):
        return float(f"{infinite[1]}inf")
    if text in _NANS:
        return float("nan")
    return _SOME_DATE if _DATE.fullmatch(text) else text


def _integer(text: str) -> int | float:
    """A whole number as JavaScript has it: a double, which is exact up to 53 bits."""
    digits = text.lstrip("+-")
    base = _BASES.get(digits[:2])
    try:
        value = float(digits) if base is None else float(int(digits[2:], base))
    except OverflowError:
        value = math.inf
    value = -value if text.startswith("-") else value
    return int(value) if abs(value) < _EXACT else value


def _key(value: Json, event: NodeEvent) -> str:
    """A mapping's key as in JavaScript: a text."""
    if isinstance(value, list):
        if any(isinstance(item, list) for item in value):
            raise YamlProblem("nested arrays are not supported inside keys", event)
        return ",".join("" if item is None else _key(item, event) for item in value)
    return "[object Date]" if value is _SOME_DATE else js_text(value)


def _place(line: int | None) -> str:
    # The front matter begins on the file's second line.
    return "" if line is None else f" (line {line + 1})"


def _message(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    said = ": ".join(part for part in (error.context, error.problem) if part)
    return f"{said or 'not YAML'}{_place(None if mark is None else mark.line + 1)}"
