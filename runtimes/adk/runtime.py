"""The ADK engine: one conversation, and the agents that take turns in driving it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.plugins.plugin_manager import PluginManager

from agent_protocol.agent import AgentProtocol
from runtimes.adk.agent import AdkAgentProtocol
from runtimes.adk.conversation import Conversation
from runtimes.adk.factory import ArrangeFlow, Engine, SessionFactory
from runtimes.adk.plugins.named import without_namesakes
from runtimes.adk.replacing import compress, resume, rewind
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.tools import Toolbox
from runtimes.contract import Runtime
from services.abort import AbortController
from services.background import BackgroundTasks, background_tasks
from services.bundle import Services
from services.steering import InjectionSource
from services.wire import Content

__all__ = ["AdkRuntime", "open_engine"]

_GRACE_S: Final = 5.0
"""How long an aborted stream may take to end by itself before its task is cancelled."""


class AdkRuntime(Runtime):
    """One conversation on ADK."""

    def __init__(
        self,
        services: Services,
        tasks: BackgroundTasks,
        sessions: GcliSessionService,
        conversation: Conversation,
        plugins: Sequence[BasePlugin] = (),
        arrange_flow: ArrangeFlow | None = None,
    ) -> None:
        self._services = services
        self._tasks = tasks
        self._sessions = sessions
        self._conversation = conversation
        self._tools = Toolbox(conversation.declarations)
        self._agents: list[AdkAgentProtocol] = []
        self._plugins = without_namesakes(plugins)
        self._factory = SessionFactory(
            Engine(services=services, tasks=tasks, sessions=sessions),
            plugins=self._plugins,
            arrange_flow=arrange_flow,
        )
        services.subagents.run_on(self._factory.child_agent)

    def agent(self, *, prompt_id: str | None = None) -> AgentProtocol:
        """A new agent over this conversation."""
        agent = self._factory.conversation_agent(
            self._conversation, self._tools, prompt_id=prompt_id
        )
        self._agents.append(agent)
        telemetry = self._services.telemetry
        return agent if telemetry is None else telemetry.agent(agent)

    def transcript(self) -> list[Content]:
        """The model-facing history, oldest first."""
        return self._conversation.shown_history()

    async def reset(self) -> None:
        """Start the conversation anew."""
        self._conversation.start()
        self._sessions.drop(self._conversation)
        self._services.steering.clear()

    async def compress(self) -> None:
        """Summarise the history now.

        Raises:
            ModelError: no summary could be got.
        """
        services = self._services
        prompt_id = f"compress-{services.clock.now_ms()}"
        signal = AbortController().signal
        await compress(services, self._conversation, prompt_id, signal, force=True)
        self._sessions.drop(self._conversation)

    async def resume(self, recording: Path | None) -> None:
        """Go on from a chat recording; from this conversation's own where none is given.

        Raises:
            ValueError: it is not a chat recording.
        """
        resume(self._services, self._conversation, recording)
        self._sessions.drop(self._conversation)

    async def rewind(self, to: str | int) -> None:
        """Go back to before a message: its id, or its number among the user's own, from 0."""
        rewind(self._conversation, to)
        self._sessions.drop(self._conversation)

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
        for agent in (*self._agents, *self._factory.children):
            await agent.abort()
        self._services.scheduler.cancel_all()
        await self._tasks.end(_GRACE_S)
        for agent in self._agents:
            await agent.close()
        for unbegun in self._factory.children:
            await unbegun.close()
        self._services.scheduler.dispose()
        await PluginManager(self._plugins).close()


@asynccontextmanager
async def open_engine(
    services: Services,
    plugins: Sequence[BasePlugin] = (),
    arrange_flow: ArrangeFlow | None = None,
) -> AsyncIterator[AdkRuntime]:
    """Open the ADK engine over `services`; leaving ends everything it started.

    Raises:
        RuntimeUnavailable: two of `plugins` have the same name.
    """
    sessions = GcliSessionService(services.clock)
    conversation = Conversation(services)
    conversation.start()
    async with background_tasks() as tasks:
        runtime = AdkRuntime(services, tasks, sessions, conversation, plugins, arrange_flow)
        try:
            yield runtime
        finally:
            await runtime.close()
