"""`AgentSession`: an agent's events as an async iterator, with replay and re-attachment.

Source: gemini-cli `packages/core/src/agent/agent-session.ts`; reference `agent-protocol.md`,
section 11.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import islice

from agent_protocol.agent import AgentProtocol, AgentSend, Subscriber, Unsubscribe
from agent_protocol.errors import StreamNotFound
from agent_protocol.events import AgentEnd, AgentEvent, AgentStart

__all__ = ["AgentSession"]


class AgentSession:
    """Wraps any `AgentProtocol`; is one itself.

    Both iterators hold a subscription until they end. A consumer that may stop early closes
    them with `contextlib.aclosing`: leaving an `async for` does not.
    """

    def __init__(self, protocol: AgentProtocol) -> None:
        self._protocol = protocol

    @property
    def events(self) -> Sequence[AgentEvent]:
        """The agent's trajectory."""
        return self._protocol.events

    async def send(self, payload: AgentSend) -> str | None:
        """Send to the agent; see `AgentProtocol.send`."""
        return await self._protocol.send(payload)

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        """Subscribe to the agent; see `AgentProtocol.subscribe`."""
        return self._protocol.subscribe(callback)

    async def abort(self) -> None:
        """Abort the agent's active stream; see `AgentProtocol.abort`."""
        await self._protocol.abort()

    async def send_stream(self, payload: AgentSend) -> AsyncGenerator[AgentEvent, None]:
        """Send, then yield the resulting stream from its `agent_start` to its `agent_end`.

        Nothing is sent before the first event is asked for. Yields nothing when the send was
        acknowledged without activity.

        Raises:
            SendRejected: as `AgentProtocol.send`.
        """
        stream_id = await self._protocol.send(payload)
        if stream_id is None:
            return
        async with aclosing(self.stream(stream_id=stream_id)) as events:
            async for event in events:
                yield event

    async def stream(
        self, *, event_id: str | None = None, stream_id: str | None = None
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield one stream's activity: past events, then live ones, up to its `agent_end`.

        With `event_id`, the events after it on its stream (and `stream_id` plays no part).
        With `stream_id`, that stream from its `agent_start`, which may be yet to come. With
        neither, the most recent stream that has not ended, or else the next one to start. An
        empty string counts as not given. Waiting is unbounded: an unknown `stream_id` or an
        idle agent waits for ever.

        Raises:
            StreamNotFound: at the first step: `event_id` is not in the trajectory, or its
                stream has no `agent_start` yet.
        """
        attachment = _Attachment(stream_id)
        unsubscribe = self._protocol.subscribe(attachment.receive)
        try:
            attachment.replay(self._protocol.events, event_id)
            while True:
                while attachment.queue:
                    yield attachment.queue.popleft()
                if attachment.done:
                    return
                await attachment.more()
        finally:
            unsubscribe()


class _Attachment:
    """One iteration's state: its stream, and the events that it has still to yield."""

    def __init__(self, stream_id: str | None) -> None:
        self.queue: deque[AgentEvent] = deque()
        self.done = False
        self._stream_id = stream_id
        self._active = False
        self._early: list[AgentEvent] | None = []
        self._arrived = asyncio.Event()

    def receive(self, event: AgentEvent) -> None:
        """Take a live event; until the replay is over it is only set aside."""
        if self.done:
            return
        if self._early is not None:
            self._early.append(event)
            return
        self._consider(event)
        self._arrived.set()

    async def more(self) -> None:
        """Wait for the next live event."""
        self._arrived.clear()
        await self._arrived.wait()

    def replay(self, history: Sequence[AgentEvent], event_id: str | None) -> None:
        """Queue the stream's events in `history`, then those that were set aside meanwhile."""
        start = self._attach(history, event_id)
        replayed: set[str] = set()
        if start is not None:
            for event in islice(history, start, None):
                if self.done:
                    break
                self._consider(event)
                replayed.add(event.id)
        early, self._early = self._early or [], None
        for event in early:
            if self.done:
                break
            # Set aside, but already stored when the history was read.
            if event.id not in replayed:
                self._consider(event)

    def _consider(self, event: AgentEvent) -> None:
        if self._stream_id and event.stream_id != self._stream_id:
            return
        if not self._active:
            if not isinstance(event, AgentStart):
                return
            self._stream_id = event.stream_id
            self._active = True
        self.queue.append(event)
        if isinstance(event, AgentEnd):
            self.done = True

    def _attach(self, history: Sequence[AgentEvent], event_id: str | None) -> int | None:
        """Choose the stream and the index to replay from; None when there is nothing to replay."""
        if event_id:
            return self._attach_after(history, event_id)
        if self._stream_id:
            return _start_index(history, self._stream_id)
        ended = {event.stream_id for event in history if isinstance(event, AgentEnd)}
        for index in range(len(history) - 1, -1, -1):
            event = history[index]
            if isinstance(event, AgentStart) and event.stream_id not in ended:
                self._stream_id = event.stream_id
                return index
        return None

    def _attach_after(self, history: Sequence[AgentEvent], event_id: str) -> int | None:
        index = next((i for i, event in enumerate(history) if event.id == event_id), None)
        if index is None:
            raise StreamNotFound(f"Unknown eventId: {event_id}")
        self._stream_id = history[index].stream_id
        if isinstance(history[index], AgentEnd):
            self.done = True
            return None
        start = _start_index(history, self._stream_id)
        if start is None:
            # Waiting could be for ever: the send may have been acknowledged without activity.
            raise StreamNotFound(
                f"Cannot resume from eventId {event_id} before agent_start"
                f" for stream {self._stream_id}"
            )
        if start > index:
            return start
        self._active = True
        return index + 1


def _start_index(history: Sequence[AgentEvent], stream_id: str) -> int | None:
    for index, event in enumerate(history):
        if isinstance(event, AgentStart) and event.stream_id == stream_id:
            return index
    return None
