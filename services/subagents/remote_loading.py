"""Fetches the cards of one place's remote agents in parallel, and returns them in order.

A `RemoteLoader` implements the agents' protocol, so that the registry does not depend on it.

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
    """A remote agent's card is not available. The message is for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCard:
    """The fields of a card that the registry uses."""

    description: str | None = None
    skills: tuple[tuple[str, str | None], ...] = ()
    """Names and descriptions."""
    required_auth: str | None = None
    """The sign-in that the agent requires and its definition lacks."""


class RemoteLoader(Protocol):
    """Reads cards, and keeps a client for each agent until `clear`."""

    async def load(self, definition: RemoteAgentDefinition) -> RemoteCard:
        """Fetch or parse the card and make a client for it.

        Raises:
            RemoteLoadError: for a reason that the user can resolve.
            Exception: for another reason; other agents are not affected.
        """
        ...

    def clear(self) -> None:
        """Remove every agent; a later `load` fetches it again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteOutcome:
    """The result for one agent's card."""

    agent: RemoteAgentDefinition | None = None
    error: str | None = None
    warning: str | None = None


class RemoteCards:
    """Collects agents, then fetches all their cards in parallel."""

    def __init__(self, loader: RemoteLoader | None) -> None:
        self._loader = loader
        self._wanted: dict[str, RemoteAgentDefinition] = {}

    @property
    def names(self) -> frozenset[str]:
        """The names of the collected agents."""
        return frozenset(self._wanted)

    def want(self, agent: RemoteAgentDefinition) -> None:
        """Add an agent."""
        self._wanted[agent.name] = agent

    async def loaded(self) -> AsyncIterator[RemoteOutcome]:
        """Yield the result for each agent, in order; failures are independent."""
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
        return RemoteOutcome(error=f"[{agent.name}] {error}")
    except Exception as error:  # noqa: BLE001 - one agent's card must not affect the others
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
    """Set a remote agent's hash to its card's address, or to the hash of the card's text.

    Source: core `agents/registry.ts` (`ensureRemoteAgentHash`).
    """
    if not isinstance(agent, RemoteAgentDefinition):
        return agent
    if agent.card_url:
        return replace(agent, hash=agent.card_url)
    if agent.card_json:
        digest = hashlib.sha256(agent.card_json.encode(errors="surrogatepass")).hexdigest()
        return replace(agent, hash=digest)
    return agent
