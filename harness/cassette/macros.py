"""Macros: short forms of texts and lists, and placeholders for the folders of a run.

`{$repeat: {text, times, sep}}`, `{$lines: {count, prefix, pad}}` and, in lists,
`{$times: N, item: …}` are expanded when a cassette is loaded, after `measure` has computed the size
of the result. A run fills in the placeholders, such as `<WS>`.

Source: the cassette format, "Macros".
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, NoReturn, TypeGuard, TypeVar

from harness.cassette.document import MAX_BYTES, MAX_VALUES
from harness.cassette.problems import FormatProblem, kind_of, suggest
from services.wire import Json

__all__ = [
    "Paths",
    "Size",
    "expand",
    "expanded_length",
    "has_placeholders",
    "measure",
    "substitute",
]

T = TypeVar("T")

_PLACEHOLDER = re.compile(r"<(WS|HOME|CASSETTES|PYTHON|PROJECT_HASH|PORT)>")
_COUNTED = re.compile(r"<(?:WS|HOME|CASSETTES|PYTHON|PROJECT_HASH|PORT|I)>")
_PLACEHOLDER_BYTES = 128
"""The assumed size of a filled-in placeholder, more than any path of a run has."""

_MACROS: Final = frozenset({"$repeat", "$lines", "$times"})
_CHUNK_MARKERS: Final = frozenset({"$hang", "$sleep"})
_PIECE_MARKERS: Final = frozenset({"$hang", "$raw", "$error", "$cut"})
"""The same in the streams of `http`."""
_DATA_KEYS: Final = frozenset({"records", "args", "json", "settings"})
"""Keys below which an unknown `$key` is data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """The replacements of a cassette's placeholders in one run."""

    workspace: Path
    home: Path
    cassettes: Path
    python: Path = Path(sys.executable)
    port: int | None = None
    """The port of the addresses in `http`; `None` for a run without them."""

    def values(self) -> dict[str, str]:
        """Placeholder, without its brackets → text."""
        found = {} if self.port is None else {"PORT": str(self.port)}
        return found | {
            "WS": str(self.workspace),
            "HOME": str(self.home),
            "CASSETTES": str(self.cassettes),
            "PYTHON": str(self.python),
            "PROJECT_HASH": hashlib.sha256(str(self.workspace).encode()).hexdigest(),
        }


@dataclass(frozen=True, slots=True)
class Size:
    """The size of an expanded value: bytes of text, and number of values."""

    bytes: int = 0
    values: int = 1

    def __add__(self, other: Size) -> Size:
        return Size(self.bytes + other.bytes, self.values + other.values)

    def __mul__(self, times: int) -> Size:
        return Size(self.bytes * times, self.values * times)


def measure(tree: Json) -> Size:
    """Check the macros in `tree` and compute its expanded size, without expanding it.

    Raises:
        FormatProblem: a macro is unknown or malformed, the result would exceed the limits, or a
            text has half of a surrogate pair.
    """
    walk = _Measure()
    try:
        size = walk.of(tree, parent="", data=False)
    except UnicodeEncodeError as error:
        problem = "holds half of a surrogate pair, which is no text"
        raise FormatProblem(walk.path, problem, "write the character itself") from error
    if size.bytes > MAX_BYTES:
        problem = f"expands to {size.bytes:,} bytes, more than {MAX_BYTES >> 20} MB"
        raise FormatProblem("", problem, "lower `times`, `count` or `repeat`")
    if size.values > MAX_VALUES:
        problem = f"expands to {size.values:,} values, more than {MAX_VALUES:,}"
        raise FormatProblem("", problem, "lower `times`, `$times` or `repeat`")
    return size


def expand(tree: Json) -> Json:
    """Return `tree` with its macros expanded. `measure` must have checked it."""
    return _expand(tree, None)


def expanded_length(items: Json) -> int:
    """Return the length of a list with `$times` and its mappings' `repeat` expanded."""
    if not isinstance(items, list):
        return 0
    return sum(_item_length(item) for item in items)


