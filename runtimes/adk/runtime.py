"""The ADK engine: one conversation, and the agents that take turns in driving it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.plugins.plugin_manager import PluginManager

from agent_protocol.agent import AgentProtocol
from runtimes.adk.agent import AdkAgentProtocol, ArrangeFlow
from runtimes.adk.conversation import Conversation
from runtimes.adk.factory import SessionFactory
from runtimes.adk.plugins.named import without_namesakes
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.tools import Toolbox
from runtimes.chat_runtime import ChatRuntime
from services.background import BackgroundTasks, background_tasks
from services.bundle import Services
from services.children.session import ChildSession
from services.history.transforms import coalesce, strip_thoughts
from services.wire import Content

__all__ = ["AdkRuntime", "open_engine"]


class AdkRuntime(ChatRuntime):
    """One conversation on ADK."""

    def __init__(
        self,
        services: Services,
        tasks: BackgroundTasks,
        plugins: Sequence[BasePlugin] = (),
        arrange_flow: ArrangeFlow | None = None,
    ) -> None:
        self._conversation = Conversation(services)
        self._conversation.start()
        super().__init__(services, tasks, self._conversation)
        self._sessions = GcliSessionService(self._conversation, services.clock)
        self._tools = Toolbox(self._conversation.declarations)
        self._agents: list[AdkAgentProtocol] = []
        self._plugins = without_namesakes(plugins)
        self._factory = SessionFactory(services, tasks, self._sessions, self._plugins, arrange_flow)
        services.subagents.run_on(self._factory.child)

    def _new_agent(self, prompt_id: str) -> AgentProtocol:
        agent = self._factory.conversation_agent(self._conversation, self._tools, prompt_id)
        self._agents.append(agent)
        return agent

    def _running(self) -> Iterable[AdkAgentProtocol | ChildSession]:
        return (*self._agents, *self._factory.children)

    def transcript(self) -> list[Content]:
        """The model-facing history, oldest first, as the events of the ADK session hold it."""
        self._conversation.match_configured_model()
        contents = self._sessions.contents()
        strips = self._conversation.view.strips_thoughts
        return coalesce(strip_thoughts(contents)) if strips else contents

    async def reset(self) -> None:
        """Start the conversation anew, with an empty state."""
        await super().reset()
        self._sessions.reset()

    async def resume(self, recording: Path | None) -> None:
        """Go on from a chat recording; another one than this conversation's empties the state.

        Raises:
            ValueError: it is not a chat recording.
        """
        await super().resume(recording)
        if recording is not None:
            self._sessions.reset()

    async def _follow_back(self) -> None:
        """Take state and artifacts back, and drop the live sessions."""
        await self._sessions.rewound()

    async def _close_agents(self) -> None:
        for agent in self._agents:
            await agent.close()
        await PluginManager([*self._plugins]).close()


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
    async with background_tasks() as tasks:
        runtime = AdkRuntime(services, tasks, plugins, arrange_flow)
        try:
            await runtime.open()
            yield runtime
        finally:
            await runtime.close()
