"""What the registry asks of whoever reads remote agents' cards.

Source: core `agents/registry.ts` (`registerRemoteAgent`), `agents/a2a-errors.ts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from services.subagents.definition import RemoteAgentDefinition

__all__ = ["RemoteCard", "RemoteLoadError", "RemoteLoader"]


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
