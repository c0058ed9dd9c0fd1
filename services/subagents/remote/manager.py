"""`A2AClientManager`: the clients and cards of a session's remote agents.

Source: core `agents/a2a-client-manager.ts`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import Any

import httpx

from services.abort import AbortError, AbortSignal, until_aborted
from services.clock import Clock
from services.session import Session
from services.subagents.definition import RemoteAgentDefinition
from services.subagents.remote.auth import AuthSeams, make_provider
from services.subagents.remote.cards import (
    checked_card,
    credentials_origin,
    inline_card,
    interface,
    require_home,
    target_url,
)
from services.subagents.remote.client import A2AClient
from services.subagents.remote.errors import AgentConnectionError, RemoteAgentError, TaskCancelled
from services.subagents.remote.fetching import fetch_card
from services.subagents.remote.google import AccountTokens, GoogleAccount
from services.subagents.remote.http import open_http
from services.subagents.remote.limits import Limits
from services.subagents.remote.results import Conversation
from services.subagents.remote.secrets import Secrets
from services.subagents.remote.security import with_old_schemes
from services.subagents.remote.values import ValueResolver
from services.wire import Json, JsonObject

__all__ = ["A2AClientManager"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Loaded:
    client: A2AClient
    card: JsonObject


class A2AClientManager:
    """Loads agents, and sends messages to loaded ones."""

    def __init__(
        self, session: Session, secrets: Secrets, limits: Limits, google: AccountTokens | None
    ) -> None:
        environment, workspace, clock = session.environment, session.workspace, session.clock
        self._seams = AuthSeams(
            values=ValueResolver(environment=environment, workspace=workspace, clock=clock),
            secrets=secrets,
            clock=clock,
            google=google or GoogleAccount(environment, workspace.home, clock),
        )
        self._limits = limits
        self._clock = clock
        self._agents: dict[str, _Loaded] = {}
        self._open: list[httpx.AsyncClient] = []

    def has(self, name: str) -> bool:
        """Whether an agent is loaded."""
        return name in self._agents

    async def load(self, definition: RemoteAgentDefinition) -> JsonObject:
        """Get an agent's card, make its client, and return the card.

        Raises:
            AgentConnectionError: the card has no supported interface.
            RemoteAgentError: credentials or card are not available.
        """
        name = definition.name
        if name in self._agents:
            raise RemoteAgentError(f"Agent with name '{name}' is already loaded.")
        provider, home = None, None
        if definition.auth is not None:
            # Before the credentials are read, which can run the user's commands.
            home = credentials_origin(definition)
            provider = await make_provider(
                definition.auth,
                agent=name,
                target_url=target_url(definition),
                seams=self._seams,
            )
        async with AsyncExitStack() as unless_loaded:
            http = open_http(self._limits, provider, home)
            unless_loaded.push_async_callback(http.aclose)
            card = checked_card(await self._card(definition, http))
            try:
                way = interface(card)
            except RemoteAgentError as error:
                place = definition.card_url or "inline JSON"
                raise AgentConnectionError(place, str(error)) from error
            if provider is not None:
                require_home(name, way, home)
            streaming = bool(_capabilities(card).get("streaming"))
            self._agents[name] = _Loaded(A2AClient(way, http, streaming=streaming), card)
            unless_loaded.pop_all()
        self._open.append(http)
        return card

    async def ask(
        self,
        name: str,
        text: str,
        *,
        message_id: str,
        conversation: Conversation,
        signal: AbortSignal,
    ) -> AsyncGenerator[JsonObject, None]:
        """Send `text` to an agent and yield the chunks of its response.

        No request runs any more when this ends. An abort also cancels the agent's task, which
        upstream leaves running.

        Raises:
            TaskCancelled: the signal was aborted, and the agent's task ended.
            RemoteAgentError: the agent is not loaded, failed, or the signal was aborted.
        """
        loaded = self._agents.get(name)
        if loaded is None:
            raise RemoteAgentError(f"Agent '{name}' not found.")
        exchange = _Exchange(loaded.client.send(text, message_id, conversation), self._clock)
        at = conversation
        try:
            async with aclosing(exchange.chunks(signal)) as chunks:
                async for chunk in chunks:
                    at = at.after(chunk)
                    yield chunk
        except AbortError:
            ended = at.task_id is not None and await self._cancel(name, loaded.client, at.task_id)
            kind = TaskCancelled if ended else RemoteAgentError
            raise kind(_prefixed(name, "This operation was aborted")) from None
        except RemoteAgentError as error:
            # Without the cause, which contains the server's response.
            raise RemoteAgentError(
                _prefixed(name, self._seams.secrets.masked(str(error)))
            ) from None

    def clear(self) -> None:
        """Remove every client and card. The session's end closes their connections."""
        self._agents.clear()

    async def close(self) -> None:
        """Close every connection. Safe to call twice."""
        while self._open:
            await self._open.pop().aclose()

    async def _card(self, definition: RemoteAgentDefinition, http: httpx.AsyncClient) -> Json:
        if definition.card_json:
            return inline_card(definition.name, definition.card_json)
        if not definition.card_url:
            raise RemoteAgentError(
                f"Remote agent '{definition.name}' has neither agentCardUrl nor agentCardJson"
            )
        with self._clock.real_work():
            return with_old_schemes(await fetch_card(definition.card_url, http, self._limits))

    async def _cancel(self, name: str, client: A2AClient, task_id: str) -> bool:
        """Cancel a task; return whether the agent confirmed it."""
        try:
            with self._clock.real_work():
                await client.cancel(task_id, self._limits.cancel_s)
        except RemoteAgentError as error:
            # The call has ended here, but the server may still work.
            logger.warning(
                "A task of the remote agent '%s' could not be cancelled: %s",
                name,
                self._seams.secrets.masked(str(error)),
            )
            return False
        return True


class _Exchange:
    """Reads a response in its own task, so that an early stop closes the connection at once.

    An abandoned generator would close it some time later.
    """

    def __init__(self, answer: AsyncGenerator[JsonObject, None], clock: Clock) -> None:
        self._answer = answer
        self._clock = clock
        self._arrived: asyncio.Queue[JsonObject | None] = asyncio.Queue()

    async def chunks(self, signal: AbortSignal) -> AsyncGenerator[JsonObject, None]:
        """Yield the chunks.

        Raises:
            AbortError: the signal was aborted.
            RemoteAgentError: the response failed.
        """
        signal.raise_if_aborted()
        reader = asyncio.get_running_loop().create_task(self._read())
        try:
            while True:
                chunk = await until_aborted(self._arrived.get(), signal)
                if chunk is None:
                    break
                yield chunk
            await reader
        finally:
            reader.cancel()
            await asyncio.wait([reader])

    async def _read(self) -> None:
        try:
            with self._clock.real_work():
                async with aclosing(self._answer) as answer:
                    async for chunk in answer:
                        self._arrived.put_nowait(chunk)
        finally:
            self._arrived.put_nowait(None)


def _prefixed(name: str, message: str) -> str:
    return f"[A2AClientManager] sendMessageStream Error [{name}]: {message}"


def _capabilities(card: JsonObject) -> dict[str, Any]:
    found = card.get("capabilities")
    return found if isinstance(found, dict) else {}
