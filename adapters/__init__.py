"""Adapters: runtimes of agents as their authors have them, for `parity.toml`.

A user's code imports them as `parity.adapters`. docs/own-agent.md describes them.
"""

from __future__ import annotations

from adapters.adk import ADK_EVENTS, adk_runtime
from adapters.agent import AgentSession, agent_runtime
from adapters.events import EVENTS, Emit, EventTable
from adapters.outside.a2a import A2A_EVENTS, a2a_runtime
from adapters.outside.acp import ACP_EVENTS, acp_runtime
from adapters.outside.process import process_runtime

__all__ = [
    "A2A_EVENTS",
    "ACP_EVENTS",
    "ADK_EVENTS",
    "EVENTS",
    "AgentSession",
    "Emit",
    "EventTable",
    "a2a_runtime",
    "acp_runtime",
    "adk_runtime",
    "agent_runtime",
    "process_runtime",
]
