"""From a file to plain JSON values, within bounds: YAML's safe scalars, no aliases, no tags.

The tree is built here from the parser's events and not by a YAML loader: nothing recursive runs
over input whose depth is unknown, limits are checked as the tree grows, keys stay text (`y` is a
key like any other) and a duplicate key is an error. Dates stay text, as JSON has none.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, cast

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from harness.cassette.numbers import (
    json_integer,
    json_real,
    refuse_number,
    yaml_integer,
    yaml_real,
)
from harness.cassette.problems import FormatProblem
from services.regular_files import FileTooLarge, NotARegularFile, read_regular
from services.wire import Json

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_VALUES", "parse_document", "read_text"]

MAX_BYTES: Final = 64 * 1024 * 1024
MAX_DEPTH: Final = 64
MAX_VALUES: Final = 1_000_000
"""The most keys and values; many small ones cost more memory than few large ones."""

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVERS: Final[dict[str, list[tuple[str, re.Pattern[str]]]]] = (
    yaml.SafeLoader.yaml_implicit_resolvers
)
_ANY_FIRST: Final = _RESOLVERS.get("*", [])
_JSON_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""Takes nothing back, and an unclosed string whole: its time goes by the length of the text."""
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
    _check_values(structure.count(",") + structure.count("[") + structure.count("{"))
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", structure):
        depth += 1 if bracket in "[{" else -1
        _check_depth("", depth)
    return json.loads(
        text,
        object_pairs_hook=_unique_pairs,
        parse_constant=refuse_number,
        parse_int=json_integer,
        parse_float=json_real,
    )


def _unique_pairs(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = counts.most_common(1)[0][0]
        raise FormatProblem(twice, "the same key is there twice", "keep one of them")
    return mapping


def _parse_yaml(text: str) -> Json:
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except yaml.YAMLError as error:
        raise FormatProblem("", f"{_place(error)}not YAML: {_reason(error)}", _MEND_YAML) from error
    return builder.root


_MEND_YAML = "correct it there; text with `: ` or ` #` in it needs quotes"


def _place(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "


def _reason(error: yaml.YAMLError) -> str:
    words = [getattr(error, "context", None), getattr(error, "problem", None)]
    return ", ".join(word for word in words if word) or str(error).replace("\n", " ")


def _check_values(count: int) -> None:
    if count > MAX_VALUES:
        raise FormatProblem("", f"holds more than {MAX_VALUES:,} values", _SPLIT)


def _check_depth(key: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise FormatProblem(key, f"is nested deeper than {MAX_DEPTH} levels", "flatten it")


class _Builder:
    """Puts events together. A mapping that has its key waits for the value in `_key`."""

    def __init__(self) -> None:
        self.root: Json = None
        self._open: list[tuple[Any, str | None]] = []
        self._key: str | None = None
        self._values = 0
        self._documents = 0

    def take(self, event: Event) -> None:
        if isinstance(event, ScalarEvent):
            self._refuse_anchor(event)
            if self._wants_key():
                self._start_pair(event)
            else:
                self._add(self._scalar(event))
        elif isinstance(event, (MappingStartEvent, SequenceStartEvent)):
            self._start(event)
        elif isinstance(event, (MappingEndEvent, SequenceEndEvent)):
            self._open.pop()
            self._key = None
        elif isinstance(event, AliasEvent):
            self._refuse_anchor(event)
        elif isinstance(event, DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                problem = f"{_line(event)}a second document begins"
                raise FormatProblem("", problem, "one file holds one cassette; split it")

    def _wants_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1][0], dict) and self._key is None

    def _start(self, event: MappingStartEvent | SequenceStartEvent) -> None:
        self._refuse_anchor(event)
        if self._wants_key():
            problem = f"{_line(event)}a key must be text, not a list or mapping"
            raise FormatProblem(self._path(), problem, "write the key as plain text")
        if event.tag is not None and event.tag not in _PLAIN_CONTAINERS:
            self._refuse_tag(event.tag, event)
        container: Json = {} if isinstance(event, MappingStartEvent) else []
        key = self._key
        self._add(container)
        self._open.append((container, key))
        _check_depth(self._path() if len(self._open) > MAX_DEPTH else "", len(self._open))

    def _start_pair(self, event: ScalarEvent) -> None:
        mapping = self._open[-1][0]
        if event.value in mapping:
            problem = f"{_line(event)}the same key is there twice"
            raise FormatProblem(self._path(event.value), problem, "keep one of them")
        self._key = event.value
        mapping[event.value] = None

    def _add(self, value: Json) -> None:
        self._values += 1
        if self._values > MAX_VALUES:
            _check_values(self._values)
        if not self._open:
            self.root = value
            return
        container = self._open[-1][0]
        if isinstance(container, list):
            container.append(value)
        else:
            container[self._key] = value
            self._key = None

    def _scalar(self, event: ScalarEvent) -> Json:
        text: str = event.value
        tag = event.tag
        if tag is None or tag == "!":
            if not event.implicit[0] or tag == "!":
                return text
            tag = _implicit_tag(text)
            if tag is None:
                return text
        name = tag.removeprefix("tag:yaml.org,2002:")
        if name in ("str", "timestamp", "value", "merge"):
            return text
        convert = _SCALARS.get(name)
        if convert is None:
            self._refuse_tag(tag, event)
        try:
            return cast("Any", convert)(text)
        except (ValueError, IndexError, OverflowError) as error:
            problem = f"{_line(event)}{text[:40]!r} cannot be used: {error}"
            raise FormatProblem(
                self._path(), problem, "write a plain number, or text in quotes"
            ) from error

    def _refuse_tag(self, tag: str, event: Event) -> None:
        problem = f"{_line(event)}the tag {tag} is not allowed"
        raise FormatProblem(self._path(), problem, "write plain values; bytes are {base64: …}")

    def _refuse_anchor(self, event: Any) -> None:
        if event.anchor is None:
            return
        problem = f"{_line(event)}anchors and aliases (`{event.anchor}`) are not allowed"
        mend = "write the value out, or use repeat, $times, $repeat or $lines"
        raise FormatProblem(self._path(), problem, mend)

    def _path(self, last: str | None = None) -> str:
        """The path of what is being built."""
        words: list[str] = []
        for (parent, _), (_, key) in pairwise(self._open):
            words.append(f".{key}" if key is not None else f"[{len(parent) - 1}]")
        tail = last if last is not None else self._key
        if tail is not None:
            words.append(f".{tail}")
        elif self._open and isinstance(self._open[-1][0], list):
            words.append(f"[{len(self._open[-1][0])}]")
        return "".join(words).removeprefix(".")


def _line(event: Any) -> str:
    return f"line {event.start_mark.line + 1}: "


def _implicit_tag(text: str) -> str | None:
    for tag, pattern in _RESOLVERS.get(text[:1], []) + _ANY_FIRST:
        if pattern.match(text):
            return tag
    return None


_PLAIN_CONTAINERS: Final = frozenset({"!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})


def _boolean(text: str) -> bool:
    try:
        value: bool = yaml.SafeLoader.bool_values[text.lower()]
    except KeyError:
        raise ValueError("neither true nor false") from None
    return value


def _null(_: str) -> None:
    return None


_SCALARS: Final = {"int": yaml_integer, "float": yaml_real, "bool": _boolean, "null": _null}
