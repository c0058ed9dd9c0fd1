"""One conversation on ADK's runner."""

from __future__ import annotations

import pkgutil
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import Any, Final

from google.adk.agents.base_agent import BaseAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.platform import time as platform_time
from google.adk.platform import uuid as platform_uuid
from google.adk.runners import InMemoryRunner
from google.genai import types

from adapters.agent import AgentSession, Begin, Shows
from adapters.model.seam import ModelSeam
from adapters.model.transports import behind_clients
from services.bundle import Services
from services.clock import foreign_timers
from services.wire import JsonObject

__all__ = ["open_conversation", "resolved"]

_USER: Final = "user"


def resolved(agent: str | Any) -> BaseAgent | App:
    """Return the agent or app that `module:name` names.

    Raises:
        TypeError: it is neither.
        ImportError, AttributeError: there is nothing of that name.
    """
    found = pkgutil.resolve_name(agent) if isinstance(agent, str) else agent
    if not isinstance(found, BaseAgent | App):
        raise TypeError(f"{agent} is no agent of ADK but of type {type(found).__name__}")
    return found


@asynccontextmanager
async def open_conversation(
    services: Services,
    agent: BaseAgent | App,
    begin: Begin | None,
    shows: Mapping[str, Shows],
    *,
    streaming: bool,
) -> AsyncIterator[_Conversation]:
    """Open a conversation; leaving closes the runner."""
    conversation = _Conversation(services, agent, shows, streaming=streaming)
    try:
        if begin is not None:
            begin(conversation.session)
        yield conversation
    finally:
        await conversation.close()


class _Conversation:
    def __init__(
        self,
        services: Services,
        agent: BaseAgent | App,
        shows: Mapping[str, Shows],
        *,
        streaming: bool,
    ) -> None:
        self._services = services
        self._shows = shows
        self._seam = ModelSeam(services.content_generator)
        self.session = AgentSession(
            workspace=services.workspace.root, model=services.state.active_model
        )
        self._config = RunConfig(
            streaming_mode=StreamingMode.SSE if streaming else StreamingMode.NONE
        )
        if isinstance(agent, App):
            self._runner = InMemoryRunner(app=agent)
        else:
            self._runner = InMemoryRunner(agent=agent, app_name=agent.name)
        self._session_id: str | None = None
        self.place = ""

    @contextmanager
    def around(self) -> Iterator[None]:
        """The agent's context: clients, timers, ADK's time and ids."""
        clock, ids = self._services.clock, self._services.ids
        platform_time.set_time_provider(lambda: clock.now_ms() / 1000)
        platform_uuid.set_id_provider(lambda: ids.uuid("adk"))
        with foreign_timers(clock), behind_clients(self._seam):
            yield

    async def send(self, text: str) -> AsyncGenerator[Any, None]:
        """Iterate over the runner's events for a message."""
        if self._session_id is None:
            session = await self._runner.session_service.create_session(
                app_name=self._runner.app_name, user_id=_USER
            )
            self._session_id = session.id
        message = types.Content(role="user", parts=[types.Part(text=text)])
        events = self._runner.run_async(
            user_id=_USER,
            session_id=self._session_id,
            new_message=message,
            run_config=self._config,
        )
        async with aclosing(events):
            async for event in events:
                yield event

    def shown(self) -> Mapping[str, Sequence[JsonObject]]:
        """The items of the custom channels."""
        return {name: list(read(self.session)) for name, read in self._shows.items()}

    async def close(self) -> None:
        """End the answers of the model that the agent left open, and the runner."""
        await self._seam.close()
        await self._runner.close()
