"""The YAML at the top of an agent's file, read as JavaScript reads it, and within bounds.

YAML 1.2's plain values: `yes` is a text, `0o17` a number, a date is a date (which no field may
be). Aliases are followed without copying, so that no file grows while it is read.

Source: core `agents/agentLoader.ts`, which uses `js-yaml` with its default schema.
"""

from __future__ import annotations

import math
import re
from typing import Final

import yaml

from services.wire import Json, JsonObject, js_number
from services.zod import UNDEFINED, YamlDate

__all__ = ["FrontMatterError", "parse_front_matter", "split_file"]

MAX_FRONT_MATTER: Final = 100_000
"""Characters. Reading takes a second at most."""
MAX_DEPTH: Final = 50
MAX_VALUES: Final = 100_000
"""So many are checked, and complained of, where aliases repeat them."""

_PARTS: Final = re.compile(r"---\r?\n(.*?)\r?\n---(?:\r?\n(.*))?", re.DOTALL)
_PLAIN: Final = "!plain"
_TAGS: Final = "tag:yaml.org,2002:"
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE: Final = re.compile(
    r"[-+]?(?:0b[01][01_]*|0x[0-9a-fA-F][0-9a-fA-F_]*|0o[0-7][0-7_]*|[0-9][0-9_]*)(?<!_)"
)
_LONGEST_WHOLE: Final = 255
"""Digits; what has more is read as a double, which has room for 256 of base 16."""
_BASES: Final = {"0b": 2, "0x": 16, "0o": 8}
_FLOAT: Final = re.compile(
    r"(?:[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?"
    r"|\.[0-9_]+(?:[eE][-+]?[0-9]+)?)(?<!_)"
)
_INFINITE: Final = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_NANS: Final = frozenset({".nan", ".NaN", ".NAN"})
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
_DATE: Final = re.compile(
    r"\d{4}-\d\d-\d\d"
    r"|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?"
    r"(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?",
    re.ASCII,
)


class FrontMatterError(ValueError):
    """YAML that cannot be read; the message says why and, where it is known, on which line."""


def split_file(text: str) -> tuple[str, str] | None:
    """Front matter and body of a file; `None` for a file that does not begin with the former."""
    match = _PARTS.match(text)
    return None if match is None else (match[1], match[2] or "")


def parse_front_matter(text: str) -> Json:
    """The value that `text` stands for; `UNDEFINED` where it is empty.

    Raises:
        FrontMatterError: it is no YAML, too long, nested too deeply, or refers to itself.
    """
    if len(text) > MAX_FRONT_MATTER:
        raise FrontMatterError(
            f"longer than {MAX_FRONT_MATTER} characters; put instructions below the second ---"
        )
    try:
        loader = _Loader(f"{text}\n")
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
        if node is None:
            return UNDEFINED if not text.strip() else None
        value, _ = _Values().of(node, 0)
        return value
    except FrontMatterError:
        raise
    except yaml.MarkedYAMLError as error:
        raise FrontMatterError(_told(error)) from error
    except yaml.reader.ReaderError as error:
        raise FrontMatterError(
            f"a character that YAML does not allow (number {error.character:#x}) at position "
            f"{error.position}"
        ) from error
    except RecursionError as error:
        raise FrontMatterError(_too_deep()) from error
    except (yaml.YAMLError, ValueError) as error:
        raise FrontMatterError(str(error)) from error


class _Loader(yaml.SafeLoader):
    """Leaves it open what plain values are."""


_Loader.yaml_implicit_resolvers = {None: [(_PLAIN, re.compile(""))]}


