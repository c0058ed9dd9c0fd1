"""From a file to plain JSON values, within bounds: YAML's safe scalars, no aliases, no tags.

A duplicate key is an error. Dates stay text, as JSON has none.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import yaml
from yaml.events import NodeEvent, ScalarEvent

from harness.cassette.numbers import yaml_integer, yaml_real
from harness.cassette.problems import FormatProblem
from services.bounded_yaml import YAML_TAG, YamlProblem, YamlReader
from services.json_values import real, refuse_constant, whole
from services.regular_files import FileTooLarge, NotARegularFile, read_regular
from services.wire import Json, JsonObject

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_VALUES", "parse_document", "read_text"]

MAX_BYTES: Final = 64 * 1024 * 1024
MAX_DEPTH: Final = 64
MAX_VALUES: Final = 1_000_000
"""The most keys and values of a document."""

_RESOLVERS: Final[dict[str, list[tuple[str, re.Pattern[str]]]]] = (
    yaml.SafeLoader.yaml_implicit_resolvers
)
_ANY_FIRST: Final = _RESOLVERS.get("*", [])
_JSON_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""Possessive, and matches an unclosed string whole: linear in the length of the text."""
_TOO_DEEP: Final = f"is nested deeper than {MAX_DEPTH} levels"
_SPLIT = "write it in smaller parts, or generate text with $repeat and $lines"


def read_text(path: Path, most: int = MAX_BYTES) -> str:
    """Read a file of at most `most` bytes as UTF-8.

    Raises:
        FormatProblem: it is not a regular file, too large or not UTF-8.
        OSError: it cannot be read.
    """
    try:
        data = read_regular(path, most)
    except (NotARegularFile, IsADirectoryError) as error:
        raise FormatProblem("", "is not a regular file", "name a regular file") from error
    except FileTooLarge as error:
        raise FormatProblem("", f"is larger than {most >> 20} MB", _SPLIT) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}"
        raise FormatProblem("", problem, "save the file as UTF-8") from error


def parse_document(text: str, *, strict_json: bool = False) -> Json:
    """Parse one YAML or JSON document. Empty text is an error.

    Args:
        text: The file's text.
        strict_json: The text must be JSON, and is not tried as YAML.

    Raises:
        FormatProblem: with the line in its problem, or the key path where it is known.
    """
    if not text.strip():
        raise FormatProblem("", "is empty", "a cassette starts with `cassette: 1`")
    if strict_json or text.lstrip()[0] == "{":
        try:
            return _parse_json(text)
        except json.JSONDecodeError as error:
            if strict_json:
                problem = f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}"
                raise FormatProblem("", problem, "correct the JSON there") from error
    return _parse_yaml(text)


def _parse_json(text: str) -> Json:
    structure = _JSON_STRING.sub("", text)
    if sum(map(structure.count, ",[{")) > MAX_VALUES:
        raise FormatProblem("", _too_many(), _SPLIT)
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", structure):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            raise FormatProblem("", _TOO_DEEP, "flatten it")
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique_pairs,
            parse_constant=refuse_constant,
            parse_int=whole,
            parse_float=real,
        )
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise FormatProblem("", str(error), "write a number that can be held, or text") from error


def _too_many() -> str:
    return f"holds more than {MAX_VALUES:,} values"


def _unique_pairs(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = counts.most_common(1)[0][0]
        raise FormatProblem(twice, "the same key is there twice", "keep one of them")
    return mapping


def _parse_yaml(text: str) -> Json:
    try:
        (document,) = _CassetteYaml(MAX_DEPTH, MAX_VALUES).read(text) or [None]
    except YamlProblem as problem:
        path = _path_text(problem.path)
        raise FormatProblem(path, f"line {problem.line}: {problem}", problem.mend) from problem
    except yaml.YAMLError as error:
        raise FormatProblem("", f"{_place(error)}not YAML: {_reason(error)}", _MEND_YAML) from error
    return document


def _path_text(path: Sequence[str | int]) -> str:
    words = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(words).removeprefix(".")


_MEND_YAML = "correct it there; text with `: ` or ` #` in it needs quotes"


def _place(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "


def _reason(error: yaml.YAMLError) -> str:
    words = [getattr(error, "context", None), getattr(error, "problem", None)]
    return ", ".join(word for word in words if word) or str(error).replace("\n", " ")


class _CassetteYaml(YamlReader):
    """YAML's safe scalars, no aliases, no tags; keys stay text (`y` is a key like any other)."""

    counts_keys = False
    mends: ClassVar = {
        "deep": "flatten it",
        "many": _SPLIT,
        "tag": "write plain values; bytes are {base64: …}",
        "document": "one file holds one cassette; split it",
    }

    def anchor(self, event: NodeEvent) -> None:
        problem = f"anchors and aliases (`{event.anchor}`) are not allowed"
        mend = "write the value out, or use repeat, $times, $repeat or $lines"
        raise YamlProblem(problem, event, mend)

    def key(self, event: NodeEvent, value: Json) -> str:
        if not isinstance(event, ScalarEvent):
            problem = "a key must be text, not a list or mapping"
            raise YamlProblem(problem, event, "write the key as plain text")
        return str(event.value)

    def mapping(self, entries: list[tuple[NodeEvent, Json, Json]]) -> Json:
        made: JsonObject = {}
        for event, key, value in entries:
            if key in made:
                raise YamlProblem("the same key is there twice", event, "keep one of them", key)
            made[key] = value
        return made

    def scalar(self, event: ScalarEvent) -> Json:
        text: str = event.value
        tag = event.tag
        if tag is None and event.implicit[0]:
            tag = _implicit_tag(text)
        name = (tag or "!").removeprefix(YAML_TAG)
        if name in ("!", "str", "timestamp", "value", "merge"):
            return text
        convert: Any = _SCALARS.get(name)
        if convert is None:
            raise self.problem("tag", "the tag {} is not allowed", event)
        try:
            return convert(text)
        except (ValueError, IndexError, OverflowError) as error:
            problem = f"{text[:40]!r} cannot be used: {error}"
            mend = "write a plain number, or text in quotes"
            raise YamlProblem(problem, event, mend) from error


def _implicit_tag(text: str) -> str | None:
    for tag, pattern in _RESOLVERS.get(text[:1], []) + _ANY_FIRST:
        if pattern.match(text):
            return tag
    return None


def _boolean(text: str) -> bool:
    try:
        value: bool = yaml.SafeLoader.bool_values[text.lower()]
    except KeyError:
        raise ValueError("neither true nor false") from None
    return value


def _null(_: str) -> None:
    return None


_SCALARS: Final = {"int": yaml_integer, "float": yaml_real, "bool": _boolean, "null": _null}
