"""What a policy file may hold, key by key, and what is said about one that holds something else.

The messages are those of upstream's validator, so that what is known about them stays true.
Source: core `policy/toml-loader.ts` (`PolicyFileSchema`).
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from services.policy.rules import Decision
from services.state import ApprovalMode

__all__ = ["IN_PROCESS_CHECKERS", "SchemaIssue", "schema_issues"]

IN_PROCESS_CHECKERS: Final = ("allowed-path", "conseca")

_Path = tuple[str | int, ...]
_MISSING: Final = object()
_TIER_OVERFLOW: Final = (
    "priority must be <= 999 to prevent tier overflow. "
    "Priorities >= 1000 would jump to the next tier."
)
_LARGEST_NUMBER: Final = 2**53 - 1


@dataclass(frozen=True, slots=True)
class SchemaIssue:
    """One thing that is wrong. `path` leads to it: `("rule", 0, "decision")`."""

    path: _Path
    message: str

    def __str__(self) -> str:
        return f'  - Field "{".".join(map(str, self.path))}": {self.message}'


_Check = Callable[[_Path, Any], list[SchemaIssue]]


def schema_issues(document: Mapping[str, Any]) -> list[SchemaIssue]:
    """Everything that is wrong with a parsed policy file, in the order of the schema."""
    return [
        issue
        for key, check in (("rule", _list(_rule)), ("safety_checker", _list(_checker_rule)))
        for issue in _optional(check)((key,), document.get(key, _MISSING))
    ]


def _wrong_type(path: _Path, expected: str, value: Any) -> list[SchemaIssue]:
    received = _kind(value)
    if received == "undefined":
        return [SchemaIssue(path, "Required")]
    return [SchemaIssue(path, f"Expected {expected}, received {received}")]


def _kind(value: Any) -> str:
    """What JavaScript's validator calls a value."""
    if value is _MISSING:
        return "undefined"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "number" if abs(value) <= _LARGEST_NUMBER else "bigint"
    if isinstance(value, float):
        return "nan" if math.isnan(value) else "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (datetime.date, datetime.time)):
        return "date"
    return "array" if isinstance(value, list) else "object"


def _of_kind(kind: str) -> _Check:
    def check(path: _Path, value: Any) -> list[SchemaIssue]:
        return [] if _kind(value) == kind else _wrong_type(path, kind, value)

    return check


def _optional(check: _Check) -> _Check:
    return lambda path, value: [] if value is _MISSING else check(path, value)


def _list(of: _Check) -> _Check:
    def check(path: _Path, value: Any) -> list[SchemaIssue]:
        if not isinstance(value, list):
            return _wrong_type(path, "array", value)
        return [issue for index, item in enumerate(value) for issue in of((*path, index), item)]

    return check


def _one_or_more_texts(path: _Path, value: Any) -> list[SchemaIssue]:
    many = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return [] if many or isinstance(value, str) else [SchemaIssue(path, "Invalid input")]


def _one_of(known: Sequence[str]) -> _Check:
    expected = " | ".join(f"'{name}'" for name in known)

    def check(path: _Path, value: Any) -> list[SchemaIssue]:
        if _kind(value) not in ("string", "number"):
            return _wrong_type(path, expected, value)
        if value in known:
            return []
        received = int(value) if isinstance(value, float) and value.is_integer() else value
        message = f"Invalid enum value. Expected {expected}, received '{received}'"
        return [SchemaIssue(path, message)]

    return check


def _priority(path: _Path, value: Any) -> list[SchemaIssue]:
    if value is _MISSING:
        return [SchemaIssue(path, "priority is required")]
    if _kind(value) != "number":
        return [SchemaIssue(path, "priority must be a number")]
    problems = (
        (_is_whole(value), "priority must be an integer"),
        (value >= 0, "priority must be >= 0"),
        (value <= 999, _TIER_OVERFLOW),
    )
    return [SchemaIssue(path, message) for fine, message in problems if not fine]


def _whole(path: _Path, value: Any) -> list[SchemaIssue]:
    if _kind(value) != "number":
        return _wrong_type(path, "number", value)
    if _is_whole(value):
        return []
    return [SchemaIssue(path, "Expected integer, received float")]


def _is_whole(value: float) -> bool:
    return isinstance(value, int) or value.is_integer()


def _table(keys: Mapping[str, _Check]) -> _Check:
    def check(path: _Path, value: Any) -> list[SchemaIssue]:
        if not isinstance(value, dict):
            return _wrong_type(path, "object", value)
        return [
            issue
            for key, of in keys.items()
            for issue in of((*path, key), value.get(key, _MISSING))
        ]

    return check


_text, _boolean, _any_table = _of_kind("string"), _of_kind("boolean"), _of_kind("object")
_maybe_text, _maybe_boolean, _maybe_table = map(_optional, (_text, _boolean, _any_table))
_modes = _optional(_list(_one_of(tuple(ApprovalMode))))

_rule: Final = _table(
    {
        "toolName": _one_or_more_texts,
        "subagent": _maybe_text,
        "mcpName": _maybe_text,
        "argsPattern": _maybe_text,
        "commandPrefix": _optional(_one_or_more_texts),
        "commandRegex": _maybe_text,
        "decision": _one_of(tuple(Decision)),
        "priority": _priority,
        "modes": _modes,
        "interactive": _maybe_boolean,
        "toolAnnotations": _maybe_table,
        "allowRedirection": _maybe_boolean,
        "allow_redirection": _maybe_boolean,
        "denyMessage": _maybe_text,
        "deny_message": _maybe_text,
    }
)


def _checker(path: _Path, value: Any) -> list[SchemaIssue]:
    if not isinstance(value, dict):
        return _wrong_type(path, "object", value)
    kinds: dict[Any, _Check] = {"in-process": _one_of(IN_PROCESS_CHECKERS), "external": _text}
    kind = value.get("type", _MISSING)
    if not isinstance(kind, str) or kind not in kinds:
        expected = " | ".join(f"'{name}'" for name in kinds)
        message = f"Invalid discriminator value. Expected {expected}"
        return [SchemaIssue((*path, "type"), message)]
    return _table(
        {
            "name": kinds[kind],
            "required_context": _optional(_list(_text)),
            "config": _maybe_table,
        }
    )(path, value)


_checker_rule: Final = _table(
    {
        "toolName": _one_or_more_texts,
        "mcpName": _maybe_text,
        "argsPattern": _maybe_text,
        "commandPrefix": _optional(_one_or_more_texts),
        "commandRegex": _maybe_text,
        "priority": _optional(_whole),
        "modes": _modes,
        "toolAnnotations": _maybe_table,
        "checker": _checker,
    }
)
