"""`Pace`: the moments at which a surface shows what has happened, and its user acts.

Such a moment comes when a run is idle: nothing is ready, and only time, the model or the user can
go on. It depends on no duration of the machine, so two equal runs have the same moments.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field

from harness.cassette.format import Cassette
from harness.replay.models import ModelSource, ReplayedModel
from services.clock import VirtualClock
from services.model.generator import ChunkStream, EmbedRequest, ModelRequest
from services.model.replay.generator import ObservedRequest, ReplayNote
from services.wire import JsonObject

__all__ = ["Pace", "never_idle", "paced"]


@dataclass(slots=True)
class _Waiter:
    holds: Callable[[], bool]
    woken: asyncio.Future[None] = field(default_factory=asyncio.Future)


class Pace:
    """At a moment the surface settles first, then the user acts, then the model goes on.

    Virtual time moves only when none of the three has anything left to do. Without a surface
    nothing waits.
    """

    def __init__(self, clock: VirtualClock) -> None:
        """Find the moments of runs with this clock."""
        self._clock = clock
        self._settle: Callable[[], bool] | None = None
        self._acts: list[_Waiter] = []
        self._answers: list[_Waiter] = []

    @contextmanager
    def kept_by(self, settle: Callable[[], bool]) -> Iterator[None]:
        """Keep the pace inside the `with` block.

        `settle` is called when the run is idle. It returns True if it has begun something, and
        False once the surface shows everything.
        """
        self._settle = settle
        before, self._clock.before_waking = self._clock.before_waking, self._idle
        try:
            yield
        finally:
            self._settle, self._clock.before_waking = None, before
            self._release(self._answers)

    async def until(self, holds: Callable[[], bool] = lambda: True) -> None:
        """Return at the next moment at which `holds()`; the users of a moment take turns."""
        await self._wait(self._acts, holds)

    async def shown(self) -> None:
        """Return when the surface shows what has happened and its user has acted."""
        if self._settle is not None:
            await self._wait(self._answers, lambda: True)

    async def _wait(self, line: list[_Waiter], holds: Callable[[], bool]) -> None:
        waiter = _Waiter(holds)
        line.append(waiter)
        try:
            await waiter.woken
        finally:
            if waiter in line:
                line.remove(waiter)

    def _idle(self) -> bool:
        if self._settle is not None and self._settle():
            return True
        for waiter in self._acts:
            if not waiter.woken.done() and waiter.holds():
                self._acts.remove(waiter)
                waiter.woken.set_result(None)
                return True
        return self._release(self._answers)

    def _release(self, line: list[_Waiter]) -> bool:
        released, line[:] = line[:], []
        for waiter in released:
            if not waiter.woken.done():
                waiter.woken.set_result(None)
        return bool(released)


def never_idle(cassette: Cassette) -> Iterator[str]:
    """Yield why the moment of an action of the user never comes, as a sentence."""
    if cassette.during and any(step.hangs for step in cassette.http):
        yield "the user acts when the run is idle, and an address that hangs keeps it waiting"


def paced(source: ModelSource, pace: Pace) -> ModelSource:
    """Return a source of models that give each chunk once the one before is shown."""

    def make(
        cassette: Cassette,
        clock: VirtualClock,
        on_request: Callable[[ObservedRequest], None],
        on_chunk: Callable[[int, int], None],
    ) -> ReplayedModel:
        return _PacedModel(source(cassette, clock, on_request, on_chunk), pace)

    return make


class _PacedModel:
    """A model whose answers wait for the pace."""

    def __init__(self, model: ReplayedModel, pace: Pace) -> None:
        self._model = model
        self._pace = pace
        self.unused_steps = model.unused_steps

    @property
    def notes(self) -> Sequence[ReplayNote]:
        return self._model.notes

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        answer = await self._model.generate_content(request)
        await self._pace.shown()
        return answer

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        stream = await self._model.generate_content_stream(request)
        await self._pace.shown()
        return self._chunks(stream)

    async def _chunks(self, stream: ChunkStream) -> ChunkStream:
        async with aclosing(stream):
            async for chunk in stream:
                await self._pace.shown()
                yield chunk

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        return await self._model.count_tokens(request)

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        return await self._model.embed_content(request)
