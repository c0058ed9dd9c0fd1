"""Policy rules as values, and when one matches a call.

Source: core `policy/types.ts`, `policy/policy-engine.ts` (`ruleMatches`), `policy/utils.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any, Final

from services.state import ApprovalMode
from services.wire import JsonObject

__all__ = [
    "ALWAYS_ALLOW_FRACTION",
    "MCP_PREFIX",
    "MODES_BY_PERMISSIVENESS",
    "Decision",
    "PolicyCall",
    "PolicyRule",
    "Tier",
    "mcp_server_of",
    "rule_matches",
    "tool_aliases",
]

MCP_PREFIX: Final = "mcp_"
ALWAYS_ALLOW_FRACTION: Final = 950
"""A priority's thousandths that mark a rule made by an "always allow" answer."""

MODES_BY_PERMISSIVENESS: Final = (
    ApprovalMode.PLAN,
    ApprovalMode.DEFAULT,
    ApprovalMode.AUTO_EDIT,
    ApprovalMode.YOLO,
)

_LEGACY_NAMES: Final[Mapping[str, str]] = {"search_file_content": "grep_search"}


class Decision(StrEnum):
    """What may be done with a call."""

    ALLOW = "allow"
    DENY = "deny"
    ASK_USER = "ask_user"


class Tier(IntEnum):
    """Where a rule comes from; a file's priority p becomes `tier + p / 1000`."""

    DEFAULT = 1
    EXTENSION = 2
    WORKSPACE = 3
    USER = 4
    ADMIN = 5

    def priority(self, within: int) -> float:
        """The engine's priority of `within` (0 to 999) in this tier."""
        return self + within / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """One rule. Empty conditions match everything; the first match by priority decides.

    Raises:
        ValueError: an empty `tool_name`, `mcp_name` or `subagent`.
    """

    tool_name: str
    """A name, `*`, `mcp_*` or `mcp_<server>_*`; any other `*` is a literal character."""
    decision: Decision
    priority: float = 0.0
    args_pattern: re.Pattern[str] | None = None
    modes: tuple[ApprovalMode, ...] = ()
    subagent: str | None = None
    mcp_name: str | None = None
    annotations: Mapping[str, Any] | None = None
    interactive: bool | None = None
    allow_redirection: bool = False
    deny_message: str | None = None
    source: str | None = None

    def __post_init__(self) -> None:
        origin = f"Rule source: {self.source or 'unknown'}"
        if not self.tool_name:
            raise ValueError(
                f"Invalid policy rule: toolName is required. Use '*' for all tools. {origin}"
            )
        for key, value in (("mcpName", self.mcp_name), ("subagent", self.subagent)):
            if value == "":
                raise ValueError(
                    f"Invalid policy rule: {key} is required if specified (cannot be empty). "
                    f"{origin}"
                )

    @property
    def from_always_allow(self) -> bool:
        """True for a rule made by an "always allow" answer."""
        return round((self.priority % 1) * 1000) == ALWAYS_ALLOW_FRACTION


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCall:
    """A call as rules see it."""

    names: Sequence[str]
    """Every name it goes by: its own, its aliases, a subagent's."""
    args: JsonObject | None
    canonical: str
    mode: ApprovalMode
    interactive: bool
    server_name: str | None = None
    annotations: Mapping[str, Any] | None = None
    subagent: str | None = None


def rule_matches(rule: PolicyRule, call: PolicyCall, *, ignore_pattern: bool = False) -> bool:
    """Whether every condition of `rule` holds for `call`.

    `ignore_pattern` asks whether the rule is about the tool at all, whatever the arguments.
    """
    if rule.modes and call.mode not in rule.modes:
        return False
    if rule.subagent is not None and rule.subagent != call.subagent:
        return False
    if rule.interactive is not None and rule.interactive != call.interactive:
        return False
    if not _server_matches(rule, call.server_name):
        return False
    if not any(_name_matches(rule, name, call.server_name) for name in call.names):
        return False
    if rule.annotations:
        known = call.annotations or {}
        if any(known.get(key) != value for key, value in rule.annotations.items()):
            return False
    if rule.args_pattern is None or ignore_pattern:
        return True
    return call.args is not None and rule.args_pattern.search(call.canonical) is not None


def _server_matches(rule: PolicyRule, server_name: str | None) -> bool:
    if rule.mcp_name is None:
        return True
    if rule.mcp_name == "*":
        return server_name is not None
    return server_name == rule.mcp_name


def _name_matches(rule: PolicyRule, name: str, server_name: str | None) -> bool:
    pattern = rule.tool_name
    if pattern in {"*", name}:
        return True
    if "*" in pattern:
        return _wildcard_matches(pattern, name, server_name)
    if server_name is None:
        return False
    if rule.mcp_name and not pattern.startswith(MCP_PREFIX):
        return name == f"{MCP_PREFIX}{rule.mcp_name}_{pattern}"
    return pattern.startswith(MCP_PREFIX) and pattern == f"{MCP_PREFIX}{server_name}_{name}"


def _wildcard_matches(pattern: str, name: str, server_name: str | None) -> bool:
    if server_name is None:
        return False
    if pattern == f"{MCP_PREFIX}*":
        return True
    return pattern == f"{MCP_PREFIX}{server_name}_*" and name.startswith(pattern[:-1])


def tool_aliases(name: str) -> list[str]:
    """`name` first, then every other name of the same tool."""
    current = _LEGACY_NAMES.get(name, name)
    others = [current, *(old for old, new in _LEGACY_NAMES.items() if new == current)]
    return list(dict.fromkeys([name, *others]))


def mcp_server_of(name: str) -> str | None:
    """The server in `mcp_<server>_<tool>`; it ends at the first underscore, as upstream's does."""
    if not name.startswith(MCP_PREFIX):
        return None
    server, _, tool = name.removeprefix(MCP_PREFIX).partition("_")
    return server if server and tool else None
