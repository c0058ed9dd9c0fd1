"""Adapters: runtimes of agents as their authors have them, for `parity.toml`.

A user's code imports them as `parity.adapters`. docs/own-agent.md describes them.
"""

from __future__ import annotations

from adapters.adk import ADK_EVENTS, adk_runtime
from adapters.agent import AgentSession, agent_runtime
from adapters.events import EVENTS, Emit, EventTable

__all__ = [
    "ADK_EVENTS",
    "EVENTS",
    "AgentSession",
    "Emit",
    "EventTable",
    "adk_runtime",
    "agent_runtime",
]
