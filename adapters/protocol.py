"""`ForeignAgent`: an `AgentProtocol` over any conversation that yields what an agent emits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from adapters.crossing import Crossing
from adapters.events import Emit, EventTable
from adapters.problems import AgentBroke, agent_error
from agent_protocol.agent import AgentSend, MessageSend, Subscriber, Unsubscribe
from agent_protocol.content import TextPart
from agent_protocol.errors import StreamActive, UnsupportedSend
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEvent, Message
from agent_protocol.lifecycle import LifecycleChecker
from services.background import BackgroundTasks
from services.bundle import Services
from services.chat.events import NumberedEvents

__all__ = ["Conversation", "ForeignAgent"]


class Conversation(Protocol):
    """One conversation with an agent of a user."""

    def send(self, text: str) -> AsyncGenerator[Any, None]:
        """Send a message; iterate over what the agent emits until it has answered."""
        ...

    def around(self) -> AbstractContextManager[object]:
        """Return the context in which the agent runs: its clock and its model."""
        ...

    @property
    def place(self) -> str:
        """The line at which the agent stands; empty if it is not known."""
        ...


class ForeignAgent:
    """Drives a conversation. One stream runs at a time."""

    def __init__(
        self,
        conversation: Callable[[], Conversation],
        services: Services,
        tasks: BackgroundTasks,
        table: EventTable,
        *,
        pieces: bool,
    ) -> None:
        self._conversation = conversation
        self._services = services
        self._tasks = tasks
        self._table = table
        self._pieces = pieces
        self._log = EventLog()
        self._checker = LifecycleChecker()
        self._active = False
        self._aborted = False
        self._crossing: Crossing[Any] | None = None

    @property
    def events(self) -> Sequence[AgentEvent]:
        """Everything emitted so far."""
        return self._log.events

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        """See `AgentProtocol.subscribe`."""
        return self._log.subscribe(callback)

    async def send(self, payload: AgentSend) -> str | None:
        """See `AgentProtocol.send`."""
        if not isinstance(payload, MessageSend):
            raise UnsupportedSend("this agent only supports message sends")
        if self._active:
            raise StreamActive("send() cannot be called while a stream is active")
        stream_id = self._services.ids.uuid("stream")
        numbered = NumberedEvents(stream_id, clock=self._services.clock)
        fields = numbered.fields()
        self._emit(Message(**fields, role="user", content=payload.content, meta=payload.meta))
        text = "\n".join(part.text for part in payload.content if isinstance(part, TextPart))
        self._active, self._aborted = True, False
        self._tasks.start(self._stream(numbered, text), name=f"stream {stream_id}")
        return stream_id

    async def abort(self) -> None:
        """See `AgentProtocol.abort`."""
        if self._active:
            self._aborted = True
            if self._crossing is not None:
                self._crossing.cancel()

    def _emit(self, event: AgentEvent) -> None:
        self._log.emit([event])

    async def _stream(self, numbered: NumberedEvents, text: str) -> None:
        """Run one stream, from its `agent_start` to its `agent_end`.

        Raises:
            AgentBroke: the agent does what no agent may do.
        """
        emit = Emit(numbered, self._emit, self._checker, pieces=self._pieces)
        emit.send(numbered.start())
        reason = "failed"
        try:
            reason = await self._items(emit, text)
        except AgentBroke:
            raise
        except asyncio.CancelledError:
            reason = "aborted"
            raise
        except Exception as error:  # noqa: BLE001 - an error of the agent is what its client sees
            emit.flush()
            emit.send(numbered.error(agent_error(error)))
        finally:
            self._crossing, self._active = None, False
            emit.flush()
            emit.send(numbered.end(reason))

    async def _items(self, emit: Emit, text: str) -> str:
        """Emit what the agent emits; return the reason of the stream's end."""
        conversation = self._conversation()
        source = conversation.send(text)
        async with Crossing(source, around=conversation.around()) as items:
            self._crossing = items
            try:
                async for item in items:
                    if self._aborted:
                        break
                    self._convert(item, emit, conversation)
            except asyncio.CancelledError:
                if not self._aborted:
                    raise
        return "aborted" if self._aborted else emit.reason

    def _convert(self, item: Any, emit: Emit, conversation: Conversation) -> None:
        try:
            self._table.convert(item, emit)
        except AgentBroke as broke:
            place = conversation.place
            where = f"at {place} it " if place else "it "
            raise AgentBroke(f"{where}{broke}") from broke
