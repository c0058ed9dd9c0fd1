"""`UpstreamAgent`: the published core's `LegacyAgentSession` behind `AgentProtocol`."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from agent_protocol.agent import AgentSend, Subscriber, Unsubscribe
from agent_protocol.codec import from_wire, send_to_wire
from agent_protocol.errors import MalformedMessage, SendRejected, StreamActive, UnsupportedSend
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEvent
from runtimes.contract import CommandFailed
from runtimes.upstream.connection import Connection
from services.wire import JsonObject

__all__ = ["Agents", "UpstreamAgent"]


class UpstreamAgent:
    """One agent of the driver's session.

    The core waits in its subscriber while an event is delivered here. So an abort by a subscriber
    takes effect before the core goes on, as it would in one process.
    """

    def __init__(self, connection: Connection, number: int, on_abort: Callable[[], None]) -> None:
        self._connection = connection
        self._number = number
        self._on_abort = on_abort
        self._log = EventLog()
        self._active = False

    @property
    def active(self) -> bool:
        """True from a stream's first event to its last."""
        return self._active

    @property
    def events(self) -> Sequence[AgentEvent]:
        """Everything emitted so far, oldest first."""
        return self._log.events

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        """Call `callback` with every event from now on."""
        return self._log.subscribe(callback)

    async def send(self, payload: AgentSend) -> str | None:
        """Hand `payload` to the core; returns its stream's id.

        Raises:
            StreamActive: the core refused it because a stream is running.
            UnsupportedSend: the core does not take payloads of this kind.
            SendRejected: the core refused it for another reason, in its own words.
            RuntimeBroken: its process is gone.
        """
        sending = self._connection.command(
            "send", agent=self._number, payload=send_to_wire(payload)
        )
        try:
            stream_id: str | None = await sending
        except CommandFailed as refused:
            raise _rejection(refused) from None
        return stream_id

    async def abort(self) -> None:
        """Ask the active stream to end; its `agent_end` follows."""
        if self._active:
            self._connection.order("abort", agent=self._number)
            self._on_abort()

    def take(self, wire: JsonObject) -> None:
        """Store and deliver an event.

        Raises:
            MalformedMessage: it is not of the contract.
        """
        event = from_wire(wire)
        self._active = event.type != "agent_end"
        self._log.emit([event])


class Agents:
    """The agents of one session, by the numbers that they have on the wire."""

    def __init__(self, connection: Connection, on_abort: Callable[[], None]) -> None:
        """Make none yet. `on_abort` is called after the core was asked to abort a stream."""
        self._connection = connection
        self._on_abort = on_abort
        self._numbers = itertools.count()
        self._agents: dict[int, UpstreamAgent] = {}
        self._at_rest = asyncio.Event()
        self._at_rest.set()
        connection.handlers["event"] = self._on_event

    def new(self, prompt_id: str | None) -> UpstreamAgent:
        """Make an agent, here and in the core."""
        number = next(self._numbers)
        agent = self._agents[number] = UpstreamAgent(self._connection, number, self._on_abort)
        self._connection.order("agent", agent=number, promptId=prompt_id)
        return agent

    async def at_rest(self) -> None:
        """Return when no stream of theirs runs, and the core has nothing left to do."""
        await self._connection.until_idle()
        while not self._at_rest.is_set():
            # A core that is idle may wait for the model.
            await self._at_rest.wait()
            await self._connection.until_idle()

    async def end(self) -> None:
        """Abort what runs; returns when it has ended."""
        for agent in self._agents.values():
            await agent.abort()
        await self.at_rest()

    def _on_event(self, message: JsonObject) -> None:
        agent: Any = self._agents.get(message.get("agent", -1))
        try:
            agent.take(message["event"])
        except (MalformedMessage, AttributeError) as problem:
            self._connection.fail(f"the core emitted an invalid event: {problem}")
        if any(each.active for each in self._agents.values()):
            self._at_rest.clear()
        else:
            self._at_rest.set()


def _rejection(refused: CommandFailed) -> SendRejected:
    """The contract's exception for the core's words. Source: core `legacy-agent-session.ts`."""
    if "while a stream is active" in refused.message:
        return StreamActive(refused.message)
    if "only supports message sends" in refused.message:
        return UnsupportedSend(refused.message)
    return SendRejected(refused.message)
