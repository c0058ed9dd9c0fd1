"""Recorded traffic as YAML: several documents, `!!binary`, and the anchors that dumpers write."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml
from yaml.events import NodeEvent, ScalarEvent

from harness.cassette.document import MAX_BYTES, MAX_DEPTH, MAX_VALUES, read_text
from harness.cassette.numbers import yaml_integer, yaml_real
from harness.cassette.problems import FormatProblem, shortened
from harness.errors import CassetteFormatError
from services.bounded_yaml import FAST_LOADER, YAML_TAG, YamlProblem, YamlReader, is_merge
from services.wire import Json, JsonObject

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_VALUES", "load_documents", "parse_documents"]

_OTHERWISE: Final = "name a recording in UTF-8, and split the recording where it is too large"

_SAFE: Final[Any] = FAST_LOADER("")
_SCALARS: Final[dict[str, Any]] = {
    f"{YAML_TAG}int": lambda node: yaml_integer(node.value),
    f"{YAML_TAG}float": lambda node: yaml_real(node.value),
    f"{YAML_TAG}null": _SAFE.construct_yaml_null,
    f"{YAML_TAG}bool": _SAFE.construct_yaml_bool,
    f"{YAML_TAG}str": _SAFE.construct_yaml_str,
    f"{YAML_TAG}timestamp": _SAFE.construct_yaml_timestamp,
    f"{YAML_TAG}binary": _SAFE.construct_yaml_binary,
    "!binary": _SAFE.construct_yaml_binary,  # as Ruby writes it
}


_BROKEN: Final = (
    yaml.YAMLError,
    ValueError,
    RecursionError,
    # PyYAML's constructors do not check that a scalar fits its tag.
    ArithmeticError,
    LookupError,
    AttributeError,
    TypeError,
)


class _RecordedYaml(YamlReader):
    """The types of the safe loader, with numbers of bounded length.

    A key that a mapping has twice is an error: of two `headers:` or `request:` the first is most
    likely part of an exchange whose beginning is missing.
    """

    most_documents = None

    def scalar(self, event: ScalarEvent) -> Json:
        tag, text = event.tag, event.value
        if tag is None or tag == "!":
            tag = _SAFE.resolve(yaml.ScalarNode, text, event.implicit)
        if tag not in _SCALARS:
            raise self.problem("tag", "the tag {} is not allowed", event)
        try:
            return _SCALARS[tag](yaml.ScalarNode(tag, text))
        except _BROKEN as error:
            problem = f"{shortened(text, 60)!r} cannot be used: {_reason(error)}"
            raise YamlProblem(problem, event) from error

    def key(self, event: NodeEvent, value: Json) -> Json:
        if isinstance(event, ScalarEvent):
            return "<<" if is_merge(event) else self.scalar(event)
        if isinstance(value, (list, dict)):
            raise YamlProblem("a key is a list or mapping", event)
        return value

    def mapping(self, entries: list[tuple[NodeEvent, Json, Json]]) -> Json:
        made: JsonObject = {}
        merged: JsonObject = {}
        for event, key, value in entries:
            if is_merge(event):
                sources = value if isinstance(value, list) else [value]
                if not all(isinstance(source, dict) for source in sources):
                    raise YamlProblem("what is merged is no mapping", event)
                for source in reversed(sources):
                    merged.update(source)
            elif key in made:
                problem = f"the key `{shortened(str(key), 60)}` is there twice"
                raise YamlProblem(problem, event)
            else:
                made[key] = value
        return {**merged, **made}


def load_documents(path: Path) -> list[Json]:
    """Return the documents of a file, in order; an empty file has none.

    Raises:
        CassetteFormatError: The file is too large, too deep, not UTF-8 or not plain YAML.
        OSError: It cannot be read.
    """
    try:
        text = read_text(path, MAX_BYTES)
    except FormatProblem as refused:
        raise CassetteFormatError(path, "", refused.problem, _OTHERWISE) from refused
    return parse_documents(text, path)


def parse_documents(text: str, path: Path) -> list[Json]:
    """Return the documents of a text, in order; `path` is the file that errors name.

    Raises:
        CassetteFormatError: The text is too large, too deep or not plain YAML.
    """
    try:
        return _RecordedYaml(MAX_DEPTH, MAX_VALUES, MAX_BYTES).read(text)
    except _BROKEN as error:
        problem = f"is not plain YAML: {_reason(error)}"
        raise CassetteFormatError(path, "", problem, "record it again") from error


def _reason(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    line = getattr(error, "line", 0) if mark is None else mark.line + 1
    place = f"line {line}: " if line else ""
    return place + (getattr(error, "problem", None) or str(error).splitlines()[0])
