"""Items with their hidden values, projection rules, and iterators over the values in an item."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from services.wire import JsonObject

__all__ = [
    "Hidden",
    "Item",
    "Rule",
    "dicts",
    "join",
    "leaves",
    "list_of",
    "rule",
    "strings",
]


@dataclass(frozen=True, slots=True)
class Hidden:
    """A value that a rule replaced. `scope` names the space of an id; other values have none."""

    rule: str
    value: Any
    scope: str | None = None


@dataclass(slots=True)
class Item:
    """A projected item: the compared value, its label, and the hidden values by path."""

    value: Any
    label: str
    hidden: dict[str, Hidden] = field(default_factory=dict)
    digest: bytes = b""

    def hide(self, rule: str, holder: Any, key: Any, path: str, shown: str) -> None:
        """Replace `holder[key]`, at `path` of the item, with the placeholder `shown`."""
        self.hidden[path] = Hidden(rule, holder[key])
        holder[key] = shown

    def rename(self, rule: str, holder: Any, key: str, path: str, scope: str) -> None:
        """Replace an id with a placeholder; ids of one scope must map one to one across sides."""
        self.hidden[path] = Hidden(rule, holder[key], scope)
        holder[key] = f"<{scope}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A named permission to differ."""

    name: str
    reason: str
    apply: Callable[[Item], None]
    marker: re.Pattern[str]
    """`apply` receives only items whose JSON matches: this saves time."""
    across: bool = False
    """Whether the rule applies only between engines with different prompts and descriptions."""


def rule(*, marker: str = "", across: bool = False) -> Callable[[Callable[[Item], None]], Rule]:
    """Decorate a function as a rule: its name and docstring are the rule's name and reason."""

    def made(function: Callable[[Item], None]) -> Rule:
        return Rule(
            name=function.__name__,
            reason=" ".join((function.__doc__ or "").split()),
            apply=function,
            marker=re.compile(marker),
            across=across,
        )

    return made


_OPENED = (
    "line",
    "event",
    "$set",
    "messages",
    "content",
    "parts",
    "newContents",
    "thoughts",
    "toolCalls",
    "result",
)
"""Keys below which our own records nest; texts of tools and users are never searched."""


def dicts(value: Any, path: str = "") -> Iterator[tuple[JsonObject, str]]:
    """The records in an item, outermost first, with their paths."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from dicts(item, f"{path}[{number}]")
    elif isinstance(value, dict):
        yield value, path
        for key in _OPENED:
            if key in value:
                yield from dicts(value[key], join(path, key))


def leaves(value: Any, path: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Every scalar with its holder and key; a leaf may be replaced while iterating."""
    pairs: list[tuple[Any, Any, str]] = []
    if isinstance(value, dict):
        pairs = [(key, item, join(path, key)) for key, item in value.items()]
    elif isinstance(value, list):
        pairs = [(number, item, f"{path}[{number}]") for number, item in enumerate(value)]
    for key, item, where in pairs:
        if isinstance(item, (dict, list)):
            yield from leaves(item, where)
        else:
            yield value, key, where


def strings(value: Any) -> Iterator[tuple[Any, Any, str]]:
    """Every text with its holder, key and path; it may be replaced while iterating."""
    for holder, key, path in leaves(value):
        if isinstance(holder[key], str):
            yield holder, key, path


def list_of(value: Any) -> list[Any]:
    """`value` if it is a list, else an empty list."""
    return value if isinstance(value, list) else []


def join(path: str, key: str) -> str:
    """The path of `key` below `path`."""
    return f"{path}.{key}" if path else key
