"""The legacy engine: a client, and the agents that take turns in driving it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from agent_protocol.agent import AgentProtocol
from runtimes.chat_runtime import ChatRuntime
from runtimes.contract import Runtime
from runtimes.legacy.agent import LegacyAgentProtocol
from runtimes.legacy.chats import Chats
from runtimes.legacy.client import GeminiClient
from runtimes.legacy.subagent import LegacyChildAgent
from services.background import BackgroundTasks, background_tasks
from services.bundle import Services
from services.children.session import ChildSession
from services.subagents.child import ChildRequest

__all__ = ["LegacyRuntime", "open_runtime"]


class LegacyRuntime(ChatRuntime):
    """One conversation on the hand-written loop."""

    def __init__(self, services: Services, tasks: BackgroundTasks) -> None:
        chats = Chats(services)
        super().__init__(services, tasks, chats)
        self._client = GeminiClient(services, chats)
        self._agents: list[LegacyAgentProtocol] = []
        self._children: set[ChildSession] = set()
        services.subagents.run_on(self.child)

    def child(self, request: ChildRequest) -> LegacyChildAgent:
        """A child that runs on this engine; see `services.subagents.child.ChildFactory`."""
        return LegacyChildAgent(self._services, request, self._tasks, self._children)

    def _new_agent(self, prompt_id: str) -> AgentProtocol:
        agent = LegacyAgentProtocol(self._services, self._client, self._tasks, prompt_id)
        self._agents.append(agent)
        return agent

    def _running(self) -> Iterable[LegacyAgentProtocol | ChildSession]:
        return (*self._agents, *self._children)


@asynccontextmanager
async def open_runtime(services: Services) -> AsyncIterator[Runtime]:
    """Open the legacy engine over `services`; leaving ends everything it started."""
    async with background_tasks() as tasks:
        runtime = LegacyRuntime(services, tasks)
        try:
            await runtime.open()
            yield runtime
        finally:
            await runtime.close()
