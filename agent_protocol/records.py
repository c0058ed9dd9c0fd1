"""The JSON objects of dataclasses, derived from their fields, for `codec`.

`snake_case` fields have `camelCase` keys, and `meta` has the key `_meta`. A `type` field with a
default is the tag of the dataclass. A decoder takes a JSON value and returns the Python value, or
raises `MalformedMessage` with a path inside the JSON value; its caller adds its own key in front
of the path (`below`).
"""

from __future__ import annotations

import dataclasses
import math
import re
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from agent_protocol.errors import MalformedMessage

__all__ = ["Record", "TaggedUnion", "Wire", "below", "obj", "record", "tagged_union"]

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


def _expected(what: str, value: Any) -> MalformedMessage:
    """The error for a value of a wrong type."""
    return MalformedMessage("", f"expected {what}, got {_kind(value)}")


def below(key: str, error: MalformedMessage) -> MalformedMessage:
    """Move an error one level up: decoders know only the path inside their own value."""
    joint = "" if not error.path or error.path.startswith("[") else "."
    return MalformedMessage(f"{key}{joint}{error.path}", error.problem)


def _text(value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise _expected("a string", value)
    return value


def _flag(value: Any) -> bool:
    """A boolean."""
    if not isinstance(value, bool):
        raise _expected("a boolean", value)
    return value


def _integer(value: Any) -> int:
    """A whole number; `3.0` is not one, nor is a boolean."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise _expected("an integer", value)
    return value


def _number(value: Any) -> float:
    """A finite number."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise _expected("a number", value)
    if isinstance(value, float) and not math.isfinite(value):
        raise MalformedMessage("", f"expected a finite number, got {value}")
    return value


def obj(value: Any) -> Mapping[str, Any]:
    """A JSON object, free-form: passed on untouched."""
    if not isinstance(value, Mapping):
        raise _expected("an object", value)
    return value


def _anything(value: Any) -> Any:
    """Any JSON value but null."""
    if value is None:
        raise _expected("a value", value)
    return value


def _choice(*choices: str) -> Decode:
    """One of `choices`."""

    def decode(value: Any) -> str:
        chosen = _text(value)
        if chosen not in choices:
            shown = reprlib.repr(chosen)
            raise MalformedMessage("", f"expected one of {', '.join(choices)}, got {shown}")
        return chosen

    return decode


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of a record. `encode` is `None` where the JSON value is the field's value."""

    attribute: str
    key: str
    decode: Decode
    encode: Encode | None
    required: bool
    nullable: bool


class Record:
    """One dataclass and its JSON object."""

    def __init__(self, build: Callable[..., Any], *fields: _Field, tagged: bool) -> None:
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
    """Records that `type` distinguishes."""

    def __init__(self, *builds: type) -> None:
        self._by_class = {build: record(build) for build in builds}
        self._by_tag = {_tag(build): found for build, found in self._by_class.items()}

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
            raise below("type", _expected("a string", tag))
        record = self._by_tag.get(tag)
        if record is None:
            raise MalformedMessage("type", f"unknown type {reprlib.repr(tag)}")
        return record.decode(mapping)


def _sequence(decode: Decode) -> Decode:
    """A list, returned as a tuple of its decoded items."""

    def decode_all(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            raise _expected("a list", value)
        items = []
        for index, item in enumerate(value):
            try:
                items.append(decode(item))
            except MalformedMessage as error:
                raise below(f"[{index}]", error) from None
        return tuple(items)

    return decode_all


_DECODERS: dict[Any, Decode] = {
    str: _text, bool: _flag, int: _integer, float: _number, Any: _anything, Mapping: obj
}  # fmt: skip
"""By a field's annotation, or its origin."""


def record(build: type, *, leave_out: str | None = None) -> Record:
    """The record of a dataclass, its `meta` last; the field `leave_out` has no part in it.

    A field without a default is required. A field with the metadata `nullable` may be null in
    JSON, which means the same as no key.
    """
    hints = get_type_hints(build)
    fields = [field for field in dataclasses.fields(build) if field.name != leave_out]
    tagged = any(_is_tag(field) for field in fields)
    return Record(
        build,
        *(
            _field(field, hints[field.name])
            for field in sorted(fields, key=lambda field: field.name == "meta")
            if not _is_tag(field)
        ),
        tagged=tagged,
    )


def tagged_union(union: UnionType) -> TaggedUnion:
    """The union of the dataclasses in `union`, which all have tags."""
    return TaggedUnion(*get_args(union))


def _is_tag(field: dataclasses.Field[Any]) -> bool:
    return field.name == "type" and field.default is not dataclasses.MISSING


def _tag(build: type) -> Any:
    return next(field.default for field in dataclasses.fields(build) if _is_tag(field))


def _field(field: dataclasses.Field[Any], annotation: Any) -> _Field:
    decode, encode = _codec(annotation)
    return _Field(
        attribute=field.name,
        key="_meta" if field.name == "meta" else _camel_case(field.name),
        decode=decode,
        encode=encode,
        required=field.default is dataclasses.MISSING,
        nullable="nullable" in field.metadata,
    )


def _camel_case(name: str) -> str:
    return re.sub(r"_(.)", lambda match: match[1].upper(), name)


def _codec(annotation: Any) -> tuple[Decode, Encode | None]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if type(None) in arguments:
        present = [each for each in arguments if each is not type(None)]
        if len(present) == 1:
            return _codec(present[0])
        union = TaggedUnion(*present)
        return union.decode, union.encode
    if origin is tuple:
        union = tagged_union(arguments[0])
        encode = union.encode
        return _sequence(union.decode), lambda items: [encode(item) for item in items]
    if origin is Literal:
        return _choice(*arguments), None
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        of_class = record(annotation)
        return of_class.decode, of_class.encode
    return _DECODERS[origin or annotation], None
