"""A cassette's session → the product's settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from harness.cassette.format import SessionSetup
from services.settings import AdkFlags, Settings

__all__ = ["INFERRED_FEATURES", "SUPPORTED_FEATURES", "settings_of"]

SUPPORTED_FEATURES: Final = frozenset({"confirmations", "interactive", "reset"})
"""What this build can do of what cassettes may need beyond plain turns."""

INFERRED_FEATURES: Final = frozenset({"compression", "plan_mode", "subagents"})
"""What is read from a model's answers alone. Imported answers were given to somebody else: that
they call a tool which this build lacks is no reason not to replay them."""

_FIELDS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "maxSessionTurns": ("max_session_turns", int),
    "maxAttempts": ("max_attempts", lambda value: min(int(value), 10)),
    "retryFetchErrors": ("retry_fetch_errors", bool),
    "truncateToolOutputThreshold": ("truncate_tool_output_threshold", int),
    "shellInactivityTimeout": ("shell_inactivity_timeout_s", float),
    "disableLLMCorrection": ("disable_llm_correction", bool),
    "topicUpdateNarration": ("topic_update_narration", bool),
    "folderTrust": ("folder_trusted", bool),
    "policyRules": ("policy_rules", tuple),
    "coreTools": ("core_tools", tuple),
    "excludeTools": ("exclude_tools", tuple),
}
"""Core configuration parameter → our field, and how its value is read."""

_ADK: Final = {
    "runtimeEnabled": "runtime_enabled",
    "agentSessionNoninteractiveEnabled": "agent_session_noninteractive_enabled",
    "agentSessionInteractiveEnabled": "agent_session_interactive_enabled",
    "agentSessionSubagentEnabled": "agent_session_subagent_enabled",
}


def settings_of(session: SessionSetup) -> Settings:
    """The settings of a cassette's session; parameters of services not built yet play no part."""
    fields: dict[str, Any] = {"interactive": session.interactive}
    for key, value in session.settings.items():
        if key in _FIELDS:
            name, read = _FIELDS[key]
            fields[name] = read(value)
    flags = session.settings.get("adk") or {}
    fields["adk"] = AdkFlags(**{_ADK[key]: bool(flags[key]) for key in _ADK if key in flags})
    return Settings(**fields)
