"""Checks of values, with the messages of zod 3, which authors of files for the core know.

A check adds issues and returns how bad a value is: a value of the right shape that breaks a rule
is `DIRTY`, a value of the wrong shape `INVALID`. Of a union's branches the first that is merely
dirty reports its issues alone. Source: core `agents/agentLoader.ts`, `policy/toml-loader.ts`.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from services.wire import Json, js_number

__all__ = [
    "UNDEFINED",
    "BigInt",
    "Check",
    "Issue",
    "Rule",
    "Status",
    "YamlDate",
    "absent",
    "anything_in_object",
    "array",
    "boolean",
    "discriminated",
    "literal",
    "mapping",
    "number",
    "one_of",
    "optional",
    "record",
    "refused",
    "text",
    "union",
]

Place = tuple[str | int, ...]


class BigInt(int):
    """A whole number that JavaScript does not have as a number."""


class YamlDate:
    """A date, which YAML has and JSON has not."""


class _Undefined:
    """The value of a field, or of a document, that is not there."""

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED: Final = _Undefined()


class Status(IntEnum):
    """How bad a value is."""

    VALID = 0
    DIRTY = 1
    INVALID = 2


@dataclass(frozen=True, slots=True)
class Issue:
    """What is wrong where. `branches` are those of a union of which none fits."""

    place: Place
    message: str
    branches: tuple[tuple[Issue, ...], ...] = ()


Check = Callable[[Json, Place, list[Issue]], Status]
Rule = tuple[Callable[[Json], bool], str]
"""What must hold of a value of the right type, and what to say where it does not."""


def kind_of(value: Json) -> str:
    """The name of a value's type."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, BigInt):
        return "bigint"
    if isinstance(value, (int, float)):
        return "nan" if math.isnan(value) else "number"
    if isinstance(value, (YamlDate, datetime.date, datetime.time)):
        return "date"
    known: Final[dict[type, str]] = {str: "string", list: "array", dict: "object"}
    return known.get(type(value), "null" if value is None else "undefined")


def refused(expected: str, value: Json, place: Place, issues: list[Issue]) -> Status:
    """Add the issue of a value of another type."""
    received = kind_of(value)
    said = "Required" if received == "undefined" else f"Expected {expected}, received {received}"
    issues.append(Issue(place, said))
    return Status.INVALID


def _typed(expected: str, rules: tuple[Rule, ...]) -> Check:
    def check(value: Json, place: Place, issues: list[Issue]) -> Status:
        if kind_of(value) != expected:
            return refused(expected, value, place, issues)
        broken = [Issue(place, message) for holds, message in rules if not holds(value)]
        issues.extend(broken)
        return Status.DIRTY if broken else Status.VALID

    return check


def text(*rules: Rule) -> Check:
    """A text for which all rules hold."""
    return _typed("string", rules)


def number(*rules: Rule) -> Check:
    """A number for which all rules hold."""
    return _typed("number", rules)


def boolean() -> Check:
    """True or false."""
    return _typed("boolean", ())


def absent() -> Check:
    """Nothing at all."""
    return _typed("undefined", ())


def anything_in_object() -> Check:
    """A mapping with any entries."""
    return _typed("object", ())


def literal(expected: str) -> Check:
    """Exactly this text."""

    def check(value: Json, place: Place, issues: list[Issue]) -> Status:
        if value == expected:
            return Status.VALID
        issues.append(Issue(place, f'Invalid literal value, expected "{expected}"'))
        return Status.INVALID

    return check


def one_of(*words: str, native: bool = False) -> Check:
    """One of these texts; `native`: of an enum of TypeScript, whose values may be numbers."""
    listed = " | ".join(f"'{word}'" for word in words)
    kinds = ("string", "number") if native else ("string",)

    def check(value: Json, place: Place, issues: list[Issue]) -> Status:
        if kind_of(value) not in kinds:
            return refused(listed, value, place, issues)
        if value in words:
            return Status.VALID
        received = value if isinstance(value, str) else js_number(value)
        issues.append(Issue(place, f"Invalid enum value. Expected {listed}, received '{received}'"))
        return Status.INVALID

    return check


def optional(inner: Check) -> Check:
    """What `inner` wants, or nothing."""

    def check(value: Json, place: Place, issues: list[Issue]) -> Status:
        return Status.VALID if value is UNDEFINED else inner(value, place, issues)

    return check


def array(item: Check) -> Check:
    """A list of such items."""

    def check(value: Json, place: Place, issues: list[Issue]) -> Status:
        if not isinstance(value, list):
            return refused("array", value, place, issues)
        found = [item(entry, (*place, index), issues) for index, entry in enumerate(value)]
        return max(found, default=Status.VALID)

    return check


def record(item: Check) -> Check:
    """A mapping from any names to such items."""

    def check(value: Json, place: Place, issues: list[Issue]) -> Status:
        if not isinstance(value, dict):
            return refused("object", value, place, issues)
        found = [item(entry, (*place, name), issues) for name, entry in value.items()]
        return max(found, default=Status.VALID)

    return check


def mapping(fields: Mapping[str, Check], *, strict: bool = False) -> Check:
    """A mapping with these fields; `strict`: with no others."""

    def check(value: Json, place: Place, issues: list[Issue]) -> Status:
        if not isinstance(value, dict):
            return refused("object", value, place, issues)
        found = [
            field(value.get(name, UNDEFINED), (*place, name), issues)
            for name, field in fields.items()
        ]
        unknown = [name for name in value if name not in fields] if strict else []
        if unknown:
            listed = ", ".join(f"'{name}'" for name in unknown)
            issues.append(Issue(place, f"Unrecognized key(s) in object: {listed}"))
            found.append(Status.DIRTY)
        return max(found, default=Status.VALID)

    return check


def union(*options: Check) -> Check:
    """What one of the options wants."""

    def check(value: Json, place: Place, issues: list[Issue]) -> Status:
        branches: list[tuple[Issue, ...]] = []
        dirty: list[Issue] | None = None
        for option in options:
            own: list[Issue] = []
            status = option(value, place, own)
            if status is Status.VALID:
                return status
            if status is Status.DIRTY and dirty is None:
                dirty = own
            branches.append(tuple(own))
        if dirty is not None:
            issues.extend(dirty)
            return Status.DIRTY
        issues.append(Issue(place, "Invalid input", tuple(branches)))
        return Status.INVALID

    return check


def discriminated(key: str, options: Mapping[str, Check]) -> Check:
    """What the option wants that the field `key` names."""
    listed = " | ".join(f"'{name}'" for name in options)

    def check(value: Json, place: Place, issues: list[Issue]) -> Status:
        if not isinstance(value, dict):
            return refused("object", value, place, issues)
        named = value.get(key, UNDEFINED)
        if not isinstance(named, str) or named not in options:
            message = f"Invalid discriminator value. Expected {listed}"
            issues.append(Issue((*place, key), message))
            return Status.INVALID
        return options[named](value, place, issues)

    return check
