"""The product's settings, as values. Defaults are the core configuration's constructor defaults.

Source: core `config/config.ts`; names and the settings file's keys: `packages/cli` settings
schema. `SETTINGS_KEYS` is the one table from a user's settings file to these fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["SETTINGS_KEYS", "AdkFlags", "Settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdkFlags:
    """`experimental.adk.*`: which runtime, and which surfaces go through the agent session."""

    runtime_enabled: bool = False
    agent_session_noninteractive_enabled: bool = False
    agent_session_interactive_enabled: bool = False
    agent_session_subagent_enabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One session's configuration. Immutable; what changes while running is `SessionState`."""

    max_session_turns: int = -1
    """Negative: unlimited. The agent loop reads 0 as "none", the client as "unlimited"."""
    max_attempts: int = 10
    retry_fetch_errors: bool = True
    truncate_tool_output_threshold: int = 40_000
    """Characters; 0 or less switches truncation off."""
    shell_inactivity_timeout_s: float = 300.0
    """Seconds without output after which a shell command is ended; 0 or less: never."""
    disable_llm_correction: bool = True
    topic_update_narration: bool = True
    folder_trusted: bool = True
    interactive: bool = False
    policy_rules: tuple[Mapping[str, Any], ...] = ()
    """Rules appended to the engine's: `toolName`, `decision`, `priority`, `argsPattern`, …"""
    core_tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    adk: AdkFlags = field(default_factory=AdkFlags)


SETTINGS_KEYS: Final[Mapping[str, str]] = {
    "maxSessionTurns": "model.maxSessionTurns",
    "maxAttempts": "general.maxAttempts",
    "retryFetchErrors": "general.retryFetchErrors",
    "truncateToolOutputThreshold": "tools.truncateToolOutputThreshold",
    "shellInactivityTimeout": "tools.shell.inactivityTimeout",
    "disableLLMCorrection": "tools.disableLLMCorrection",
    "topicUpdateNarration": "general.topicUpdateNarration",
    "coreTools": "tools.core",
    "excludeTools": "tools.exclude",
    "adk.runtimeEnabled": "experimental.adk.runtimeEnabled",
    "adk.agentSessionNoninteractiveEnabled": "experimental.adk.agentSessionNoninteractiveEnabled",
    "adk.agentSessionInteractiveEnabled": "experimental.adk.agentSessionInteractiveEnabled",
    "adk.agentSessionSubagentEnabled": "experimental.adk.agentSessionSubagentEnabled",
}
"""Core configuration parameter (a cassette's `session.settings` key) → the user's settings key."""