def _item_length(item: Json) -> int:
    if not isinstance(item, dict):
        return 1
    if "$times" in item:
        return _factor(item["$times"]) * _item_length(item.get("item"))
    return _factor(item.get("repeat", 1))


def _factor(value: Json) -> int:
    return value if _is_count(value) else 1


def has_placeholders(tree: Json) -> bool:
    """Return whether `substitute` would change anything in expanded JSON."""
    if isinstance(tree, str):
        return "<" in tree and _PLACEHOLDER.search(tree) is not None
    if isinstance(tree, dict):
        return any(has_placeholders(value) for value in tree.values())
    return isinstance(tree, list) and any(has_placeholders(value) for value in tree)


def substitute(value: T, paths: Paths) -> T:
    """Return `value` with the placeholders of all its texts filled in.

    Goes through lists, tuples, mappings (values, not keys) and dataclasses; what has no
    placeholder in it is returned as it is, not copied.
    """
    texts = paths.values()

    def fill(text: str) -> str:
        return (
            _PLACEHOLDER.sub(lambda match: texts.get(match[1], match[0]), text)
            if "<" in text
            else text
        )

    result: T = _map_text(value, fill)
    return result


def _map_text(value: Any, fill: Callable[[str], str]) -> Any:
    if type(value) is str:
        return fill(value)
    if isinstance(value, dict):
        filled = {key: _map_text(item, fill) for key, item in value.items()}
        return filled if any(filled[key] is not value[key] for key in value) else value
    if isinstance(value, (list, tuple)):
        items = [_map_text(item, fill) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return type(value)(items)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = {}
        for field in dataclasses.fields(value):
            old = getattr(value, field.name)
            new = _map_text(old, fill)
            if new is not old:
                changed[field.name] = new
        return dataclasses.replace(value, **changed) if changed else value
    return value


class _Measure:
    """One walk over a tree; `_path` is the current position."""

    def __init__(self) -> None:
        self._path: list[str] = []

    def of(self, node: Json, *, parent: str, data: bool) -> Size:
        """Return the size of `node`, the value of key `parent`; with `data`, `$keys` are data."""
        if isinstance(node, str):
            return Size(_text_bytes(node))
        if isinstance(node, list):
            return self._list(node, parent, data)
        if isinstance(node, dict):
            return self._mapping(node, parent, data)
        return Size(8)

    def _list(self, node: list[Json], parent: str, data: bool) -> Size:
        size = Size()
        for position, item in enumerate(node):
            self._path.append(f"[{position}]")
            if isinstance(item, dict) and "$times" in item:
                size += self._times(item, parent, data)
            else:
                size += self.of(item, parent=parent, data=data)
            self._path.pop()
        return size

    def _mapping(self, node: dict[str, Json], parent: str, data: bool) -> Size:
        for key in node:
            if key.startswith("$"):
                if key in _MACROS and (len(node) == 1 or not data):
                    return self._macro(node, key)
                markers = self._markers(parent)
                if not data and key not in markers:
                    self._refuse(key, "unknown macro", suggest(key, _MACROS | markers))
        size = Size()
        for key, value in node.items():
            self._path.append(f".{key}")
            size += Size(_text_bytes(key), 0)
            size += self.of(value, parent=key, data=data or key in _DATA_KEYS)
            self._path.pop()
        repeat = node.get("repeat")
        if parent in ("model", "http") and not data and _is_count(repeat):
            # The reader of steps refuses a `repeat` of 0 later.
            size *= max(repeat, 1)
        return size

    def _markers(self, parent: str) -> frozenset[str]:
        if parent != "stream":
            return frozenset()
        return _PIECE_MARKERS if self._path[0] == ".http" else _CHUNK_MARKERS

    def _macro(self, node: dict[str, Json], key: str) -> Size:
        if key == "$times":
            mend = "put `- $times: N` with `item:` in a list"
            self._refuse(key, "is not an item of a list", mend)
        if len(node) > 1:
            others = ", ".join(name for name in node if name != key)
            self._refuse(key, f"stands beside {others}", f"{key} must be the only key there")
        value = node[key]
        if key == "$repeat":
            self._fields(value, key, {"text": str, "times": int}, {"sep": str})
            text, sep = _text_bytes(value["text"]), _text_bytes(value.get("sep", ""))
            return Size(text * value["times"] + sep * max(0, value["times"] - 1))
        self._fields(value, key, {"count": int}, {"prefix": str, "pad": int})
        line = _text_bytes(value.get("prefix", "")) + len(str(value["count"])) + 1
        return Size((line + value.get("pad", 0)) * value["count"])

    def _times(self, node: dict[str, Json], parent: str, data: bool) -> Size:
        if set(node) != {"$times", "item"}:
            self._refuse(
                "$times", "goes with `item` and nothing else", "write {$times: N, item: …}"
            )
        if not _is_count(node["$times"]):
            self._refuse("$times", f"must be a whole number, not {kind_of(node['$times'])}", _COUNT)
        self._path.append(".item")
        size = self.of(node["item"], parent=parent, data=data)
        self._path.pop()
        return size * node["$times"]

    def _fields(
        self, value: Json, macro: str, required: dict[str, type], optional: dict[str, type]
    ) -> None:
        known = {**required, **optional}
        form = ", ".join(known)
        if not isinstance(value, dict):
            self._refuse(macro, f"takes a mapping, not {kind_of(value)}", f"write {{{form}}}")
        for key in value:
            if key not in known:
                self._refuse(f"{macro}.{key}", "unknown key", suggest(key, known))
        for key, type_ in known.items():
            if key not in value:
                if key in required:
                    self._refuse(f"{macro}.{key}", "is missing", f"write {{{form}}}")
            elif type_ is int and not _is_count(value[key]):
                problem = f"must be a whole number, not {kind_of(value[key])}"
                self._refuse(f"{macro}.{key}", problem, _COUNT)
            elif type_ is str and not isinstance(value[key], str):
                problem = f"must be text, not {kind_of(value[key])}"
                self._refuse(f"{macro}.{key}", problem, "quote it")

    @property
    def path(self) -> str:
        """Return the current position as a path."""
        return "".join(self._path).removeprefix(".")

    def _refuse(self, key: str, problem: str, mend: str) -> NoReturn:
        raise FormatProblem(f"{self.path}.{key}".removeprefix("."), problem, mend)


_PIECE: Final = 1_000
_MAX_COUNT = 1_000_000_000
_COUNT = f"write a number from 0 to {_MAX_COUNT:,}"


def _is_count(value: Json) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_COUNT


def _text_bytes(text: str) -> int:
    size = len(text) if text.isascii() else len(text.encode())
    if "<" in text:
        size += _PLACEHOLDER_BYTES * len(_COUNTED.findall(text))
    return size


def _expand(node: Json, index: int | None) -> Json:
    if isinstance(node, str):
        return node.replace("<I>", str(index)) if index is not None and "<I>" in node else node
    if isinstance(node, list):
        return _expand_list(node, index)
    if not isinstance(node, dict):
        return node
    if len(node) == 1:
        if "$repeat" in node:
            return _repeated(**_expand(node["$repeat"], index))
        if "$lines" in node:
            return _numbered(**_expand(node["$lines"], index))
    return {key: _expand(value, index) for key, value in node.items()}


def _repeated(text: str, times: int, sep: str = "") -> str:
    # A single `join` would build a list of all pieces, much larger than the text.
    return (text + sep) * (times - 1) + text if times else ""


def _numbered(count: int, prefix: str = "", pad: int = 0) -> str:
    if not count:
        return ""
    tail = "." * pad + "\n"
    lines = (f"{prefix}{line}{tail}" for line in range(1, count + 1))
    # Join piece by piece, to keep the lines of only one piece in memory.
    return "".join(iter(lambda: "".join(islice(lines, _PIECE)), ""))


def _expand_list(items: list[Json], index: int | None) -> list[Json]:
    expanded: list[Json] = []
    for item in items:
        if isinstance(item, dict) and "$times" in item:
            expanded.extend(_expand(item["item"], number) for number in range(item["$times"]))
        else:
            expanded.append(_expand(item, index))
    return expanded
