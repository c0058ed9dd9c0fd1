"""The cards of the remote agents of one place: fetched together, told of in the files' order.

Who fetches one (`RemoteLoader`) speaks the agents' protocol, which the registry knows nothing of.

Source: core `agents/registry.ts` (`registerRemoteAgent`), `agents/a2a-errors.ts`.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Protocol

from services.subagents.definition import AgentDefinition, RemoteAgentDefinition
from services.wire import js_trim

__all__ = [
    "RemoteCard",
    "RemoteCards",
    "RemoteLoadError",
    "RemoteLoader",
    "RemoteOutcome",
    "with_card_hash",
]


class RemoteLoadError(Exception):
    """A remote agent's card cannot be had. `user_message` is what people are told."""

    def __init__(self, user_message: str) -> None:
        super().__init__(user_message)
        self.user_message = user_message


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCard:
    """What the registry wants to know of a card."""

    description: str | None = None
    skills: tuple[tuple[str, str | None], ...] = ()
    """Names and descriptions."""
    required_auth: str | None = None
    """How the agent wants to be signed in to, where the definition does not do so."""


class RemoteLoader(Protocol):
    """Reads cards, and keeps a client for each agent until it is told to forget them."""

    async def load(self, definition: RemoteAgentDefinition) -> RemoteCard:
        """Fetch or parse the card and make a client for it.

        Raises:
            RemoteLoadError: for a reason that people can do something about.
            Exception: anything else; it costs this agent alone.
        """
        ...

    def clear(self) -> None:
        """Forget every agent: what is loaded next is loaded anew."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteOutcome:
    """What came of one agent's card."""

    agent: RemoteAgentDefinition | None = None
    error: str | None = None
    warning: str | None = None


class RemoteCards:
    """Collects agents, then fetches all their cards at once."""

    def __init__(self, loader: RemoteLoader | None) -> None:
        self._loader = loader
        self._wanted: dict[str, RemoteAgentDefinition] = {}

    @property
    def names(self) -> frozenset[str]:
        """Whose cards are wanted."""
        return frozenset(self._wanted)

    def want(self, agent: RemoteAgentDefinition) -> None:
        """Fetch this agent's card too."""
        self._wanted[agent.name] = agent

    async def loaded(self) -> AsyncIterator[RemoteOutcome]:
        """What came of each, in order; one that fails costs the others nothing."""
        if self._loader is None or not self._wanted:
            return
        loader = self._loader
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_load(loader, agent), name=f"card of {agent.name}")
                for agent in self._wanted.values()
            ]
        for task in tasks:
            yield task.result()


async def _load(loader: RemoteLoader, agent: RemoteAgentDefinition) -> RemoteOutcome:
    agent = replace(
        agent,
        original_description=(
            agent.description if agent.original_description is None else agent.original_description
        ),
    )
    try:
        card = await loader.load(agent)
    except RemoteLoadError as error:
        return RemoteOutcome(error=f"[{agent.name}] {error.user_message}")
    except Exception as error:  # noqa: BLE001 - whatever a card can cause costs this agent alone
        return RemoteOutcome(error=f"[{agent.name}] Failed to load remote agent: {error}")
    warning = None
    if card.required_auth is not None:
        warning = f"[{agent.name}] Agent requires authentication: {card.required_auth}"
    return RemoteOutcome(
        agent=replace(agent, description=_description(agent, card)), warning=warning
    )


def _description(agent: RemoteAgentDefinition, card: RemoteCard) -> str:
    lines = []
    if said := js_trim(agent.original_description or ""):
        lines.append(f"User Description: {said}")
    if said := js_trim(card.description or ""):
        lines.append(f"Agent Description: {said}")
    if card.skills:
        skills = (f"{name}: {text or 'No description provided'}" for name, text in card.skills)
        lines.append("Skills:\n" + "\n".join(skills))
    return "\n".join(lines) or agent.description


def with_card_hash(agent: AgentDefinition) -> AgentDefinition:
    """A remote agent is known by its card: the address as it is, or the hash of the text.

    Source: core `agents/registry.ts` (`ensureRemoteAgentHash`).
    """
    if not isinstance(agent, RemoteAgentDefinition):
        return agent
    if agent.card_url:
        return replace(agent, hash=agent.card_url)
    if agent.card_json:
        digest = hashlib.sha256(agent.card_json.encode("utf-8", "surrogatepass")).hexdigest()
        return replace(agent, hash=digest)
    return agent
