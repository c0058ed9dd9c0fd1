"""Checks values as Zod does, with Zod's messages, which authors and models read.

`ZOD3` is the version that the published core itself uses, `ZOD4` the one of the MCP SDK. Both build
shapes: functions that return a value as it is passed on, and append what is wrong with it.

Source: npm `zod` 3 (`locales/en.ts`, `types.ts`) and 4 (`v4/core/schemas.ts`, `v4/locales/en.ts`).
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from services.wire import Json, JsonObject, js_json, js_text

__all__ = [
    "UNDEFINED",
    "ZOD3",
    "ZOD3_TOML",
    "ZOD4",
    "Issue",
    "Path",
    "Rule",
    "Shape",
    "Zod",
    "issues_of",
]

Path = tuple[str | int, ...]


class _Undefined:
    """The value of an absent field."""

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED: Final = _Undefined()


@dataclass(frozen=True, slots=True)
class Issue:
    """What is wrong at `path`."""

    path: Path
    message: str
    dirty: bool = False
    """The value has the right type and breaks a rule. Of a union's branches, the first that is only
    dirty is reported alone."""
    branches: tuple[tuple[Issue, ...], ...] = ()
    """The issues of each branch of a union that refuses the value."""
    about: JsonObject = field(default_factory=dict)
    """Further fields, which come first."""

    def to_json(self) -> JsonObject:
        """As the error's message lists it."""
        return {**self.about, "path": list(self.path), "message": self.message}


Shape = Callable[[Json, Path, list[Issue]], Json]
Rule = tuple[Callable[[Any], bool], str]
"""What must hold of a value of the right type, and the message where it does not."""

_LARGEST_NUMBER: Final = 2**53 - 1


def issues_of(shape: Shape, value: Json) -> list[Issue]:
    """All that is wrong with `value`."""
    issues: list[Issue] = []
    shape(value, (), issues)
    return issues


class Zod:
    """Builds shapes; a subclass has the messages of one version."""

    record_type = "object"
    dropped: frozenset[str] = frozenset()
    """Keys that are never passed on."""
    paths_in_branches = True
    """Whether the issues of a union's branches have the whole path."""

    def wrong_type(self, expected: str, value: Json, path: Path) -> Issue:
        """The value is of another type than `expected`."""
        raise NotImplementedError

    def not_one_of(self, values: Sequence[str], value: Json, path: Path) -> Issue:
        """The value is none of some texts."""
        raise NotImplementedError

    def no_branch(self, branches: Sequence[Sequence[Issue]], path: Path) -> Issue:
        """No branch of a union takes the value."""
        raise NotImplementedError

    def kind_of(self, value: Json) -> str:
        """The name of a value's type."""
        if value is None or value is UNDEFINED:
            return "null" if value is None else "undefined"
        if isinstance(value, bool):
            return "boolean"
        if isinstance(value, (int, float)):
            return "nan" if math.isnan(value) else "number"
        if isinstance(value, str):
            return "string"
        if isinstance(value, (datetime.date, datetime.time)):
            return "date"
        return "array" if isinstance(value, list) else "object"

    def anything(self) -> Shape:
        """Any value."""
        return lambda value, path, issues: value

    def _of_kind(self, kind: str, rules: Sequence[Rule] = ()) -> Shape:
        def shape(value: Json, path: Path, issues: list[Issue]) -> Json:
            if self.kind_of(value) != kind:
                issues.append(self.wrong_type(kind, value, path))
            else:
                broken = (message for holds, message in rules if not holds(value))
                issues.extend(Issue(path, message, dirty=True) for message in broken)
            return value

        return shape

    def text(self, *rules: Rule) -> Shape:
        """A text for which all rules hold."""
        return self._of_kind("string", rules)

    def number(self, *rules: Rule) -> Shape:
        """A number for which all rules hold."""
        return self._of_kind("number", rules)

    def boolean(self) -> Shape:
        """True or false."""
        return self._of_kind("boolean")

    def absent(self) -> Shape:
        """No value."""
        return self._of_kind("undefined")

    def any_object(self) -> Shape:
        """Any object, unchanged."""
        return self._of_kind("object")

    def custom(self, holds: Callable[[Json], bool], message: str) -> Shape:
        """What a function accepts."""

        def shape(value: Json, path: Path, issues: list[Issue]) -> Json:
            if not holds(value):
                issues.append(Issue(path, message, about={"code": "custom"}))
            return value

        return shape

    def one_of(self, *values: str) -> Shape:
        """One of these texts."""

        def shape(value: Json, path: Path, issues: list[Issue]) -> Json:
            if value not in values:
                issues.append(self.not_one_of(values, value, path))
            return value

        return shape

    def literal(self, expected: str) -> Shape:
        """Exactly this text."""
        return self.one_of(expected)

    def optional(self, inner: Shape) -> Shape:
        """What `inner` takes, or no value."""
        return self.default(inner, UNDEFINED)

    def default(self, inner: Shape, otherwise: Json) -> Shape:
        """What `inner` takes; `otherwise` for no value."""
        return lambda value, path, issues: (
            otherwise if value is UNDEFINED else inner(value, path, issues)
        )

    def array(self, item: Shape) -> Shape:
        """A list of such items."""

        def shape(value: Json, path: Path, issues: list[Issue]) -> Json:
            if not isinstance(value, list):
                issues.append(self.wrong_type("array", value, path))
                return value
            return [item(each, (*path, index), issues) for index, each in enumerate(value)]

        return shape

    def record(self, item: Shape) -> Shape:
        """An object with any keys and such values."""

        def shape(value: Json, path: Path, issues: list[Issue]) -> Json:
            if not isinstance(value, dict):
                issues.append(self.wrong_type(self.record_type, value, path))
                return value
            return {
                key: item(each, (*path, key), issues)
                for key, each in value.items()
                if key not in self.dropped
            }

        return shape

    def mapping(
        self, fields: Mapping[str, Shape], *, strict: bool = False, loose: bool = False
    ) -> Shape:
        """An object with these fields, which are checked and passed on in this order.

        Others are left out; with `strict` they are an issue, with `loose` they follow.
        """

        def shape(value: Json, path: Path, issues: list[Issue]) -> Json:
            if not isinstance(value, dict):
                issues.append(self.wrong_type("object", value, path))
                return value
            found = {
                key: inner(value.get(key, UNDEFINED), (*path, key), issues)
                for key, inner in fields.items()
            }
            passed = {key: each for key, each in found.items() if each is not UNDEFINED}
            others = [key for key in value if key not in fields]
            if strict and others:
                listed = ", ".join(f"'{key}'" for key in others)
                message = f"Unrecognized key(s) in object: {listed}"
                issues.append(Issue(path, message, dirty=True))
            if loose:
                passed.update({key: value[key] for key in others if key not in self.dropped})
            return passed

        return shape

    def union(self, *options: Shape) -> Shape:
        """What the first fitting option takes."""

        def shape(value: Json, path: Path, issues: list[Issue]) -> Json:
            branches: list[list[Issue]] = []
            for option in options:
                own: list[Issue] = []
                passed = option(value, path if self.paths_in_branches else (), own)
                if not own:
                    return passed
                branches.append(own)
            dirty = (own for own in branches if all(issue.dirty for issue in own))
            issues.extend(next(dirty, [self.no_branch(branches, path)]))
            return value

        return shape

    def discriminated(self, key: str, options: Mapping[str, Shape]) -> Shape:
        """What the option takes that the field `key` names."""
        listed = " | ".join(f"'{name}'" for name in options)

        def shape(value: Json, path: Path, issues: list[Issue]) -> Json:
            if not isinstance(value, dict):
                issues.append(self.wrong_type("object", value, path))
                return value
            named = value.get(key)
            if not isinstance(named, str) or named not in options:
                message = f"Invalid discriminator value. Expected {listed}"
                issues.append(Issue((*path, key), message))
                return value
            return options[named](value, path, issues)

        return shape


