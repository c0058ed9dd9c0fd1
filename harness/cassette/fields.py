"""Reading a mapping: known keys only, each of its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from harness.cassette.problems import FormatProblem, Problems, kind_of, suggest
from services.wire import Json, JsonObject

__all__ = ["Fields", "text_of", "whole_of"]

T = TypeVar("T")


class Fields:
    """The mapping at `path`. The constructor checks its keys, each getter a type.

    Raises:
        FormatProblem: from the constructor for unknown keys, from getters for wrong types.
    """

    def __init__(self, value: Json, path: str, known: Sequence[str]) -> None:
        if not isinstance(value, dict):
            problem = f"must be a mapping, not {kind_of(value)}"
            raise FormatProblem(path, problem, f"write keys of {', '.join(known)} below it")
        self.path = path
        self._value: JsonObject = value
        problems = Problems()
        for key in value:
            if key not in known:
                problems.add(FormatProblem(self.at(key), "unknown key", suggest(key, known)))
        problems.refuse()

    def __contains__(self, key: str) -> bool:
        return key in self._value

    def at(self, key: str) -> str:
        """The path of `key`."""
        return f"{self.path}.{key}" if self.path else key

    def raw(self, key: str, default: Json = None) -> Json:
        """The value as it is."""
        return self._value.get(key, default)

    def need(self, key: str) -> Json:
        """The value of a key that must be there."""
        if key not in self._value:
            raise FormatProblem(self.at(key), "is missing", f"add `{key}:`")
        return self._value[key]

    def text(self, key: str, default: str | None = None) -> str:
        """Text; required when there is no default."""
        value = self.need(key) if default is None else self.raw(key, default)
        return text_of(value, self.at(key))

    def optional_text(self, key: str) -> str | None:
        """Text, or None where the key is absent or null."""
        value = self.raw(key)
        return None if value is None else text_of(value, self.at(key))

    def flag(self, key: str) -> bool:
        """True or false; false when absent."""
        return self._typed(key, self.raw(key, False), bool, "true or false", "write true or false")

    def items(self, key: str, *, required: bool = False) -> list[Json]:
        """A list; empty when absent and not required."""
        value = self.need(key) if required else self.raw(key, [])
        return self._typed(key, value, list, "a list", "write its items with `- `")

    def mapping(self, key: str) -> JsonObject:
        """A mapping; empty when absent."""
        mend = "write `key: value` lines below it"
        return self._typed(key, self.raw(key, {}), dict, "a mapping", mend)

    def _typed(self, key: str, value: Json, type_: type[T], expected: str, mend: str) -> T:
        if not isinstance(value, type_):
            problem = f"must be {expected}, not {kind_of(value)}"
            raise FormatProblem(self.at(key), problem, mend)
        return value

    def choice(self, key: str, choices: Mapping[str, T], default: str | None = None) -> T:
        """One of `choices`; required when there is no default."""
        value = self.need(key) if default is None else self.raw(key, default)
        if not isinstance(value, str) or value not in choices:
            problem = f"must be one of {', '.join(choices)}, not {kind_of(value)}"
            raise FormatProblem(self.at(key), problem, "write one of them")
        return choices[value]


def text_of(value: Json, path: str) -> str:
    """`value`, which must be text."""
    if not isinstance(value, str):
        raise FormatProblem(path, f"must be text, not {kind_of(value)}", "write text, in quotes")
    return value


def whole_of(value: Json, path: str, *, least: int = 0) -> int:
    """`value`, which must be a whole number from `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        problem = f"must be a whole number from {least}, not {kind_of(value)}"
        raise FormatProblem(path, problem, "write such a number")
    return value
