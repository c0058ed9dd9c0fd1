"""What a policy file may hold, key by key.

Source: core `policy/toml-loader.ts`, `PolicyFileSchema`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from services.policy.rules import Decision
from services.state import ApprovalMode
from services.wire import Json
from services.zod import (
    UNDEFINED,
    BigInt,
    Check,
    Issue,
    Place,
    Status,
    anything_in_object,
    array,
    boolean,
    discriminated,
    kind_of,
    mapping,
    number,
    one_of,
    optional,
    text,
    union,
)

__all__ = ["schema_issues"]

_LARGEST_NUMBER: Final = 2**53 - 1


def schema_issues(document: Mapping[str, Any]) -> list[Issue]:
    """Everything that is wrong with a parsed policy file, in the order of the schema."""
    issues: list[Issue] = []
    _FILE(_javascript(document), (), issues)
    return issues


def _javascript(value: Any) -> Any:
    """The value with its large whole numbers as JavaScript's parser returns them."""
    if isinstance(value, dict):
        return {key: _javascript(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_javascript(item) for item in value]
    is_large = type(value) is int and abs(value) > _LARGEST_NUMBER
    return BigInt(value) if is_large else value


def _is_whole(value: float) -> bool:
    return float(value).is_integer()


_OVERFLOW: Final = (
    "priority must be <= 999 to prevent tier overflow. "
    "Priorities >= 1000 would jump to the next tier."
)
_RANGE: Final = number(
    (_is_whole, "priority must be an integer"),
    (lambda value: value >= 0, "priority must be >= 0"),
    (lambda value: value <= 999, _OVERFLOW),
)


def _priority(value: Json, place: Place, issues: list[Issue]) -> Status:
    if kind_of(value) == "number":
        return _RANGE(value, place, issues)
    wrong = "is required" if value is UNDEFINED else "must be a number"
    issues.append(Issue(place, f"priority {wrong}"))
    return Status.INVALID


_ONE_OR_MORE: Final = union(text(), array(text()))
_MODES: Final = optional(array(one_of(*ApprovalMode, native=True)))
_TABLE: Final = optional(anything_in_object())
_TEXT, _FLAG = optional(text()), optional(boolean())
_RULE: Final = mapping(
    {
        "toolName": _ONE_OR_MORE,
        "subagent": _TEXT,
        "mcpName": _TEXT,
        "argsPattern": _TEXT,
        "commandPrefix": optional(_ONE_OR_MORE),
        "commandRegex": _TEXT,
        "decision": one_of(*Decision, native=True),
        "priority": _priority,
        "modes": _MODES,
        "interactive": _FLAG,
        "toolAnnotations": _TABLE,
        "allowRedirection": _FLAG,
        "allow_redirection": _FLAG,
        "denyMessage": _TEXT,
        "deny_message": _TEXT,
    }
)


def _checker(name: Check) -> Check:
    return mapping({"name": name, "required_context": optional(array(text())), "config": _TABLE})


_CHECKER_RULE: Final = mapping(
    {
        "toolName": _ONE_OR_MORE,
        "mcpName": _TEXT,
        "argsPattern": _TEXT,
        "commandPrefix": optional(_ONE_OR_MORE),
        "commandRegex": _TEXT,
        "priority": optional(number((_is_whole, "Expected integer, received float"))),
        "modes": _MODES,
        "toolAnnotations": _TABLE,
        "checker": discriminated(
            "type",
            {
                "in-process": _checker(one_of("allowed-path", "conseca", native=True)),
                "external": _checker(text()),
            },
        ),
    }
)
_FILE: Final = mapping(
    {"rule": optional(array(_RULE)), "safety_checker": optional(array(_CHECKER_RULE))}
)
