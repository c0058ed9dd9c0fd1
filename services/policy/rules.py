"""Policy rules as values, and when one matches a call.

Source: core `policy/types.ts`, `policy/policy-engine.ts` (`ruleMatches`), `policy/utils.ts`.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any, Final

from services.outside_patterns import OutsidePattern, PatternBudget, PatternLimit
from services.state import ApprovalMode
from services.wire import JsonObject

__all__ = [
    "ALWAYS_ALLOW_FRACTION",
    "MCP_PREFIX",
    "MODES_BY_PERMISSIVENESS",
    "CheckerRule",
    "CheckerSpec",
    "Decision",
    "PolicyCall",
    "PolicyRule",
    "Tier",
    "mcp_full_name",
    "mcp_server_of",
    "rule_matches",
    "tool_aliases",
]

logger = logging.getLogger(__name__)

MCP_PREFIX: Final = "mcp_"
ALWAYS_ALLOW_FRACTION: Final = 950
"""A priority's thousandths that mark a rule made by an "always allow" answer."""

MODES_BY_PERMISSIVENESS: Final = (
    ApprovalMode.PLAN,
    ApprovalMode.DEFAULT,
    ApprovalMode.AUTO_EDIT,
    ApprovalMode.YOLO,
)

_FULL_NAME: Final = re.compile(r"mcp_([^_]+)_[^\n\r\u2028\u2029]+\Z")
_LEGACY_NAMES: Final[Mapping[str, str]] = {"search_file_content": "grep_search"}


class Decision(StrEnum):
    """The decision about a call."""

    ALLOW = "allow"
    DENY = "deny"
    ASK_USER = "ask_user"


class Tier(IntEnum):
    """The source of a rule; a file's priority p becomes `tier + p / 1000`."""

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
    args_pattern: OutsidePattern | None = None
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
        names = {"mcpName": self.mcp_name, "subagent": self.subagent}
        _refuse_empty("policy rule", origin, self.tool_name, names)

    @property
    def from_always_allow(self) -> bool:
        """True for a rule made by an "always allow" answer."""
        return math.floor(math.fmod(self.priority, 1) * 1000 + 0.5) == ALWAYS_ALLOW_FRACTION


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerSpec:
    """A safety checker, and the context that it gets."""

    name: str
    external: bool = False
    """A child process instead of one of the built-in checkers."""
    required_context: tuple[str, ...] | None = None
    """The parts of the context it gets (`environment`, `history`); all of them for `None`."""
    config: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerRule:
    """The calls that a safety checker judges. Conditions as in `PolicyRule`; all matches run.

    Raises:
        ValueError: an empty `tool_name` or `mcp_name`.
    """

    tool_name: str
    checker: CheckerSpec
    priority: float
    args_pattern: OutsidePattern | None = None
    modes: tuple[ApprovalMode, ...] = ()
    mcp_name: str | None = None
    annotations: Mapping[str, Any] | None = None
    source: str | None = None

    def __post_init__(self) -> None:
        origin = f"Checker source: {self.source or 'unknown'}"
        _refuse_empty("safety checker rule", origin, self.tool_name, {"mcpName": self.mcp_name})


