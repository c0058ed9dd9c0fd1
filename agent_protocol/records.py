"""Describing JSON objects as tables, for `codec`: fields, records, tagged unions.

A decoder takes a JSON value and returns Python's, or raises `MalformedMessage` with a path inside
that value; whoever called it puts its own key in front (`below`).
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_protocol.errors import MalformedMessage

__all__ = [
    "Decode",
    "Encode",
    "Field",
    "Record",
    "TaggedUnion",
    "Wire",
    "anything",
    "below",
    "choice",
    "expected",
    "flag",
    "integer",
    "need",
    "number",
    "obj",
    "sequence",
    "text",
]

Wire = dict[str, Any]
Decode = Callable[[Any], Any]
Encode = Callable[[Any], Any]


def _kind(value: Any) -> str:
    """Name `value`'s JSON type, for error messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, (list, tuple)):
        return "a list"
    return "an object" if isinstance(value, Mapping) else type(value).__name__


def expected(what: str, value: Any) -> MalformedMessage:
    """The error for a value of a wrong type."""
    return MalformedMessage("", f"expected {what}, got {_kind(value)}")


def below(key: str, error: MalformedMessage) -> MalformedMessage:
    """Move an error one level up: decoders know only the path inside their own value."""
    joint = "" if not error.path or error.path.startswith("[") else "."
    return MalformedMessage(f"{key}{joint}{error.path}", error.problem)


def text(value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise expected("a string", value)
    return value


def flag(value: Any) -> bool:
    """A boolean."""
    if not isinstance(value, bool):
        raise expected("a boolean", value)
    return value


def integer(value: Any) -> int:
    """A whole number; `3.0` is not one, nor is a boolean."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise expected("an integer", value)
    return value


def number(value: Any) -> float:
    """A finite number."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise expected("a number", value)
    if isinstance(value, float) and not math.isfinite(value):
        raise MalformedMessage("", f"expected a finite number, got {value}")
    return value


def obj(value: Any) -> Mapping[str, Any]:
    """A JSON object, free-form: passed on untouched."""
    if not isinstance(value, Mapping):
        raise expected("an object", value)
    return value


def anything(value: Any) -> Any:
    """Any JSON value but null."""
    if value is None:
        raise expected("a value", value)
    return value


def choice(*choices: str) -> Decode:
    """One of `choices`."""

    def decode(value: Any) -> str:
        chosen = text(value)
        if chosen not in choices:
            shown = reprlib.repr(chosen)
            raise MalformedMessage("", f"expected one of {', '.join(choices)}, got {shown}")
        return chosen

    return decode


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record. `encode` is None where the value goes out as it is."""

    attribute: str
    key: str
    decode: Decode
    encode: Encode | None = None
    required: bool = False
    nullable: bool = False


def need(attribute: str, key: str, decode: Decode, encode: Encode | None = None) -> Field:
    """A field that must be there."""
    return Field(attribute, key, decode, encode, required=True)


class Record:
    """One dataclass of the contract and its JSON object."""

    def __init__(self, build: Callable[..., Any], *fields: Field, tagged: bool = True) -> None:
        self._build = build
        self._fields = fields
        self._known = {field.key for field in fields} | ({"type"} if tagged else set())
        tag: tuple[tuple[str, str, Encode | None], ...] = (("type", "type", None),)
        self._plan = (tag if tagged else ()) + tuple((f.attribute, f.key, f.encode) for f in fields)

    def encode(self, value: Any) -> Wire:
        """The JSON object of `value`, without keys for what is None."""
        wire: Wire = {}
        for attribute, key, encode in self._plan:
            item = getattr(value, attribute)
            if item is not None:
                wire[key] = item if encode is None else encode(item)
        return wire

    def decode(self, value: Any) -> Any:
        """Build the dataclass from a JSON object.

        Raises:
            MalformedMessage: an unknown key, a missing one, or a wrong value.
        """
        mapping = obj(value)
        for key in mapping:
            if key not in self._known:
                raise MalformedMessage(str(key), "unknown key")
        arguments: dict[str, Any] = {}
        for field in self._fields:
            if field.key not in mapping:
                if field.required:
                    raise MalformedMessage(field.key, "missing")
                continue
            item = mapping[field.key]
            if item is None and field.nullable:
                continue
            try:
                arguments[field.attribute] = field.decode(item)
            except MalformedMessage as error:
                raise below(field.key, error) from None
        return self._build(**arguments)


class TaggedUnion:
    """Records told apart by `type`."""

    def __init__(self, **records: tuple[type, Record]) -> None:
        self._by_tag = {tag: record for tag, (_, record) in records.items()}
        self._by_class = dict(records.values())

    def encode(self, value: Any) -> Wire:
        """The JSON object of `value`.

        Raises:
            TypeError: `value` is of no class of this union.
        """
        record = self._by_class.get(type(value))
        if record is None:
            raise TypeError(f"{type(value).__name__} is not of the contract")
        return record.encode(value)

    def decode(self, value: Any) -> Any:
        """Build the dataclass that `type` names.

        Raises:
            MalformedMessage: `type` is missing or unknown, or as `Record.decode`.
        """
        mapping = obj(value)
        if "type" not in mapping:
            raise MalformedMessage("type", "missing")
        tag = mapping["type"]
        if not isinstance(tag, str):
            raise below("type", expected("a string", tag))
        record = self._by_tag.get(tag)
        if record is None:
            raise MalformedMessage("type", f"unknown type {reprlib.repr(tag)}")
        return record.decode(mapping)


def sequence(decode: Decode) -> Decode:
    """A list, as a tuple of what `decode` makes of its items."""

    def decode_all(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            raise expected("a list", value)
        items = []
        for index, item in enumerate(value):
            try:
                items.append(decode(item))
            except MalformedMessage as error:
                raise below(f"[{index}]", error) from None
        return tuple(items)

    return decode_all
