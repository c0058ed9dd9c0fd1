"""The rules of the settings' lists of tools and of MCP servers.

Source: core `policy/config.ts` (`createPolicyEngineConfig`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from services.policy.patterns import command_prefix_patterns, compile_pattern
from services.policy.rules import MCP_PREFIX, Decision, PolicyRule, Tier
from services.settings import Settings
from services.state import ApprovalMode

__all__ = ["rules_from_settings"]

_SHELL: Final = "run_shell_command"
_SHELL_NAMES: Final = frozenset({_SHELL, "ShellTool"})
_NARROWED: Final = re.compile(r"([a-zA-Z0-9_-]+)\(([^\n\r\u2028\u2029]*)\)", re.ASCII)
_NOT_PLANNING: Final = (ApprovalMode.DEFAULT, ApprovalMode.AUTO_EDIT, ApprovalMode.YOLO)

_SERVERS_EXCLUDED: Final = Tier.USER + 0.9
_EXCLUDED: Final = Tier.USER + 0.4
_ASKED: Final = Tier.USER + 0.35
_ALLOWED: Final = Tier.USER + 0.3
_CORE: Final = Tier.USER + 0.25
_SERVERS_TRUSTED: Final = Tier.USER + 0.2
_SERVERS_ALLOWED: Final = Tier.USER + 0.1
_JUST_BELOW: Final = 0.01


def rules_from_settings(settings: Settings) -> list[PolicyRule]:
    """All of them, in the order in which equal priorities are tried."""
    return [
        *_servers(
            settings.policy_excluded_servers,
            Decision.DENY,
            _SERVERS_EXCLUDED,
            "Settings (MCP Excluded)",
        ),
        *_plain(
            settings.policy_excluded_tools, Decision.DENY, _EXCLUDED, "Settings (Tools Excluded)"
        ),
        *_allowed(settings.policy_allowed_tools),
        *_plain(
            map(_tool, settings.policy_asked_tools),
            Decision.ASK_USER,
            _ASKED,
            "Settings (Confirmation Required)",
        ),
        *_core(settings.policy_core_tools),
        *_allowed_servers(settings),
    ]


def _plain(
    tools: Iterable[str], decision: Decision, priority: float, source: str
) -> Iterator[PolicyRule]:
    for tool in tools:
        yield PolicyRule(tool_name=tool, decision=decision, priority=priority, source=source)


def _allowed(tools: Iterable[str]) -> Iterator[PolicyRule]:
    entries = list(tools)
    source = "Settings (Tools Allowed)"
    yield from _rules_for(entries, _ALLOWED, source, ())
    if any(_narrowed_shell(entry) is not None for entry in entries):
        yield PolicyRule(
            tool_name=_SHELL,
            decision=Decision.DENY,
            priority=_ALLOWED - _JUST_BELOW,
            source=f"{source} (Narrowing Enforcement)",
        )


def _core(tools: Iterable[str] | None) -> Iterator[PolicyRule]:
    if tools is None:
        return
    yield from _rules_for(tools, _CORE, "Settings (Core Tools)", _NOT_PLANNING)
    yield PolicyRule(
        tool_name="*",
        decision=Decision.DENY,
        priority=_CORE - _JUST_BELOW,
        source="Settings (Core Tools Allowlist Enforcement)",
        modes=_NOT_PLANNING,
    )


def _rules_for(
    tools: Iterable[str], priority: float, source: str, modes: tuple[ApprovalMode, ...]
) -> Iterator[PolicyRule]:
    """Rules of `name` or `name(prefix)`; only the shell's prefix has an effect."""
    for entry in tools:
        prefix = _narrowed_shell(entry)
        found = _NARROWED.fullmatch(entry)
        name = _tool(entry if found is None else found.group(1))
        patterns: list[str | None] = [None]
        if prefix is not None:
            # Upstream makes no rule of an empty prefix.
            patterns = [*command_prefix_patterns(prefix)] if prefix else []
        for pattern in patterns:
            yield PolicyRule(
                tool_name=name,
                decision=Decision.ALLOW,
                priority=priority,
                args_pattern=None if pattern is None else compile_pattern(pattern),
                source=source,
                modes=modes,
            )


def _narrowed_shell(entry: str) -> str | None:
    """The command prefix of `run_shell_command(prefix)`; `None` for any other entry."""
    found = _NARROWED.fullmatch(entry)
    return found.group(2) if found is not None and found.group(1) in _SHELL_NAMES else None


def _tool(name: str) -> str:
    return _SHELL if name in _SHELL_NAMES else name


def _allowed_servers(settings: Settings) -> Iterator[PolicyRule]:
    allow = Decision.ALLOW
    trusted = [name for name, server in settings.mcp_servers.items() if _trusted(server)]
    for name in trusted:
        yield PolicyRule(
            tool_name=f"{MCP_PREFIX}{name}_*",
            mcp_name=name,
            decision=allow,
            priority=_SERVERS_TRUSTED,
            source="Settings (MCP Trusted)",
            modes=_NOT_PLANNING,
        )
    allowed = settings.policy_allowed_servers
    yield from _servers(allowed, allow, _SERVERS_ALLOWED, "Settings (MCP Allowed)", _NOT_PLANNING)
    if settings.interactive or not settings.mcp_auto_allow_in_headless or "*" in allowed:
        return
    known = {*allowed, *trusted}
    yield from _servers(
        (name for name in settings.mcp_servers if name not in known),
        allow,
        _SERVERS_ALLOWED,
        "Settings (Headless MCP Auto-Allow)",
        _NOT_PLANNING,
    )


def _trusted(server: Any) -> bool:
    return isinstance(server, Mapping) and bool(server.get("trust"))


def _servers(
    names: Iterable[str],
    decision: Decision,
    priority: float,
    source: str,
    modes: tuple[ApprovalMode, ...] = (),
) -> Iterator[PolicyRule]:
    for name in names:
        yield PolicyRule(
            tool_name=f"{MCP_PREFIX}*" if name == "*" else f"{MCP_PREFIX}{name}_*",
            mcp_name=name,
            decision=decision,
            priority=priority,
            source=source,
            modes=modes,
        )
