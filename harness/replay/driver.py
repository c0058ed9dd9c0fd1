"""`Driver`: plays a cassette through a client: its script, and its `during` actions when due."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from agent_protocol.events import AgentEvent
from harness.cassette.format import (
    AfterChunk,
    AfterEvents,
    AtEventType,
    AtHttpRequest,
    AtOutput,
    AtRequest,
    AtTool,
    Cassette,
    During,
    Send,
)
from harness.replay.client import Client
from harness.replay.witness import Witness
from services.clock import VirtualClock
from services.threads import outside_calls

__all__ = ["Driver"]

_LONG_REAL_WORK_MS = 500
"""Milliseconds of real work that a delay never interrupts, since real durations vary."""
_POLL_S = 0.05


class Driver:
    """Drives one client through one cassette."""

    def __init__(
        self,
        cassette: Cassette,
        client: Client,
        witness: Witness,
        group: asyncio.TaskGroup,
        clock: VirtualClock,
    ) -> None:
        self._cassette = cassette
        self._client = client
        self._witness = witness
        self._group = group
        self._clock = clock
        self._waiting: list[During] = list(cassette.during)
        self._over = False
        self._shown: Counter[str] = Counter()
        self.place = "the session's start"
        """The current action as a key of the cassette."""
        witness.listen(self._on_event)
        witness.listen_to_output(self._on_output)

    async def play(self, resumed: Path | None = None) -> None:
        """Play the whole script, after resuming the chat recording `resumed`, if any.

        Returns when the work of the last stream is done.

        Raises:
            ReplayFailure: the script needs what the runtime cannot do.
            Unplayable: the script needs what a user of the surface cannot do.
        """
        if resumed is not None:
            await self._client.resume(resumed)
        for position, action in enumerate(self._cassette.script):
            self.place = f"script[{position}]"
            await self._client.act(action)
        self._over = True

    def leave(self) -> tuple[During, ...]:
        """Stop acting; return the `during` actions that have not happened."""
        left = tuple(self._waiting)
        self._waiting.clear()
        return left

    def on_request(self, index: int) -> None:
        """Handle model request `index` (from 0)."""
        self._fire(lambda when: isinstance(when, AtRequest) and when.index == index)

    def on_http_request(self, index: int) -> None:
        """Handle that request `index` (from 0) has reached an address of the cassette."""
        self._fire(lambda when: when == AtHttpRequest(index))

    def on_chunk(self, request: int, chunk: int) -> None:
        """Handle that the runtime has consumed a chunk; both numbers count from 0."""
        self._fire(lambda when: when == AfterChunk(request, chunk))

    def _on_event(self, event: AgentEvent) -> None:
        count = len(self._witness.events)

        def due(when: object) -> bool:
            match when:
                case AfterEvents(count=wanted):
                    return wanted == count
                case AtEventType(type=wanted):
                    return wanted == event.type
                case AtTool(name=wanted):
                    return event.type == "tool_request" and event.name == wanted
                case _:
                    return False

        self._fire(due)

    def _on_output(self, tool: str) -> None:
        # Not inside the scheduler's own change of the call: the user acts after having seen it.
        self._shown[tool] += 1
        wanted = AtOutput(tool, self._shown[tool])
        asyncio.get_running_loop().call_soon(self._fire, lambda when: when == wanted)

    def _fire(self, due: Callable[[object], bool]) -> None:
        fired = [moment for moment in self._waiting if due(moment.when)]
        with outside_calls():
            self._begin(fired)

    def _begin(self, fired: Sequence[During]) -> None:
        for moment in fired:
            self._waiting.remove(moment)
            if moment.delay_ms > 0:
                # The task starts later, when time may have passed.
                due_ms = self._clock.now_ms() + moment.delay_ms
                self._group.create_task(self._later(moment, due_ms))
            else:
                self._interrupt(moment)

    async def _later(self, moment: During, due_ms: float) -> None:
        """Act when it is due: by virtual time, or by real time while real work stops virtual time.

        Without real time a running command could never be interrupted.
        """
        loop = asyncio.get_running_loop()
        begun = loop.time()
        patience_ms = max(moment.delay_ms, _LONG_REAL_WORK_MS)
        elapsed = self._group.create_task(self._until(due_ms))
        while not elapsed.done():
            await asyncio.wait([elapsed], timeout=_POLL_S)
            if min(self._clock.held_for_ms, (loop.time() - begun) * 1000) >= patience_ms:
                elapsed.cancel()
        self._interrupt(moment)

    async def _until(self, due_ms: float) -> None:
        await self._clock.sleep(max(due_ms - self._clock.now_ms(), 0))

    def _interrupt(self, moment: During) -> None:
        # After the script there is no client that could send.
        if not (self._over and isinstance(moment.do, Send)):
            self._client.interrupt(moment.do)