class _Zod3(Zod):
    def wrong_type(self, expected: str, value: Json, path: Path) -> Issue:
        received = self.kind_of(value)
        about = {"code": "invalid_type", "expected": expected, "received": received}
        if value is UNDEFINED:
            return Issue(path, "Required", about=about)
        return Issue(path, f"Expected {expected}, received {received}", about=about)

    def not_one_of(self, values: Sequence[str], value: Json, path: Path) -> Issue:
        if isinstance(value, str):
            return self._not_in_enum(values, value, path)
        issue = self.wrong_type(_listed(values), value, path)
        issue.about["code"] = issue.about.pop("code")  # It comes last here.
        return issue

    def _not_in_enum(self, values: Sequence[str], value: Json, path: Path) -> Issue:
        shown = js_text(value)
        message = f"Invalid enum value. Expected {_listed(values)}, received '{shown}'"
        about = {"received": value, "code": "invalid_enum_value", "options": list(values)}
        return Issue(path, message, about=about)

    def no_branch(self, branches: Sequence[Sequence[Issue]], path: Path) -> Issue:
        return Issue(path, "Invalid input", branches=tuple(map(tuple, branches)))

    def literal(self, expected: Json) -> Shape:
        """Exactly this value."""

        def shape(value: Json, path: Path, issues: list[Issue]) -> Json:
            if self.kind_of(value) != self.kind_of(expected) or value != expected:
                message = f"Invalid literal value, expected {js_json(expected)}"
                issues.append(Issue(path, message))
            return value

        return shape

    def native_enum(self, *values: str) -> Shape:
        """One of these texts; numbers are of the right type, too."""

        def shape(value: Json, path: Path, issues: list[Issue]) -> Json:
            if self.kind_of(value) == "number":
                issues.append(self._not_in_enum(values, value, path))
            elif value not in values:
                issues.append(self.not_one_of(values, value, path))
            return value

        return shape


def _listed(values: Sequence[str]) -> str:
    return " | ".join(f"'{each}'" for each in values)


class _Zod4(Zod):
    record_type = "record"
    dropped = frozenset({"__proto__"})
    paths_in_branches = False

    def wrong_type(self, expected: str, value: Json, path: Path) -> Issue:
        message = f"Invalid input: expected {expected}, received {self.kind_of(value)}"
        return Issue(path, message, about={"expected": expected, "code": "invalid_type"})

    def not_one_of(self, values: Sequence[str], value: Json, path: Path) -> Issue:
        listed = "|".join(map(js_json, values))
        about = {"code": "invalid_value", "values": list(values)}
        wanted = "option: expected one of" if len(values) > 1 else "input: expected"
        return Issue(path, f"Invalid {wanted} {listed}", about=about)

    def no_branch(self, branches: Sequence[Sequence[Issue]], path: Path) -> Issue:
        errors = [[issue.to_json() for issue in branch] for branch in branches]
        return Issue(path, "Invalid input", about={"code": "invalid_union", "errors": errors})


class _TomlZod(_Zod3):
    """Version 3 on parsed TOML, in which long whole numbers are no JavaScript numbers."""

    def kind_of(self, value: Json) -> str:
        whole = isinstance(value, int) and not isinstance(value, bool)
        if whole and abs(value) > _LARGEST_NUMBER:
            return "bigint"
        return super().kind_of(value)


ZOD3: Final = _Zod3()
ZOD3_TOML: Final = _TomlZod()
ZOD4: Final = _Zod4()
