"""Errors of remote agents, with messages for the user and the model.

Source: core `agents/a2a-errors.ts`.
"""

from __future__ import annotations

from services.subagents.remote_loading import RemoteLoadError

__all__ = ["AgentConnectionError", "RemoteAgentError", "TaskCancelled", "failure_text"]


class RemoteAgentError(Exception):
    """A remote agent failed; the message has no credentials."""

    name = "Error"
    """The name in an event's `_meta.errorName`."""


class TaskCancelled(RemoteAgentError):
    """The call was aborted and the agent's task has ended: it cannot be continued."""


class AgentConnectionError(RemoteLoadError):
    """The connection to the agent of the card at `place` failed."""

    def __init__(self, place: str, cause: str) -> None:
        super().__init__(f"Connection failed for {place}: {cause}")


def failure_text(error: BaseException) -> str:
    """Return the text of a failed call for the model."""
    if isinstance(error, AgentConnectionError):
        return str(error)
    return f"Error calling remote agent: {error}"
