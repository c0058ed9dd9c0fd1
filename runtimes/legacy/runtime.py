"""The legacy engine: a client, and the agents that take turns in driving it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from agent_protocol.agent import AgentProtocol
from runtimes.contract import Runtime
from runtimes.legacy.agent import LegacyAgentProtocol
from runtimes.legacy.chats import Chats
from runtimes.legacy.client import GeminiClient
from runtimes.legacy.subagent import LegacyChildAgent
from services.abort import AbortController
from services.background import BackgroundTasks, background_tasks
from services.bundle import Services
from services.steering import InjectionSource
from services.subagents.child import ChildRequest
from services.wire import Content

__all__ = ["LegacyRuntime", "open_runtime"]

_GRACE_S: Final = 5.0
"""How long an aborted stream may take to end by itself before its task is cancelled."""


class LegacyRuntime(Runtime):
    """One conversation on the hand-written loop."""

    def __init__(self, services: Services, tasks: BackgroundTasks) -> None:
        self._services = services
        self._tasks = tasks
        self._chats = Chats(services)
        self._client = GeminiClient(services, self._chats)
        self._agents: list[LegacyAgentProtocol] = []
        self._children: set[LegacyChildAgent] = set()
        services.subagents.run_on(self.child)

    def agent(self, *, prompt_id: str | None = None) -> AgentProtocol:
        """A new agent over this conversation."""
        agent = LegacyAgentProtocol(self._services, self._client, self._tasks, prompt_id=prompt_id)
        self._agents.append(agent)
        telemetry = self._services.telemetry
        return agent if telemetry is None else telemetry.agent(agent)

    def child(self, request: ChildRequest) -> LegacyChildAgent:
        """A child that runs on this engine; see `services.subagents.child.ChildFactory`."""
        return LegacyChildAgent(self._services, request, self._tasks, self._children)

    def transcript(self) -> list[Content]:
        """The model-facing history, oldest first."""
        return self._chats.current.shown_history()

    async def reset(self) -> None:
        """Start the conversation anew."""
        self._chats.reset()
        self._services.steering.clear()

    async def compress(self) -> None:
        """Summarise the history now."""
        services = self._services
        prompt_id = f"compress-{services.clock.now_ms()}"
        await self._chats.compress(prompt_id, AbortController().signal, force=True)

    async def resume(self, recording: Path | None) -> None:
        """Go on from a chat recording; from this conversation's own where none is given.

        Raises:
            ValueError: it is not a chat recording.
        """
        self._chats.resume(recording)

    async def rewind(self, to: str | int) -> None:
        """Go back to before a message: its id, or its number among the user's own, from 0."""
        self._chats.rewind(to)

    def hint(self, text: str, source: str) -> None:
        """A hint: children that run hear of it. Source: core `legacy-agent-session.ts`.

        Raises:
            ValueError: there is no such source.
        """
        self._services.steering.add(text, InjectionSource(source))

    async def settled(self) -> None:
        """Return when no stream's work is left, rollbacks after an abort included."""
        await self._tasks.settled()

    async def close(self) -> None:
        """Abort what runs and await it."""
        for agent in (*self._agents, *self._children):
            await agent.abort()
        self._services.scheduler.cancel_all()
        await self._tasks.end(_GRACE_S)
        self._services.scheduler.dispose()


@asynccontextmanager
async def open_runtime(services: Services) -> AsyncIterator[Runtime]:
    """Open the legacy engine over `services`; leaving ends everything it started."""
    async with background_tasks() as tasks:
        runtime = LegacyRuntime(services, tasks)
        try:
            yield runtime
        finally:
            await runtime.close()
