"""Rules written in the settings (`policyRules`), checked key by key.

Source of the keys: core `policy/types.ts` (`PolicyRule`); a pattern is text here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

from services.outside_patterns import OutsidePattern
from services.policy.patterns import compile_pattern
from services.policy.rules import Decision, PolicyRule
from services.state import ApprovalMode

__all__ = ["policy_rules_from_settings"]

M = TypeVar("M", Decision, ApprovalMode)

_KEYS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "toolName": str,
    "decision": str,
    "priority": (int, float),
    "argsPattern": str,
    "modes": list,
    "subagent": str,
    "mcpName": str,
    "toolAnnotations": dict,
    "interactive": bool,
    "allowRedirection": bool,
    "denyMessage": str,
    "source": str,
}


def policy_rules_from_settings(rules: Iterable[Mapping[str, Any]]) -> list[PolicyRule]:
    """Turn `policyRules` into rules. `toolName` and `decision` are required.

    Raises:
        ValueError: something is wrong; the message begins with the place, such as
            `policyRules[0].decision`.
    """
    return [_rule(f"policyRules[{index}]", rule) for index, rule in enumerate(rules)]


def _rule(place: str, raw: Mapping[str, Any]) -> PolicyRule:
    if not isinstance(raw, Mapping):
        raise ValueError(f"{place}: must be a mapping")
    for key, value in raw.items():
        if key not in _KEYS:
            raise ValueError(f"{place}.{key}: unknown key; known are {', '.join(_KEYS)}")
        wanted = _KEYS[key]
        boolean_for_number = isinstance(value, bool) and wanted is not bool
        if not isinstance(value, wanted) or boolean_for_number:
            raise ValueError(f"{place}.{key}: has the wrong type ({type(value).__name__})")
    for key in ("toolName", "decision"):
        if not raw.get(key):
            raise ValueError(f"{place}.{key}: is required")
    try:
        return PolicyRule(
            tool_name=raw["toolName"],
            decision=_member(f"{place}.decision", Decision, raw["decision"]),
            priority=float(raw.get("priority", 0)),
            args_pattern=_pattern(f"{place}.argsPattern", raw.get("argsPattern")),
            modes=tuple(
                _member(f"{place}.modes[{index}]", ApprovalMode, mode)
                for index, mode in enumerate(raw.get("modes", ()))
            ),
            subagent=raw.get("subagent"),
            mcp_name=raw.get("mcpName"),
            annotations=raw.get("toolAnnotations"),
            interactive=raw.get("interactive"),
            allow_redirection=raw.get("allowRedirection", False),
            deny_message=raw.get("denyMessage"),
            source=raw.get("source", "Settings (Policy Rules)"),
        )
    except ValueError as problem:
        message = str(problem)
        raise ValueError(message if message.startswith(place) else f"{place}: {message}") from None


def _member(place: str, kind: type[M], value: Any) -> M:
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(kind)
        raise ValueError(f"{place}: {value!r} is not one of {known}") from None


def _pattern(place: str, pattern: str | None) -> OutsidePattern | None:
    if pattern is None:
        return None
    try:
        return compile_pattern(pattern)
    except ValueError as problem:
        raise ValueError(f"{place}: not a regular expression: {problem}") from None
