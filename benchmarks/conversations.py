"""A conversation of one of our runtimes, turn by turn, through `AgentProtocol` alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from agent_protocol.agent import AgentProtocol, MessageSend
from agent_protocol.content import TextPart
from agent_protocol.events import AgentEvent
from benchmarks.figures import MeasurementError
from benchmarks.model import Gate, InstantModel, Kind
from harness.replay.envelope import open_envelope
from runtimes.contract import Runtime
from runtimes.registry import open_runtime
from services.compose import open_services
from services.settings import Settings

__all__ = ["Conversation", "open_conversation"]


class Conversation:
    """One agent over one engine; a `turn` is one model turn and all that goes with it."""

    def __init__(
        self, name: str, agent: AgentProtocol, runtime: Runtime, gate: Gate | None
    ) -> None:
        self._name = name
        self._agent = agent
        self._runtime = runtime
        self._gate = gate
        self._outcome = "nothing yet"
        agent.subscribe(self._on_event)

    async def begin(self) -> None:
        """Get to where the first turn can be asked for."""
        if self._gate is not None:
            await self._send()
            await self._gate.arrival()

    async def turn(self) -> None:
        """A send and its stream, or a round of the tool loop up to the next model request."""
        if self._gate is not None:
            await self._gate.turn()
            return
        await self._send()
        await self._runtime.settled()

    async def turns(self, count: int) -> None:
        """`count` turns."""
        for _ in range(count):
            await self.turn()

    async def end(self) -> None:
        """Finish the loop.

        Raises:
            MeasurementError: the last stream did not end as it should.
        """
        if self._gate is not None:
            self._gate.release()
            await self._runtime.settled()
        if self._outcome != "completed":
            raise MeasurementError(f"{self._name}: a stream ended with {self._outcome}")

    async def _send(self) -> None:
        await self._agent.send(MessageSend(content=(TextPart(text="Have a look."),)))

    def _on_event(self, event: AgentEvent) -> None:
        if event.type == "agent_end":
            self._outcome = event.reason
            if self._gate is not None:
                self._gate.fail(f"{self._name}: the tool loop ended by itself ({event.reason})")


@asynccontextmanager
async def open_conversation(runtime_name: str, kind: Kind) -> AsyncIterator[Conversation]:
    """A conversation in a folder of its own, under a virtual clock, the model instant.

    Raises:
        MeasurementError: the conversation went wrong.
    """
    gate = Gate() if kind == "tool" else None
    with open_envelope() as envelope:
        setup = replace(
            envelope.setup("gemini-2.5-flash", InstantModel(gate)),
            # The model says the same every time, which is what loop detection is there to end.
            settings=Settings(disable_loop_detection=True),
        )
        async with (
            open_services(setup) as services,
            open_runtime(runtime_name, services) as runtime,
        ):
            conversation = Conversation(runtime_name, runtime.agent(), runtime, gate)
            await conversation.begin()
            yield conversation
            await conversation.end()
