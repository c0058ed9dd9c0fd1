"""`agent_runtime`: an agent that is an asynchronous generator over a client for a model.

    def start(session):
        agent = ShopAgent(genai.Client())
        return agent.answer          # async def answer(self, text): … yield …

    shop = agent_runtime(start, tools={"order": {…}})

The agent's code stays as it is. Its client's requests reach the model of the services
(`adapters.model`), asyncio's timers are virtual, and what it yields becomes events by a table.
"""

from __future__ import annotations

import inspect
import platform
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from adapters.events import EVENTS, EventTable, Row
from adapters.model.seam import ModelSeam
from adapters.model.transports import behind_clients
from adapters.problems import AgentBroke, yielded_at
from adapters.runtime import IN_PROCESS, OUTSIDE, AgentRuntime
from runtimes.contract import RuntimeTraits
from services.bundle import Services
from services.clock import foreign_timers
from services.wire import JsonObject

__all__ = ["AgentSession", "Answer", "Begin", "Shows", "Start", "agent_runtime", "traits_of"]

Answer: TypeAlias = Callable[[str], Any]
"""Answers a message: an asynchronous generator, or a coroutine that returns the whole answer."""
Start: TypeAlias = Callable[..., Answer]
"""Begins a conversation; takes the `AgentSession`, or nothing."""
Begin: TypeAlias = Callable[["AgentSession"], object]
"""Prepares what the tools of an agent need, before a conversation."""
Shows: TypeAlias = Callable[["AgentSession"], Sequence[JsonObject]]
"""Returns the items of a custom channel at the end of a conversation."""


@dataclass(slots=True)
class AgentSession:
    """What an adapter knows of the session of a conversation."""

    workspace: Path
    """The session's folder, with the files of the cassette."""
    model: str
    """The model that the cassette names."""
    state: dict[str, Any] = field(default_factory=dict)
    """For the adapter: `start` leaves here what the functions of custom channels read."""


def agent_runtime(
    start: Start,
    *,
    tools: Mapping[str, JsonObject] | None = None,
    table: EventTable | Mapping[type | str, Row] = EVENTS,
    shows: Mapping[str, Shows] | None = None,
    words: str = "agent",
    workspace: bool = False,
    confinable: bool = True,
    pieces: bool = False,
) -> AgentRuntime:
    """Make a runtime of an agent that runs in this process.

    Args:
        start: Begins a conversation, and returns what answers a message.
        tools: The agent's tools, for generated scenarios: name → JSON schema of the arguments.
        table: What the agent yields → events; a mapping extends `EVENTS`.
        shows: The custom channels that it has: name → function.
        words: Whose prompts it uses. System instructions and descriptions of tools are compared
            between runtimes with the same value.
        workspace: Whether it works in the session's folder, whose files are then compared.
        confinable: Whether it reads no file but its code, connects to nothing and starts nothing.
        pieces: Whether each piece of text is an event of its own.
    """

    @asynccontextmanager
    async def conversations(services: Services) -> AsyncIterator[_InProcess]:
        conversation = _InProcess(services, start, shows or {})
        try:
            yield conversation
        finally:
            await conversation.close()

    return AgentRuntime(
        conversations,
        traits=traits_of(
            tools=tools,
            words=words,
            workspace=workspace,
            shows=shows,
            confinable=confinable,
            channels=IN_PROCESS,
        ),
        table=EVENTS.extended(table),
        pieces=pieces,
        prepare=_find_machine,
    )


def _find_machine() -> None:
    """Find what the SDKs of OpenAI and Anthropic say of this machine in their headers, once.

    To do so they start a process and read files of the system, which runs of cassettes that are
    not trusted may not do. Sources: `platform_headers` and `get_platform` of both SDKs.
    """
    platform.processor()
    with suppress(OSError):  # other systems have no such file
        platform.freedesktop_os_release()


def traits_of(
    *,
    tools: Mapping[str, JsonObject] | None,
    words: str,
    workspace: bool,
    shows: Mapping[str, Any] | None = None,
    confinable: bool = False,
    channels: frozenset[str] = OUTSIDE,
) -> RuntimeTraits:
    """Return the traits of an agent: plain turns, its own tools, and the channels that it shows."""
    return RuntimeTraits(
        features=frozenset({"reset"}),
        tools=tools or {},
        channels=channels | ({"workspace"} if workspace else frozenset()),
        custom=frozenset(shows or {}),
        words=words,
        confinable=confinable,
    )


class _InProcess:
    """One conversation with an agent in this process."""

    def __init__(self, services: Services, start: Start, shows: Mapping[str, Shows]) -> None:
        self._services = services
        self._start = start
        self._shows = shows
        self._seam = ModelSeam(services.content_generator)
        self.session = AgentSession(
            workspace=services.workspace.root, model=services.state.active_model
        )
        self._answer: Answer | None = None
        self._running: Any = None

    @contextmanager
    def around(self) -> Iterator[None]:
        """The agent's context: its clients ask the seam, its timers are those of the session."""
        with foreign_timers(self._services.clock), behind_clients(self._seam):
            yield

    @property
    def place(self) -> str:
        """The line at which the agent stands."""
        return yielded_at(self._running)

    async def send(self, text: str) -> AsyncGenerator[Any, None]:
        """Iterate over what the agent yields for a message."""
        if self._answer is None:
            takes = len(inspect.signature(self._start).parameters)
            self._answer = self._start(*(self.session,)[:takes])
        self._running = found = self._answer(text)
        if inspect.isawaitable(found):
            yield await found
            return
        if not hasattr(found, "__aiter__"):
            says = f"answers with a {type(found).__name__} instead of an asynchronous generator"
            raise AgentBroke(says)
        if not hasattr(found, "aclose"):
            async for item in found:
                yield item
            return
        async with aclosing(found):
            async for item in found:
                yield item

    def shown(self) -> Mapping[str, Sequence[JsonObject]]:
        """The items of the custom channels."""
        return {name: list(read(self.session)) for name, read in self._shows.items()}

    async def close(self) -> None:
        """End the answers of the model that the agent left open."""
        await self._seam.close()
