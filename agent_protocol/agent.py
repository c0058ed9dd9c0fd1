"""`AgentProtocol`: the four members behind which every runtime sits, and what can be sent.

Source: gemini-cli `packages/core/src/agent/types.ts`, `AgentProtocol` and `AgentSend`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agent_protocol.content import ContentPart
from agent_protocol.events import AgentEvent

__all__ = [
    "ActionSend",
    "AgentProtocol",
    "AgentSend",
    "MessageSend",
    "Subscriber",
    "Trajectory",
    "Unsubscribe",
    "UpdateSend",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSend:
    """A user's message. `display_content` is shown to the user and recorded as shown."""

    content: tuple[ContentPart, ...]
    display_content: str | None = None
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateSend:
    """A change of the session's title, model or configuration."""

    title: str | None = None
    model: str | None = None
    config: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionSend:
    """A free-form action."""

    type: str
    data: Any = field(default=None, metadata={"nullable": True})
    meta: Mapping[str, Any] | None = None


AgentSend = MessageSend | UpdateSend | ActionSend

Subscriber = Callable[[AgentEvent], None]
Unsubscribe = Callable[[], None]


class Trajectory(Protocol):
    """Anything that has a history of events."""

    @property
    def events(self) -> Sequence[AgentEvent]:
        """Everything emitted so far, oldest first, over all streams. Never shrinks or reorders."""
        ...


class AgentProtocol(Trajectory, Protocol):
    """One conversation with an agent."""

    async def send(self, payload: AgentSend) -> str | None:
        """Return the `stream_id` this send affects, before that stream's `agent_start`.

        `None` when it was acknowledged without activity. Resolves on acknowledgement, not when
        the agent is done.

        Raises:
            UnsupportedSend: this agent does not take payloads of this kind.
            StreamActive: a stream is running and the agent takes one at a time.
        """
        ...

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        """Call `callback` with every event from now on, synchronously and in order.

        Past events are not replayed. An event is in `events` before subscribers see it. A
        callback that raises is logged and skipped; it cannot change the run.
        """
        ...

    async def abort(self) -> None:
        """Ask the active stream to end and return at once; its `agent_end` follows.

        Does nothing when idle.
        """
        ...
