"""Checks of values that say what is wrong in the words that authors of agents know.

A check adds issues and returns how bad it is: a value of the right shape that breaks a rule is
`DIRTY`, one of the wrong shape `INVALID`. Of a union's branches the first that is merely dirty
speaks alone. Source: zod 3, which core `agents/agentLoader.ts` uses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from services.subagents.front_matter import UNDEFINED, YamlDate
from services.wire import Json

__all__ = [
    "Check",
    "Issue",
    "Rule",
    "Status",
    "absent",
    "array",
    "boolean",
    "discriminated",
    "literal",
    "mapping",
    "number",
    "one_of",
    "optional",
    "record",
    "text",
    "union",
]

Place = tuple[str | int, ...]


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
    if isinstance(value, (int, float)):
        return "nan" if math.isnan(value) else "number"
    known: Final = {str: "string", list: "array", dict: "object", YamlDate: "date"}
    return known.get(type(value), "null" if value is None else "undefined")


def _refused(expected: str, value: Json, place: Place, issues: list[Issue]) -> Status:
    received = kind_of(value)
    said = "Required" if received == "undefined" else f"Expected {expected}, received {received}"
    issues.append(Issue(place, said))
    return Status.INVALID


def _typed(expected: str, rules: tuple[Rule, ...]) -> Check:
    def check(value: Json, place: Place, issues: list[Issue]) -> Status:
        if kind_of(value) != expected:
            return _refused(expected, value, place, issues)
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


def literal(expected: str) -> Check:
    """Exactly this text."""

    def check(value: Json, place: Place, issues: list[Issue]) -> Status:
        if value == expected:
            return Status.VALID
        issues.append(Issue(place, f'Invalid literal value, expected "{expected}"'))
        return Status.INVALID

    return check


def one_of(*words: str) -> Check:
    """One of these texts."""
    listed = " | ".join(f"'{word}'" for word in words)

    def check(value: Json, place: Place, issues: list[Issue]) -> Status:
        if not isinstance(value, str):
            return _refused(listed, value, place, issues)
        if value in words:
            return Status.VALID
        issues.append(Issue(place, f"Invalid enum value. Expected {listed}, received '{value}'"))
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
            return _refused("array", value, place, issues)
        found = [item(entry, (*place, index), issues) for index, entry in enumerate(value)]
        return max(found, default=Status.VALID)

    return check


def record(item: Check) -> Check:
    """A mapping from any names to such items."""

    def check(value: Json, place: Place, issues: list[Issue]) -> Status:
        if not isinstance(value, dict):
            return _refused("object", value, place, issues)
        found = [item(entry, (*place, name), issues) for name, entry in value.items()]
        return max(found, default=Status.VALID)

    return check


def mapping(fields: Mapping[str, Check], *, strict: bool = False) -> Check:
    """A mapping with these fields; `strict`: with no others."""

    def check(value: Json, place: Place, issues: list[Issue]) -> Status:
        if not isinstance(value, dict):
            return _refused("object", value, place, issues)
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
            return _refused("object", value, place, issues)
        named = value.get(key, UNDEFINED)
        if not isinstance(named, str) or named not in options:
            message = f"Invalid discriminator value. Expected {listed}"
            issues.append(Issue((*place, key), message))
            return Status.INVALID
        return options[named](value, place, issues)

    return check
