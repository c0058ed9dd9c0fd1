"""`RemoteAgents`: loads a session's remote agents, sends queries and closes connections."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from services.abort import AbortError, AbortSignal, until_aborted
from services.session import Session
from services.subagents.definition import RemoteAgentDefinition
from services.subagents.remote.cards import target_url
from services.subagents.remote.errors import AgentConnectionError, RemoteAgentError
from services.subagents.remote.google import AccountTokens
from services.subagents.remote.limits import Limits
from services.subagents.remote.results import Conversation
from services.subagents.remote.secrets import Secrets
from services.subagents.remote.security import required_auth
from services.subagents.remote_loading import RemoteCard
from services.threads import executing_call
from services.wire import JsonObject

if TYPE_CHECKING:  # slow to import, see `_agents`
    from services.subagents.remote.manager import A2AClientManager

__all__ = ["RemoteAgents", "conversation_key"]


class RemoteAgents:
    """The registry's `RemoteLoader`, and the client of remote agents.

    It also keeps the conversations with the agents. Upstream keeps them for the whole process; here
    they end with the session, because a replay must depend on its cassette alone.
    """

    def __init__(
        self,
        session: Session,
        *,
        limits: Limits | None = None,
        google: AccountTokens | None = None,
    ) -> None:
        """Make an object without loaded agents.

        Args:
            session: its environment has the values of `$NAME` in `auth` blocks; its clock stops
                during requests.
            limits: limits of time and size.
            google: the source of Google tokens; `None`: the environment's account.
        """
        self.clock = session.clock
        self.ids = session.ids
        self.secrets = Secrets()
        """Every resolved credential; responses of agents are masked."""
        self._session = session
        self._limits = limits or Limits()
        self._google = google
        self._manager: A2AClientManager | None = None
        self._conversations: dict[str, Conversation] = {}

    async def load(self, definition: RemoteAgentDefinition) -> RemoteCard:
        """Get an agent's card and make its client.

        Raises:
            AgentConnectionError: for a reason that the user can resolve.
            RemoteAgentError: for another reason.
        """
        card = self.secrets.masked_value(await self._loaded(definition))
        return RemoteCard(
            description=_text(card.get("description")),
            skills=tuple(
                (str(skill.get("name")), _text(skill.get("description")))
                for skill in _list(card.get("skills"))
                if isinstance(skill, dict)
            ),
            required_auth=required_auth(card, definition.auth),
        )

    async def ask(
        self,
        definition: RemoteAgentDefinition,
        query: str,
        conversation: Conversation,
        signal: AbortSignal,
    ) -> AsyncGenerator[JsonObject, None]:
        """Load an agent if necessary, send `query` and yield its response.

        Raises:
            AgentConnectionError: the agent cannot be reached.
            RemoteAgentError: it failed, or the signal was aborted.
        """
        manager = self._agents()
        if not manager.has(definition.name):
            try:
                await until_aborted(self._loaded(definition), signal)
            except AbortError:
                raise RemoteAgentError("This operation was aborted") from None
        # One scope per call, because parallel calls take their ids independently.
        message_id = self.ids.uuid(f"a2a-message {executing_call() or definition.name}")
        answer = manager.ask(
            definition.name,
            query,
            message_id=message_id,
            conversation=conversation,
            signal=signal,
        )
        async with aclosing(answer) as chunks:
            async for chunk in chunks:
                yield self.secrets.masked_value(chunk)

    def conversation(self, key: str) -> Conversation:
        """Return the conversation `key`, or a new one."""
        return self._conversations.get(key, Conversation())

    def keep(self, key: str, conversation: Conversation) -> None:
        """Store a conversation."""
        self._conversations[key] = conversation

    def clear(self) -> None:
        """Remove every agent; conversations stay."""
        if self._manager is not None:
            self._manager.clear()

    async def close(self) -> None:
        """Close every connection. Safe to call twice."""
        if self._manager is not None:
            await self._manager.close()

    async def _loaded(self, definition: RemoteAgentDefinition) -> JsonObject:
        try:
            return await self._agents().load(definition)
        except AgentConnectionError as error:
            error.args = (self.secrets.masked(str(error)),)
            raise
        except RemoteAgentError as error:
            raise RemoteAgentError(self.secrets.masked(str(error))) from None

    def _agents(self) -> A2AClientManager:
        if self._manager is None:
            # The A2A library takes half a second to import, and most sessions do without.
            from services.subagents.remote.manager import A2AClientManager

            self._manager = A2AClientManager(
                self._session, self.secrets, self._limits, self._google
            )
        return self._manager


def conversation_key(definition: RemoteAgentDefinition) -> str:
    """Return the key of an agent's conversation: its name and address."""
    url = target_url(definition)
    return f"{definition.name}::{url}" if url else definition.name


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
