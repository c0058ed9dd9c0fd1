"""YAML from strangers: the safe loader, after a scan that nothing recursive has to survive.

Recorded traffic needs more of YAML than a scenario does (several documents, `!!binary`, the
anchors that a dumper writes for shared lists), so it has a loader of its own. The scan goes
through the parser's events and counts what the document would be when all aliases are written
out, as whoever sends it on will write it; only then is anything built.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml
from yaml.constructor import ConstructorError
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    Event,
    ScalarEvent,
)

from harness.cassette.document import MAX_BYTES, MAX_DEPTH, MAX_VALUES, read_text
from harness.cassette.numbers import yaml_integer, yaml_real
from harness.cassette.problems import FormatProblem, shortened
from harness.errors import CassetteFormatError
from services.wire import Json

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_VALUES", "load_documents"]

_OTHERWISE: Final = "name a recording in UTF-8, and split the recording where it is too large"

_SAFE: Final[type[yaml.SafeLoader]] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SAFE):  # type: ignore[misc, valid-type]  # depends on how PyYAML was built
    """The safe loader with numbers of bounded length, and Ruby's spelling of `!!binary`.

    A key that a mapping has twice is an error: of two `headers:` or `request:` the first is most
    likely part of an exchange whose beginning is missing.
    """

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """The mapping of `node`, which names no key twice."""
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if not isinstance(key, yaml.ScalarNode):
                continue
            name = (key.tag, key.value)
            if name in seen:
                problem = f"the key `{shortened(key.value, 60)}` is there twice"
                raise ConstructorError(None, None, problem, key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)


def _number(convert: Callable[[str], Json]) -> Callable[..., Json]:
    def constructed(loader: Any, node: yaml.ScalarNode) -> Json:
        try:
            return convert(node.value)
        except (ValueError, OverflowError) as error:
            problem = f"{shortened(node.value, 60)!r} cannot be used: {error}"
            raise ConstructorError(None, None, problem, node.start_mark) from error

    return constructed


_Loader.add_constructor("!binary", yaml.SafeLoader.construct_yaml_binary)
_Loader.add_constructor("tag:yaml.org,2002:int", _number(yaml_integer))
_Loader.add_constructor("tag:yaml.org,2002:float", _number(yaml_real))


_BROKEN: Final = (
    yaml.YAMLError,
    ValueError,
    RecursionError,
    # PyYAML's constructors take a scalar's word for what its tag says.
    ArithmeticError,
    LookupError,
    AttributeError,
    TypeError,
)


def load_documents(path: Path) -> list[Json]:
    """The documents of a file, in order; empty for an empty file.

    Raises:
        CassetteFormatError: The file is too large, too deep, not UTF-8 or not plain YAML.
        OSError: It cannot be read.
    """
    try:
        text = read_text(path, MAX_BYTES)
    except FormatProblem as refused:
        raise CassetteFormatError(path, "", refused.problem, _OTHERWISE) from refused
    try:
        _scan(path, text)
        return list(yaml.load_all(text, Loader=_Loader))
    except _BROKEN as error:
        problem = f"is not plain YAML: {_reason(error)}"
        raise CassetteFormatError(path, "", problem, "record it again") from error


class _Extent(NamedTuple):
    """How much something is, aliases written out: keys and values, and characters in them."""

    values: int
    characters: int


def _scan(path: Path, text: str) -> None:
    """Refuse what would be too deep or too large, and aliases of what is not finished."""
    values = characters = 0
    anchors: dict[str, _Extent | None] = {}
    open_before: list[tuple[_Extent, str | None]] = []
    for event in yaml.parse(text, Loader=_Loader):
        size = _Extent(0, 0)
        if isinstance(event, CollectionStartEvent):
            open_before.append((_Extent(values, characters), event.anchor))
            if event.anchor:
                anchors[event.anchor] = None
            if len(open_before) > MAX_DEPTH:
                raise _refused(path, event, f"is nested deeper than {MAX_DEPTH} levels")
            size = _Extent(1, 0)
        elif isinstance(event, CollectionEndEvent):
            before, anchor = open_before.pop()
            if anchor:
                anchors[anchor] = _Extent(values - before.values, characters - before.characters)
        elif isinstance(event, AliasEvent):
            name = event.anchor or ""
            aliased = anchors.get(name)
            if aliased is None:
                problem = "holds itself" if name in anchors else "stands for nothing"
                raise _refused(path, event, f"the alias `{shortened(name, 60)}` {problem}")
            size = aliased
        elif isinstance(event, ScalarEvent):
            size = _Extent(1, len(event.value))
            if event.anchor:
                anchors[event.anchor] = size
        values += size.values
        characters += size.characters
        if values > MAX_VALUES:
            raise _refused(path, event, f"holds more than {MAX_VALUES:,} values")
        if characters > MAX_BYTES:
            problem = f"holds more than {MAX_BYTES >> 20} million characters of text"
            raise _refused(path, event, f"{problem} with its aliases written out")


def _refused(path: Path, event: Event, problem: str) -> CassetteFormatError:
    line = f"line {event.start_mark.line + 1}: " if event.start_mark else ""
    return CassetteFormatError(path, "", line + problem, "record it again")


def _reason(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    place = "" if mark is None else f"line {mark.line + 1}: "
    return place + (getattr(error, "problem", None) or str(error).splitlines()[0])