class _Values:
    """From nodes to values; a node that is met again gives the same value, and counts again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Json, int]] = {}
        self._open: set[int] = set()

    def of(self, node: yaml.Node, depth: int) -> tuple[Json, int]:
        """A node's value, and how many values are in it with all aliases followed."""
        if depth > MAX_DEPTH:
            raise FrontMatterError(_too_deep())
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node), 1
        key = id(node)
        if key in self._open:
            raise FrontMatterError(f"refers to itself {_line(node)}")
        if key not in self._known:
            self._open.add(key)
            self._known[key] = self._collection(node, depth)
            self._open.discard(key)
        return self._known[key]

    def _collection(self, node: yaml.Node, depth: int) -> tuple[Json, int]:
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAGS}seq":
            items: list[Json] = []
            count = 1
            for item in node.value:
                value, size = self.of(item, depth + 1)
                items.append(value)
                count = _within(count + size, item)
            return items, count
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAGS}map":
            return self._mapping(node, depth)
        raise FrontMatterError(f"unknown tag !<{node.tag}> {_line(node)}")

    def _mapping(self, node: yaml.MappingNode, depth: int) -> tuple[JsonObject, int]:
        own: set[str] = set()
        values: JsonObject = {}
        count = 1
        for key_node, value_node in node.value:
            key_value, key_size = self.of(key_node, depth + 1)
            value, size = self.of(value_node, depth + 1)
            count = _within(count + key_size + size, key_node)
            if key_node.tag == _PLAIN and key_node.value == "<<":
                _merge(values, value, key_node)
                continue
            key = _key(key_value, key_node)
            if key in own:
                raise FrontMatterError(f"duplicated mapping key {_line(key_node)}")
            own.add(key)
            values[key] = value
        return _in_order(values), count


def _within(count: int, node: yaml.Node) -> int:
    if count > MAX_VALUES:
        raise FrontMatterError(
            f"more than {MAX_VALUES} values, those counted that aliases repeat {_line(node)}"
        )
    return count


def _merge(values: JsonObject, sources: Json, node: yaml.Node) -> None:
    """Add to `values` what they say nothing about and the first of `sources` does."""
    for source in sources if isinstance(sources, list) else [sources]:
        if not isinstance(source, dict):
            raise FrontMatterError(
                f"cannot merge mappings; the provided source object is unacceptable {_line(node)}"
            )
        values.update([item for item in source.items() if item[0] not in values])


def _in_order(values: JsonObject) -> JsonObject:
    """As JavaScript lists an object's keys: numbers first."""
    numbers = [key for key in values if _INDEX.fullmatch(key)]
    return {**{key: values[key] for key in sorted(numbers, key=int)}, **values}


def _scalar(node: yaml.ScalarNode) -> Json:
    text: str = node.value
    if node.tag == _PLAIN:
        return _plain(text)
    if node.tag in (f"{_TAGS}str", "!"):
        return text
    value = _plain(text)
    expected = {
        f"{_TAGS}int": isinstance(value, int) and not isinstance(value, bool),
        f"{_TAGS}float": isinstance(value, (int, float)) and not isinstance(value, bool),
        f"{_TAGS}bool": isinstance(value, bool),
        f"{_TAGS}null": value is None and not (node.style and not text),
        f"{_TAGS}timestamp": isinstance(value, YamlDate),
    }
    if node.tag not in expected:
        raise FrontMatterError(f"unknown tag !<{node.tag}> {_line(node)}")
    if not expected[node.tag]:
        raise FrontMatterError(
            f"cannot resolve a node with !<{node.tag}> explicit tag {_line(node)}"
        )
    return value


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
    return YamlDate() if _DATE.fullmatch(text) else text


def _integer(text: str) -> int | float:
    digits = text.lstrip("+-")
    base = _BASES.get(digits[:2])
    # To JavaScript all numbers are doubles, and Python does not even read very long ones.
    if len(digits) > _LONGEST_WHOLE:
        value = math.inf if base else float(digits)
    else:
        value = int(digits, 10) if base is None else int(digits[2:], base)
    return -value if text.startswith("-") else value


def _key(value: Json, node: yaml.Node) -> str:
    """A mapping's key as JavaScript has it: a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, (int, float)):
        return js_number(value)
    if isinstance(value, list):
        if any(isinstance(item, list) for item in value):
            raise FrontMatterError(f"nested arrays are not supported inside keys {_line(node)}")
        return ",".join("" if item is None else _key(item, node) for item in value)
    return "[object Object]"


def _line(node: yaml.Node) -> str:
    # The front matter begins on the file's second line, and marks count from 0.
    return f"(line {node.start_mark.line + 2})"


def _told(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    where = "" if mark is None else f" (line {mark.line + 2})"
    said = ": ".join(part for part in (error.context, error.problem) if part)
    return f"{said or 'not YAML'}{where}"


def _too_deep() -> str:
    return f"nested more than {MAX_DEPTH} levels deep"
