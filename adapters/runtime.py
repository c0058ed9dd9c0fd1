"""`AgentRuntime`: a runtime over conversations with an agent of a user.

An instance is the factory that `parity.toml` or an entry point names; its `traits` say what the
agent can show.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, Protocol

from adapters.events import EventTable
from adapters.protocol import Conversation, ForeignAgent
from agent_protocol.agent import AgentProtocol
from runtimes.contract import Runtime, RuntimeTraits
from services.background import BackgroundTasks, background_tasks
from services.bundle import Services
from services.wire import Content, JsonObject

__all__ = ["IN_PROCESS", "OUTSIDE", "AgentRuntime", "OpenConversations", "OpenedConversation"]

IN_PROCESS: Final = frozenset({"requests", "provider", "events", "cost", "custom"})
"""The channels of an agent whose requests to the model pass through the services."""
OUTSIDE: Final = IN_PROCESS - {"custom"}
"""The channels of such an agent in a process of its own: no function can look into it."""
_GRACE_S: Final = 5.0
"""Real seconds that an aborted stream may take to end before its task is cancelled."""


class OpenedConversation(Conversation, Protocol):
    """A conversation with an end."""

    def shown(self) -> Mapping[str, Sequence[JsonObject]]:
        """Return the items of the custom channels."""
        ...


OpenConversations = Callable[[Services], AbstractAsyncContextManager["OpenedConversation"]]
"""Opens a conversation; leaving the context ends it, with everything that it holds."""


class AgentRuntime:
    """A factory of runtimes whose agents drive one kind of conversation."""

    def __init__(
        self,
        conversations: OpenConversations,
        *,
        traits: RuntimeTraits,
        table: EventTable,
        pieces: bool = False,
        prepare: Callable[[], object] | None = None,
        modules: Sequence[str] = (),
    ) -> None:
        """Make a factory.

        Args:
            conversations: Opens a conversation of a session.
            traits: What the agent can show.
            table: What the agent emits → events.
            pieces: Whether each piece of text is an event of its own.
            prepare: Finds what a conversation needs, before any opens; raises if it cannot.
            modules: Names of modules that a worker imports before it opens conversations.
        """
        self._conversations = conversations
        self._prepare = prepare
        self.modules = tuple(modules)
        self.traits = traits
        self._table = table
        self._pieces = pieces

    def check(self, variant: str | None) -> None:
        """Find out whether conversations can be opened; raises what hinders it."""
        if self._prepare is not None:
            self._prepare()

    @asynccontextmanager
    async def __call__(self, services: Services) -> AsyncIterator[Runtime]:
        """Open a runtime; leaving aborts and awaits what runs, and ends the conversation."""
        async with background_tasks() as tasks, _Opened(self._conversations, services) as opened:
            runtime = _Runtime(opened, services, tasks, self._table, pieces=self._pieces)
            try:
                yield runtime
            finally:
                await runtime.close()


class _Opened:
    """The current conversation of a runtime, which a reset replaces."""

    def __init__(self, conversations: OpenConversations, services: Services) -> None:
        self._conversations = conversations
        self._services = services
        self._context: AbstractAsyncContextManager[OpenedConversation] | None = None
        self.current: OpenedConversation

    async def __aenter__(self) -> _Opened:
        self._context = self._conversations(self._services)
        self.current = await self._context.__aenter__()
        return self

    async def __aexit__(self, *ending: Any) -> bool | None:
        assert self._context is not None
        return await self._context.__aexit__(*ending)

    async def renew(self) -> None:
        """End the conversation, and open another one."""
        await self.__aexit__(None, None, None)
        await self.__aenter__()


class _Runtime(Runtime):
    def __init__(
        self,
        opened: _Opened,
        services: Services,
        tasks: BackgroundTasks,
        table: EventTable,
        *,
        pieces: bool,
    ) -> None:
        self._opened = opened
        self._services = services
        self._tasks = tasks
        self._table = table
        self._pieces = pieces
        self._agents: list[ForeignAgent] = []

    def agent(self, *, prompt_id: str | None = None) -> AgentProtocol:
        """A new agent over the conversation; it has no prompt ids."""
        agent = ForeignAgent(
            lambda: self._opened.current,
            self._services,
            self._tasks,
            self._table,
            pieces=self._pieces,
        )
        self._agents.append(agent)
        return agent

    def transcript(self) -> list[Content]:
        """Nothing: an agent of a user keeps its history to itself."""
        return []

    async def reset(self) -> None:
        """Begin another conversation."""
        await self.settled()
        await self._opened.renew()

    async def settled(self) -> None:
        """Return when no stream runs."""
        await self._tasks.settled()

    @property
    def place(self) -> str:
        """The line at which the agent stands."""
        return self._opened.current.place

    def shown(self) -> Mapping[str, Sequence[JsonObject]]:
        """The items of the custom channels."""
        return self._opened.current.shown()

    async def close(self) -> None:
        """Abort what runs, and await it."""
        for agent in self._agents:
            await agent.abort()
        await self._tasks.end(_GRACE_S)
