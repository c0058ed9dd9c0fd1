"""What can go wrong between a client and an agent.

AgentError
├── ProtocolViolation        our bug: an illegal order of events
├── SendRejected             the send did not happen; nothing changed
│   ├── UnsupportedSend
│   └── StreamActive
├── StreamNotFound           `AgentSession.stream` cannot attach where it was asked to
└── MalformedMessage         a line or mapping that is not of the contract; .path, .problem
"""

from __future__ import annotations

__all__ = [
    "AgentError",
    "MalformedMessage",
    "ProtocolViolation",
    "SendRejected",
    "StreamActive",
    "StreamNotFound",
    "UnsupportedSend",
]


class AgentError(Exception):
    """The root of what an agent raises to its client."""


class ProtocolViolation(AgentError):
    """An agent emitted what the lifecycle table forbids. A bug of the agent."""


class SendRejected(AgentError):
    """A send that was refused as a whole."""


class UnsupportedSend(SendRejected):
    """This agent does not take payloads of this kind."""


class StreamActive(SendRejected):
    """A stream is running, and the agent takes one at a time."""


class StreamNotFound(AgentError):
    """`AgentSession.stream` was asked to attach where there is nothing to attach to."""


class MalformedMessage(AgentError):
    """A message that is not of the contract. `path` points at the offending key."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path or 'message'}: {problem}")
        self.path = path
        self.problem = problem
