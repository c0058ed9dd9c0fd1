"""`ChatRuntime`: the common part of our own runtimes, around one conversation.

Each runtime has its own way to drive the model. The commands of a client outside a stream are here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Protocol

from agent_protocol.agent import AgentProtocol
from runtimes.contract import Runtime
from services.abort import AbortController
from services.background import BackgroundTasks
from services.bundle import Services
from services.chat import ChatSuccession
from services.steering import InjectionSource
from services.wire import Content

__all__ = ["ChatRuntime"]

_GRACE_S: Final = 5.0
"""How long an aborted stream may take to end by itself before its task is cancelled."""


class Abortable(Protocol):
    """An agent or a child."""

    async def abort(self) -> None:
        """Ask the active stream to end."""
        ...


class ChatRuntime(Runtime):
    """One conversation of a session. Its streams are tasks of `tasks`."""

    def __init__(self, services: Services, tasks: BackgroundTasks, chats: ChatSuccession) -> None:
        self._services = services
        self._tasks = tasks
        self._chats = chats

    @abstractmethod
    def _new_agent(self, prompt_id: str) -> AgentProtocol:
        """Make an agent over this conversation."""

    @abstractmethod
    def _running(self) -> Iterable[Abortable]:
        """The agents and children that `close` aborts."""

    async def _close_agents(self) -> None:
        """Close what a runtime's agents hold, once their tasks have ended."""

    def agent(self, *, prompt_id: str | None = None) -> AgentProtocol:
        """A new agent over this conversation."""
        services = self._services
        agent = self._new_agent(prompt_id or services.state.prompt_id)
        telemetry = services.telemetry
        return agent if telemetry is None else telemetry.agent(agent)

    def transcript(self) -> list[Content]:
        """The model-facing history, oldest first."""
        return self._chats.current.shown_history()

    async def reset(self) -> None:
        """Start the conversation anew."""
        self._chats.reset()
        self._services.steering.clear()

    async def compress(self) -> None:
        """Summarise the history now.

        Raises:
            ModelError: no summary could be got.
        """
        prompt_id = f"compress-{self._services.clock.now_ms()}"
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
        """Give a hint to the children that run, and in an interactive session to the main loop.

        Raises:
            ValueError: there is no such source.
        """
        self._services.steering.add(text, InjectionSource(source))

    async def take_hints(self) -> str | None:
        """Take the hints that wait for the main loop, as a prompt of their own."""
        return self._services.steering.main.take_prompt()

    async def settled(self) -> None:
        """Return when no stream's work is left, rollbacks after an abort included."""
        await self._tasks.settled()

    async def close(self) -> None:
        """Abort what runs and await it."""
        for each in self._running():
            await each.abort()
        self._services.scheduler.cancel_all()
        await self._tasks.end(_GRACE_S)
        await self._close_agents()
        self._services.scheduler.dispose()
