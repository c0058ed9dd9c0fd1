"""What a runtime's factory opens: one conversation's engine, and the agents that drive it.

The protocol keeps its four members; what a client outside the protocol may do with an engine
(start it anew, read its model-facing history) stands here, because slash commands and the harness
need it of every runtime alike, child processes included.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from agent_protocol.agent import AgentProtocol
from services.bundle import Services
from services.wire import Content

__all__ = ["Runtime", "RuntimeFactory"]


class Runtime(Protocol):
    """One engine with one conversation. Several agents may take turns in driving it."""

    def agent(self, *, prompt_id: str | None = None) -> AgentProtocol:
        """A new agent over this engine's conversation.

        `prompt_id` is fixed for the agent's life and shared by its sends; the session's own when
        absent. Source: core `LegacyAgentProtocol`, whose config may give every agent its own.
        """
        ...

    def transcript(self) -> list[Content]:
        """The model-facing history, oldest first. A copy: the caller may keep it."""
        ...

    async def reset(self) -> None:
        """Start the conversation anew: only the environment's context stays in the history."""
        ...

    async def settled(self) -> None:
        """Return when no stream's work is left, rollbacks after its `agent_end` included."""
        ...


RuntimeFactory = Callable[[Services], AbstractAsyncContextManager[Runtime]]
"""Leaving the context aborts what runs, awaits it, and disposes of the engine."""
