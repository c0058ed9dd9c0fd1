"""The keys and values that a policy file may have, and the messages about any others.

The messages are those of upstream's validator, so that users can look them up.
Source: core `policy/toml-loader.ts` (`PolicyFileSchema`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from services.policy.rules import Decision
from services.state import ApprovalMode
from services.wire import Json
from services.zod import UNDEFINED, ZOD3_TOML, Issue, Path, Shape, issues_of

__all__ = ["IN_PROCESS_CHECKERS", "schema_issues"]

IN_PROCESS_CHECKERS: Final = ("allowed-path", "conseca")

_TIER_OVERFLOW: Final = (
    "priority must be <= 999 to prevent tier overflow. "
    "Priorities >= 1000 would jump to the next tier."
)
_Z: Final = ZOD3_TOML


def schema_issues(document: Mapping[str, Any]) -> list[Issue]:
    """Everything that is wrong with a parsed policy file, in the order of the schema."""
    return issues_of(_FILE, document)


def _is_whole(value: float) -> bool:
    return float(value).is_integer()


_PRIORITY: Final = _Z.number(
    (_is_whole, "priority must be an integer"),
    (lambda value: value >= 0, "priority must be >= 0"),
    (lambda value: value <= 999, _TIER_OVERFLOW),
)


def _priority(value: Json, path: Path, issues: list[Issue]) -> Json:
    if _Z.kind_of(value) == "number":
        return _PRIORITY(value, path, issues)
    wrong = "is required" if value is UNDEFINED else "must be a number"
    issues.append(Issue(path, f"priority {wrong}"))
    return value


def _one_or_more_texts(value: Json, path: Path, issues: list[Issue]) -> Json:
    many = isinstance(value, list) and all(isinstance(item, str) for item in value)
    if not many and not isinstance(value, str):
        issues.append(Issue(path, "Invalid input"))
    return value


def _maybe(shape: Shape, *names: str) -> dict[str, Shape]:
    return dict.fromkeys(names, _Z.optional(shape))


def _checker(name: Shape) -> Shape:
    return _Z.mapping(
        {
            "name": name,
            **_maybe(_Z.array(_Z.text()), "required_context"),
            **_maybe(_Z.any_object(), "config"),
        }
    )


_MODES: Final = _Z.array(_Z.native_enum(*ApprovalMode))
_RULE: Final = _Z.mapping(
    {
        "toolName": _one_or_more_texts,
        **_maybe(_Z.text(), "subagent", "mcpName", "argsPattern"),
        **_maybe(_one_or_more_texts, "commandPrefix"),
        **_maybe(_Z.text(), "commandRegex"),
        "decision": _Z.native_enum(*Decision),
        "priority": _priority,
        **_maybe(_MODES, "modes"),
        **_maybe(_Z.boolean(), "interactive"),
        **_maybe(_Z.any_object(), "toolAnnotations"),
        **_maybe(_Z.boolean(), "allowRedirection", "allow_redirection"),
        **_maybe(_Z.text(), "denyMessage", "deny_message"),
    }
)
_CHECKER: Final = _Z.mapping(
    {
        "toolName": _one_or_more_texts,
        **_maybe(_Z.text(), "mcpName", "argsPattern"),
        **_maybe(_one_or_more_texts, "commandPrefix"),
        **_maybe(_Z.text(), "commandRegex"),
        **_maybe(_Z.number((_is_whole, "Expected integer, received float")), "priority"),
        **_maybe(_MODES, "modes"),
        **_maybe(_Z.any_object(), "toolAnnotations"),
        "checker": _Z.discriminated(
            "type",
            {
                "in-process": _checker(_Z.native_enum(*IN_PROCESS_CHECKERS)),
                "external": _checker(_Z.text()),
            },
        ),
    }
)
_FILE: Final = _Z.mapping(
    {**_maybe(_Z.array(_RULE), "rule"), **_maybe(_Z.array(_CHECKER), "safety_checker")}
)
