"""Reads YAML from outside within bounds: builds values from the parser's events.

No recursion runs over input of unknown depth. Limits are checked while the value grows, and an
alias counts as much as its value. A subclass defines scalars, keys and tags.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from services.wire import Json

__all__ = ["FAST_LOADER", "YAML_TAG", "YamlProblem", "YamlReader", "is_merge"]

FAST_LOADER: Final[type[yaml.SafeLoader]] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The safe loader, in C where PyYAML was built so."""
YAML_TAG: Final = "tag:yaml.org,2002:"


class YamlProblem(ValueError):
    """YAML that is refused; `mend` says what to write instead, where that is known."""

    def __init__(self, problem: str, event: Event, mend: str = "", key: str | None = None) -> None:
        super().__init__(problem)
        self.mend = mend
        self.line = event.start_mark.line + 1 if event.start_mark else 0
        self.path: list[str | int] = [] if key is None else [key]
        """The keys and indices that lead to it."""


class _Extent(NamedTuple):
    """The size of a value with its aliases written out."""

    values: int = 0
    characters: int = 0
    depth: int = 0


@dataclass(slots=True)
class _Open:
    """A collection that is being built: items, or keys with their values."""

    event: MappingStartEvent | SequenceStartEvent
    values: int
    """How many had been read before it."""
    characters: int
    items: list[Any] = field(default_factory=list)
    key: tuple[NodeEvent, Json] | None = None
    depth: int = 1

    @property
    def wants_key(self) -> bool:
        return isinstance(self.event, MappingStartEvent) and self.key is None


