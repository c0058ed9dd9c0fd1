"""An "always allow" answer, and the rules made of it; `services.policy.saved` saves them.

Source: core `policy/config.ts` (`createPolicyUpdater`).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.policy.patterns import command_prefix_patterns, compile_pattern, is_safe_pattern
from services.policy.rules import ALWAYS_ALLOW_FRACTION, Decision, PolicyRule, Tier
from services.state import ApprovalMode

__all__ = ["TOOLS_REQUIRING_NARROWING", "UnsafePattern", "UpdatePolicy", "rules_of_update"]

logger = logging.getLogger(__name__)

TOOLS_REQUIRING_NARROWING: Final = frozenset(
    {
        "glob",
        "grep_search",
        "read_many_files",
        "read_file",
        "list_directory",
        "write_file",
        "replace",
        "run_shell_command",
    }
)
"""Tools whose approval needs a pattern or a command prefix."""


class UnsafePattern(ValueError):
    """An update whose pattern does not compile, or could take too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePolicy:
    """Allow `tool_name` from now on, for a pattern or command prefixes if there are any."""

    tool_name: str
    mcp_name: str | None = None
    args_pattern: str | None = None
    command_prefix: str | Sequence[str] | None = None
    allow_redirection: bool = False
    modes: tuple[ApprovalMode, ...] = ()
    persist_scope: str | None = None
    """`workspace` or `user`, if it outlives the session."""


def rules_of_update(update: UpdatePolicy) -> list[PolicyRule] | None:
    """The rules that `update` adds; `None` for a sensitive tool without narrowing.

    An empty list of command prefixes adds no rule, but is an answer that can be saved.

    Raises:
        UnsafePattern: its pattern is not a regular expression, or not a safe one.
    """
    patterns: list[str | None] = [update.args_pattern or None]
    if update.command_prefix is not None:
        patterns = list(command_prefix_patterns(update.command_prefix))
    elif update.args_pattern and not is_safe_pattern(update.args_pattern):
        raise UnsafePattern(
            "Invalid or unsafe regular expression for tool "
            f"{update.tool_name}: {update.args_pattern}"
        )
    elif update.tool_name in TOOLS_REQUIRING_NARROWING and not update.args_pattern:
        logger.warning("policy update for %s without a pattern: skipped", update.tool_name)
        return None
    tier = Tier.USER if update.persist_scope == "user" else Tier.WORKSPACE
    return [
        PolicyRule(
            tool_name=update.tool_name,
            decision=Decision.ALLOW,
            priority=tier.priority(ALWAYS_ALLOW_FRACTION),
            args_pattern=None if pattern is None else compile_pattern(pattern),
            mcp_name=update.mcp_name,
            modes=update.modes,
            allow_redirection=update.allow_redirection,
            source="Dynamic (Confirmed)",
        )
        for pattern in patterns
    ]
