"""What a send is to the agent that drives ADK: a handler that takes it, and the active send.

One class drives a conversation and a child's task. The factory gives it the handler of that kind of
session (`runtimes.adk.conversation_handler`, `runtimes.adk.child.session`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from google.adk.events.event import Event

from agent_protocol.agent import AgentSend
from agent_protocol.event_log import EventLog
from runtimes.adk.run import Run
from runtimes.adk.stream import OpenStream
from services.wire import Content

__all__ = ["ActiveSend", "Invoke", "Reader", "SendHandler"]

Reader = Callable[[Event], bool]
"""Takes ADK's events in as they come; false leaves the invocation at once."""

Invoke = Callable[[Run, Content, Reader], Awaitable[None]]
"""One user-role request, and the tool rounds that follow from it.

Raises:
    Exception: whatever the invocation raised; `Run.step.failure`, where the model failed.
"""


class ActiveSend(Protocol):
    """One send on its way."""

    @property
    def stream(self) -> OpenStream:
        """What its client sees."""
        ...

    def announce(self) -> None:
        """Emit what was sent, before anything else happens."""
        ...

    async def drive(self, invoke: Invoke) -> None:
        """Do what was asked, from after `agent_start` to `agent_end`."""
        ...

    def failed(self, error: Exception) -> None:
        """Emit the error that escaped `drive`, and end the stream."""
        ...

    async def over(self) -> None:
        """Nothing of the send runs any more, however it ended."""
        ...

    def dropped(self) -> None:
        """Nothing of the send ever ran, and nothing will. The stream has ended; `over` is not
        called.
        """
        ...


class SendHandler(Protocol):
    """Takes the sends of one kind of session."""

    def take(self, payload: AgentSend, log: EventLog, *, busy: bool) -> ActiveSend | None:
        """The send that `payload` starts, if it starts one. `busy`: a stream is active.

        Raises:
            UnsupportedSend: this kind of session does not take such payloads.
            StreamActive: there is one stream at a time.
        """
        ...