class YamlReader:
    """Reads one text. Methods of a subclass raise `YamlProblem`."""

    loader: ClassVar[type[yaml.SafeLoader]] = FAST_LOADER
    words: ClassVar[Mapping[str, str]] = {}
    """Messages in place of the usual ones, by problem: `deep`, `many`, `tag`."""
    mends: ClassVar[Mapping[str, str]] = {}
    """How to mend it, by the same keys and `document`."""
    most_documents: ClassVar[int | None] = 1
    counts_keys: ClassVar[bool] = True

    def __init__(self, max_depth: int, max_values: int, max_characters: int | None = None) -> None:
        self._max_depth = max_depth
        self._max_values = max_values
        self._max_characters = max_characters
        self._documents: list[Json] = []
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Json, _Extent] | None] = {}
        self._values = 0
        self._characters = 0

    def read(self, text: str) -> list[Json]:
        """The documents of `text`, in order.

        Raises:
            YamlProblem: something that is not allowed, or a bound that is passed.
            yaml.YAMLError: it is not YAML.
        """
        try:
            for event in yaml.parse(text, Loader=self.loader):
                self._take(event)
        except YamlProblem as problem:
            problem.path[:0] = self._path()
            raise
        except yaml.MarkedYAMLError as error:
            # The parser reads ahead, and its own limit (libyaml: 1,000) may come first.
            if "nesting depth" not in str(error.problem):
                raise
            raise self._too_deep(Event(error.problem_mark)) from None
        return self._documents

    def scalar(self, event: ScalarEvent) -> Json:
        """The value of a scalar that is not a key."""
        raise NotImplementedError

    def key(self, event: NodeEvent, value: Json) -> Json:
        """A mapping's key; `value` is that of a collection or an alias."""
        raise NotImplementedError

    def mapping(self, entries: list[tuple[NodeEvent, Json, Json]]) -> Json:
        """The mapping of these entries: a key as it is written, the key, its value."""
        raise NotImplementedError

    def anchor(self, event: NodeEvent) -> None:
        """A value gets a name, or is used by it."""

    def problem(self, kind: str, usual: str, event: Event) -> YamlProblem:
        """A problem with this reader's message."""
        words = self.words.get(kind, usual).format(str(getattr(event, "tag", ""))[:60])
        return YamlProblem(words, event, self.mends.get(kind, ""))

    def _too_deep(self, event: Event) -> YamlProblem:
        return self.problem("deep", f"is nested deeper than {self._max_depth} levels", event)

    def _take(self, event: Event) -> None:
        if isinstance(event, DocumentStartEvent):
            self._anchors.clear()
            if len(self._documents) == self.most_documents:
                raise self.problem("document", "a second document begins", event)
        elif isinstance(event, ScalarEvent):
            self._scalar(event)
        elif isinstance(event, (MappingStartEvent, SequenceStartEvent)):
            self._begin(event)
        elif isinstance(event, CollectionEndEvent):
            self._end()
        elif isinstance(event, AliasEvent):
            self._alias(event)

    def _path(self) -> list[str | int]:
        path: list[str | int] = []
        for each in self._open:
            if isinstance(each.event, SequenceStartEvent):
                path.append(len(each.items))
            elif each.key is not None:
                path.append(str(each.key[1]))
        return path

    def _scalar(self, event: ScalarEvent) -> None:
        is_key = bool(self._open) and self._open[-1].wants_key
        if event.anchor is not None:
            self.anchor(event)
        size = _Extent(int(self.counts_keys or not is_key), len(event.value))
        self._grow(size, event)
        value = None if is_key and event.anchor is None else self.scalar(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, size)
        self._add(event, value)

    def _begin(self, event: MappingStartEvent | SequenceStartEvent) -> None:
        if event.anchor is not None:
            self.anchor(event)
            self._anchors[event.anchor] = None
        kind = "map" if isinstance(event, MappingStartEvent) else "seq"
        if event.tag not in (None, "!", YAML_TAG + kind):
            raise self.problem("tag", "the tag {} is not allowed", event)
        self._open.append(_Open(event, self._values, self._characters))
        self._grow(_Extent(values=1), event)

    def _end(self) -> None:
        done = self._open[-1]
        value: Json = done.items
        if isinstance(done.event, MappingStartEvent):
            value = self.mapping(done.items)
        self._open.pop()
        if done.event.anchor is not None:
            size = _Extent(
                self._values - done.values,
                self._characters - done.characters,
                done.depth,
            )
            self._anchors[done.event.anchor] = (value, size)
        self._deepen(done.depth)
        self._add(done.event, value)

    def _alias(self, event: AliasEvent) -> None:
        self.anchor(event)
        name = event.anchor or ""
        known = self._anchors.get(name)
        if known is None:
            what = "refers to itself" if name in self._anchors else "stands for nothing"
            raise YamlProblem(f"the alias `{name[:60]}` {what}", event)
        value, size = known
        self._grow(size, event)
        self._deepen(size.depth)
        self._add(event, value)

    def _deepen(self, depth: int) -> None:
        if self._open:
            self._open[-1].depth = max(self._open[-1].depth, depth + 1)

    def _grow(self, size: _Extent, event: Event) -> None:
        self._values += size.values
        self._characters += size.characters
        if len(self._open) + size.depth > self._max_depth:
            raise self._too_deep(event)
        if self._values > self._max_values:
            raise self.problem("many", f"holds more than {self._max_values:,} values", event)
        most = self._max_characters
        if most is not None and self._characters > most:
            problem = f"holds more than {most >> 20} million characters of text"
            raise YamlProblem(f"{problem} with its aliases written out", event)

    def _add(self, event: NodeEvent, value: Json) -> None:
        if not self._open:
            self._documents.append(value)
            return
        parent = self._open[-1]
        if parent.wants_key:
            parent.key = (event, self.key(event, value))
        elif parent.key is not None:
            parent.items.append((*parent.key, value))
            parent.key = None
        else:
            parent.items.append(value)


def is_merge(event: NodeEvent) -> bool:
    """Whether a key is `<<`, whose value is merged into the mapping."""
    return (
        isinstance(event, ScalarEvent)
        and event.implicit[0]
        and event.tag is None
        and event.value == "<<"
    )
