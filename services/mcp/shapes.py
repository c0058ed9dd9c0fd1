"""JSON against the shape it should have, judged and worded as the SDK's schemas do it.

What a server sends is checked before anybody uses it: known keys in the schema's order, unknown
ones dropped (or kept, where the schema is loose), and a fault told in the words that the model
gets to read. Source: npm `zod` 4, as the MCP TypeScript SDK uses it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from services.wire import Json, js_json, js_json_pretty

__all__ = [
    "ABSENT",
    "ArrayOf",
    "Base64Text",
    "Boolean",
    "ItemIssue",
    "Literal",
    "MapOf",
    "Object",
    "Open",
    "Shape",
    "ShapeError",
    "Text",
    "Union",
    "Unknown",
    "checked",
]

ItemIssue = dict[str, Any]
"""One fault: `code`, `path`, `message`, and what the code brings along."""

Path = tuple[str | int, ...]


class _Absent:
    """The value of a key that is not there."""


ABSENT: Final = _Absent()


class ShapeError(Exception):
    """A value of another shape; the message is the list of issues as JSON."""

    def __init__(self, issues: Sequence[ItemIssue]) -> None:
        super().__init__(js_json_pretty(list(issues)))
        self.issues = tuple(issues)


class Shape(Protocol):
    """Something a value can be checked against."""

    def check(self, value: Json, path: Path, issues: list[ItemIssue]) -> Json:
        """The value as it is passed on; faults go to `issues`."""
        ...


def checked(shape: Shape, value: Json) -> Json:
    """`value` as `shape` passes it on.

    Raises:
        ShapeError: it has another shape.
    """
    issues: list[ItemIssue] = []
    result = shape.check(value, (), issues)
    if issues:
        raise ShapeError(issues)
    return result


class Unknown:
    """Anything at all."""

    def check(self, value: Json, path: Path, issues: list[ItemIssue]) -> Json:
        """Pass `value` on."""
        return value


class Text:
    """A string."""

    def check(self, value: Json, path: Path, issues: list[ItemIssue]) -> Json:
        """Pass a string on."""
        if not isinstance(value, str):
            issues.append(_wrong_type("string", value, path))
        return value


_NOT_BASE64: Final = re.compile(r"[^A-Za-z0-9+/]")


class Base64Text:
    """A string that `atob` takes: white space apart, base64 with or without its padding."""

    def check(self, value: Json, path: Path, issues: list[ItemIssue]) -> Json:
        """Pass base64 on as it is."""
        if not isinstance(value, str):
            issues.append(_wrong_type("string", value, path))
        elif not _is_base64(value):
            issues.append(
                {"code": "custom", "path": list(path), "message": "Invalid Base64 string"}
            )
        return value


class Boolean:
    """True or false."""

    def check(self, value: Json, path: Path, issues: list[ItemIssue]) -> Json:
        """Pass a boolean on."""
        if not isinstance(value, bool):
            issues.append(_wrong_type("boolean", value, path))
        return value


class Literal:
    """One of some strings."""

    def __init__(self, *values: str) -> None:
        self._values = values

    def check(self, value: Json, path: Path, issues: list[ItemIssue]) -> Json:
        """Pass one of the values on."""
        if not isinstance(value, str) or value not in self._values:
            told = "|".join(js_json(item) for item in self._values)
            expected = f"one of {told}" if len(self._values) > 1 else told
            issues.append(
                {
                    "code": "invalid_value",
                    "values": list(self._values),
                    "path": list(path),
                    "message": f"Invalid {'option' if len(self._values) > 1 else 'input'}: "
                    f"expected {expected}",
                }
            )
        return value


class Open:
    """Any object, kept whole: what the SDK calls an asserted object."""

    def check(self, value: Json, path: Path, issues: list[ItemIssue]) -> Json:
        """Pass an object (or an array, as JavaScript has it) on."""
        if not isinstance(value, (dict, list)):
            issues.append({"code": "custom", "path": list(path), "message": "Invalid input"})
        return value


class MapOf:
    """An object with any keys, and values of one shape."""

    def __init__(self, values: Shape) -> None:
        self._values = values

    def check(self, value: Json, path: Path, issues: list[ItemIssue]) -> Json:
        """Pass the object on."""
        if not isinstance(value, dict):
            issues.append(_wrong_type("record", value, path))
            return value
        return {
            key: self._values.check(item, (*path, key), issues)
            for key, item in value.items()
            if key != "__proto__"
        }


class ArrayOf:
    """A list of one shape."""

    def __init__(self, items: Shape) -> None:
        self._items = items

    def check(self, value: Json, path: Path, issues: list[ItemIssue]) -> Json:
        """Pass the list on."""
        if not isinstance(value, list):
            issues.append(_wrong_type("array", value, path))
            return value
        return [self._items.check(item, (*path, at), issues) for at, item in enumerate(value)]


class Object:
    """An object with known keys."""

    def __init__(
        self,
        required: Mapping[str, Shape] | None = None,
        optional: Mapping[str, Shape] | None = None,
        *,
        order: Sequence[str] = (),
        defaults: Mapping[str, Json] | None = None,
        loose: bool = False,
    ) -> None:
        """Describe it.

        Args:
            required: keys that must be there.
            optional: keys that may be absent, but not null.
            order: in which keys are checked and passed on, where it is not required ones first.
            defaults: values for absent keys, among `required`.
            loose: keep unknown keys, behind the known ones.
        """
        known = {**(required or {}), **(optional or {})}
        self._known = {key: known[key] for key in (*order, *known)}
        self._optional = frozenset(optional or ())
        self._defaults = dict(defaults or {})
        self._loose = loose

    def check(self, value: Json, path: Path, issues: list[ItemIssue]) -> Json:
        """Pass the known keys on, in order."""
        if not isinstance(value, dict):
            issues.append(_wrong_type("object", value, path))
            return value
        result: dict[str, Json] = {}
        for key, shape in self._known.items():
            if key not in value:
                if key in self._optional:
                    continue
                if key in self._defaults:
                    result[key] = self._defaults[key]
                    continue
            result[key] = shape.check(value.get(key, ABSENT), (*path, key), issues)
        if not self._loose:
            return result
        others = {
            key: item
            for key, item in value.items()
            if key not in self._known and key != "__proto__"
        }
        return {**result, **others}


class Union:
    """The first of some shapes that fits."""

    def __init__(self, *options: Shape) -> None:
        self._options = options

    def check(self, value: Json, path: Path, issues: list[ItemIssue]) -> Json:
        """Pass on what the first fitting shape does."""
        found: list[list[ItemIssue]] = []
        for option in self._options:
            own: list[ItemIssue] = []
            result = option.check(value, (), own)
            if not own:
                return result
            found.append(own)
        issues.append(
            {
                "code": "invalid_union",
                "errors": found,
                "path": list(path),
                "message": "Invalid input",
            }
        )
        return value


def _wrong_type(expected: str, value: Json, path: Path) -> ItemIssue:
    return {
        "expected": expected,
        "code": "invalid_type",
        "path": list(path),
        "message": f"Invalid input: expected {expected}, received {_kind(value)}",
    }


def _kind(value: Json) -> str:
    if value is ABSENT:
        return "undefined"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _is_base64(text: str) -> bool:
    bare = re.sub(r"[\t\n\f\r ]", "", text)
    if len(bare) % 4 == 0:
        bare = re.sub(r"={1,2}\Z", "", bare)
    if len(bare) % 4 == 1 or _NOT_BASE64.search(bare):
        return False
    try:
        base64.b64decode(bare + "=" * (-len(bare) % 4))
    except binascii.Error:
        return False
    return True