def _refuse_empty(
    kind: str, origin: str, tool_name: str, optional: Mapping[str, str | None]
) -> None:
    if not tool_name:
        raise ValueError(f"Invalid {kind}: toolName is required. Use '*' for all tools. {origin}")
    for key, value in optional.items():
        if value == "":
            raise ValueError(
                f"Invalid {kind}: {key} is required if specified (cannot be empty). {origin}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCall:
    """A call, for the rules."""

    names: Sequence[str]
    """Its name, its aliases, a subagent's name."""
    args: JsonObject | None
    canonical: str
    mode: ApprovalMode
    interactive: bool
    server_name: str | None = None
    annotations: Mapping[str, Any] | None = None
    subagent: str | None = None
    budget: PatternBudget = field(default_factory=PatternBudget)
    """The budget that the patterns of all rules share."""


def rule_matches(
    rule: PolicyRule | CheckerRule, call: PolicyCall, *, ignore_pattern: bool = False
) -> bool:
    """Whether every condition of `rule` holds for `call`.

    A checker is looked up by the call's own name alone. `ignore_pattern` asks whether the rule is
    about the tool at all, whatever the arguments.
    """
    if rule.modes and call.mode not in rule.modes:
        return False
    names = call.names
    if isinstance(rule, CheckerRule):
        names = names[:1]
    elif not _caller_matches(rule, call):
        return False
    if not _server_matches(rule, call.server_name):
        return False
    if not any(_name_matches(rule, name, call.server_name) for name in names):
        return False
    if rule.annotations is not None and not _annotated(rule.annotations, call.annotations):
        return False
    if rule.args_pattern is None or ignore_pattern:
        return True
    return call.args is not None and _arguments_match(rule, rule.args_pattern, call)


def _arguments_match(
    rule: PolicyRule | CheckerRule, pattern: OutsidePattern, call: PolicyCall
) -> bool:
    """Whether `pattern` is found in the arguments of `call`.

    A search that ends at its time limit counts against the call: a rule that allows does not match,
    one that asks or refuses does, and a checker runs.
    """
    try:
        return pattern.search(call.canonical, call.budget) is not None
    except PatternLimit as problem:
        logger.warning("%s: %s", rule.source or rule.tool_name, problem)
        return isinstance(rule, CheckerRule) or rule.decision is not Decision.ALLOW


def _caller_matches(rule: PolicyRule, call: PolicyCall) -> bool:
    if rule.subagent is not None and rule.subagent != call.subagent:
        return False
    return rule.interactive is None or rule.interactive == call.interactive


def _annotated(wanted: Mapping[str, Any], known: Mapping[str, Any] | None) -> bool:
    return known is not None and all(
        key in known and _identical(known[key], value) for key, value in wanted.items()
    )


def _identical(one: object, other: object) -> bool:
    """JavaScript's `===` between values of different documents: lists and tables never are."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (dict, list)) or isinstance(other, (dict, list)):
        return False
    return one == other


def _server_matches(rule: PolicyRule | CheckerRule, server_name: str | None) -> bool:
    if rule.mcp_name is None:
        return True
    if rule.mcp_name == "*":
        return server_name is not None
    return server_name == rule.mcp_name


def _name_matches(rule: PolicyRule | CheckerRule, name: str, server_name: str | None) -> bool:
    pattern = rule.tool_name
    if pattern == "*":
        return True
    if "*" in pattern:
        return _wildcard_matches(pattern, name, server_name)
    if pattern == name:
        return True
    if not server_name or not name:
        return False
    if rule.mcp_name and not pattern.startswith(MCP_PREFIX):
        return name == mcp_full_name(rule.mcp_name, pattern)
    return pattern.startswith(MCP_PREFIX) and pattern == mcp_full_name(server_name, name)


def _wildcard_matches(pattern: str, name: str, server_name: str | None) -> bool:
    if pattern == f"{MCP_PREFIX}*":
        return server_name is not None
    if pattern.startswith(MCP_PREFIX) and pattern.endswith("_*"):
        return server_name == pattern[len(MCP_PREFIX) : -2] and name.startswith(pattern[:-1])
    return name == pattern


def tool_aliases(name: str) -> list[str]:
    """`name` first, then every other name of the same tool."""
    current = _LEGACY_NAMES.get(name, name)
    others = [current, *(old for old, new in _LEGACY_NAMES.items() if new == current)]
    return list(dict.fromkeys([name, *others]))


def mcp_full_name(server: str, tool: str) -> str:
    """`mcp_<server>_<tool>`; both `*`: every tool of every server, `mcp_*`."""
    return f"{MCP_PREFIX}*" if server == tool == "*" else f"{MCP_PREFIX}{server}_{tool}"


def mcp_server_of(name: str) -> str | None:
    """The server in `mcp_<server>_<tool>`; it ends at the first underscore, as upstream's does."""
    found = _FULL_NAME.match(name)
    return found.group(1) if found is not None else None
