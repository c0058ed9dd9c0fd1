"""Rules written in the settings (`policyRules`), checked key by key.

Source of the keys: core `policy/types.ts` (`PolicyRule`); a pattern is text here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from services.outside_patterns import OutsidePattern
from services.policy.patterns import compile_pattern
from services.policy.rules import Decision, PolicyRule
from services.settings.declaring import READERS, PlacedProblem, Read, one_of
from services.state import ApprovalMode

__all__ = ["policy_rules_from_settings", "rule_from_settings"]


def _pattern(value: Any) -> OutsidePattern:
    text = READERS[str](value)
    try:
        return compile_pattern(text)
    except ValueError as problem:
        raise PlacedProblem("", f"not a regular expression: {problem}") from None


def _modes(value: Any) -> tuple[ApprovalMode, ...]:
    return tuple(ApprovalMode(_MODE(mode)) for mode in READERS[tuple[str, ...]](value))


_MODE: Final = one_of(*ApprovalMode)
_DECISION: Final = one_of(*Decision)
_KEYS: Final[Mapping[str, tuple[str, Read]]] = {
    "toolName": ("tool_name", READERS[str]),
    "decision": ("decision", lambda value: Decision(_DECISION(value))),
    "priority": ("priority", READERS[float]),
    "argsPattern": ("args_pattern", _pattern),
    "modes": ("modes", _modes),
    "subagent": ("subagent", READERS[str]),
    "mcpName": ("mcp_name", READERS[str]),
    "toolAnnotations": ("annotations", READERS[Mapping]),
    "interactive": ("interactive", READERS[bool]),
    "allowRedirection": ("allow_redirection", READERS[bool]),
    "denyMessage": ("deny_message", READERS[str]),
    "source": ("source", READERS[str]),
}
"""Key → the field of `PolicyRule`, and its reader."""


def policy_rules_from_settings(rules: Iterable[Mapping[str, Any]]) -> list[PolicyRule]:
    """Turn `policyRules` into rules.

    Raises:
        ValueError: a rule is malformed; the message begins with the place, such as
            `policyRules[0].decision`.
    """
    found = []
    for index, rule in enumerate(rules):
        try:
            found.append(rule_from_settings(rule))
        except PlacedProblem as problem:
            raise PlacedProblem(f"policyRules[{index}]{problem.place}", problem.problem) from None
    return found


def rule_from_settings(raw: Any) -> PolicyRule:
    """One rule. `toolName` and `decision` are required.

    Raises:
        PlacedProblem: it is malformed.
    """
    if not isinstance(raw, Mapping):
        raise PlacedProblem("", f"a mapping expected, not {raw!r}")
    values: dict[str, Any] = {"source": "Settings (Policy Rules)"}
    for key, value in raw.items():
        if key not in _KEYS:
            raise PlacedProblem(f".{key}", f"unknown key; known are {', '.join(_KEYS)}")
        field, read = _KEYS[key]
        try:
            values[field] = read(value)
        except PlacedProblem as problem:
            raise PlacedProblem(f".{key}", problem.problem) from None
        except ValueError as problem:
            raise PlacedProblem(f".{key}", f"{problem}, not {value!r}") from None
    for key in ("toolName", "decision"):
        if not values.get(_KEYS[key][0]):
            raise PlacedProblem(f".{key}", "is required")
    try:
        return PolicyRule(**values)
    except ValueError as problem:
        raise PlacedProblem("", str(problem)) from None
