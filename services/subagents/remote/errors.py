"""Errors of remote agents, with messages for the user and the model.

Source: core `agents/a2a-errors.ts`.
"""

from __future__ import annotations

import re
from typing import Final

from services.subagents.remote_loading import RemoteLoadError

__all__ = [
    "A2AAgentError",
    "AgentCardAuthError",
    "AgentCardNotFoundError",
    "AgentConnectionError",
    "RemoteAgentError",
    "TaskCancelled",
    "classified",
    "failure_text",
]

_UNREACHABLE: Final = re.compile(
    r"\b(ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT)\b", re.IGNORECASE
)
_NOT_FOUND: Final = re.compile(r"\b404\b|\bnot[\s_-]?found\b", re.IGNORECASE)
_UNAUTHORIZED: Final = re.compile(r"\b401\b|unauthorized", re.IGNORECASE)
_FORBIDDEN: Final = re.compile(r"\b403\b|forbidden", re.IGNORECASE)
_CAUSES: Final = 10
"""The longest chain of causes that is searched."""


class RemoteAgentError(Exception):
    """A remote agent failed; the message has no credentials."""

    name = "Error"
    """The name in an event's `_meta.errorName`."""


class TaskCancelled(RemoteAgentError):
    """The call was aborted and the agent's task has ended: it cannot be continued."""


class A2AAgentError(RemoteLoadError):
    """An error that the user can resolve; the message says how."""

    def __init__(self, agent_name: str, user_message: str) -> None:
        super().__init__(user_message)
        self.agent_name = agent_name


class AgentCardNotFoundError(A2AAgentError):
    """There is no card at the card's address."""

    def __init__(self, agent_name: str, place: str) -> None:
        super().__init__(
            agent_name,
            f"Agent card not found (404) at {place}. "
            "Verify the agent_card_url in your agent definition.",
        )


class AgentCardAuthError(A2AAgentError):
    """The agent refused the credentials."""

    def __init__(self, agent_name: str, place: str, status: int) -> None:
        reason = "Unauthorized" if status == 401 else "Forbidden"
        super().__init__(
            agent_name,
            f"Authentication failed ({status} {reason}) at {place}. "
            'Check the "auth" configuration in your agent definition.',
        )
        self.status_code = status


class AgentConnectionError(A2AAgentError):
    """Another failure of the connection."""

    def __init__(self, agent_name: str, place: str, cause: str) -> None:
        super().__init__(agent_name, f"Connection failed for {place}: {cause}")


def classified(agent_name: str, place: str, error: BaseException) -> A2AAgentError:
    """Classify an `error` that occurred with the card at `place`."""
    text = _chain(error)
    # Before the 404: an unknown host is not a missing page.
    if _UNREACHABLE.search(text):
        return AgentConnectionError(agent_name, place, str(error))
    if _NOT_FOUND.search(text):
        return AgentCardNotFoundError(agent_name, place)
    if _UNAUTHORIZED.search(text):
        return AgentCardAuthError(agent_name, place, 401)
    if _FORBIDDEN.search(text):
        return AgentCardAuthError(agent_name, place, 403)
    return AgentConnectionError(agent_name, place, str(error))


def failure_text(error: BaseException) -> str:
    """Return the text of a failed call for the model."""
    if isinstance(error, A2AAgentError):
        return error.user_message
    return f"Error calling remote agent: {error}"


def _chain(error: BaseException) -> str:
    parts: list[str] = []
    current: BaseException | None = error
    while current is not None and len(parts) < _CAUSES:
        parts.append(str(current))
        current = current.__cause__
    return " ".join(parts)
