"""`HeldModel`: a model whose answers wait at the barrier."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from harness.canonical import canonical
from harness.orders.places import Place
from harness.replay.models import ReplayedModel
from services.abort import AbortSignal
from services.clock import VirtualClock
from services.model.errors import ModelError
from services.model.generator import ChunkStream, EmbedRequest, ModelRequest
from services.model.replay.generator import ReplayNote
from services.wire import Json, JsonObject

__all__ = ["HeldModel", "ModelClock"]

if TYPE_CHECKING:
    from harness.orders.barrier import Barrier

T = TypeVar("T")


class ModelClock(VirtualClock):
    """The clock of a run's model: it knows when the answers that are on their way arrive."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock
        self._due: list[float] = []

    @property
    def next_due_ms(self) -> float | None:
        """When the next answer arrives; `None` if none is on its way."""
        return min(self._due, default=None)

    def now_ms(self) -> int:
        """The run's time."""
        return self._clock.now_ms()

    def advance(self, delta_ms: float) -> None:
        """Advance the run's time."""
        self._clock.advance(delta_ms)

    async def sleep(self, delay_ms: float) -> None:
        """Wait in the run's time."""
        due = self._clock.now_ms() + delay_ms
        self._due.append(due)
        try:
            await self._clock.sleep(delay_ms)
        finally:
            self._due.remove(due)

    @contextmanager
    def real_work(self) -> Iterator[None]:
        """Hold the run's time."""
        with self._clock.real_work():
            yield


class HeldModel:
    """Answers as `inner` does, each answer at its turn. Embeddings are not held."""

    def __init__(self, inner: ReplayedModel, barrier: Barrier) -> None:
        self._inner = inner
        self._barrier = barrier

    @property
    def notes(self) -> Sequence[ReplayNote]:
        """Requests that found no step."""
        return self._inner.notes

    def unused_steps(self) -> list[int]:
        """Indices of the steps that no request used."""
        return self._inner.unused_steps()

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """One response."""
        return await self._value(request, self._inner.generate_content)

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """A number of tokens."""
        return await self._value(request, self._inner.count_tokens)

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Embeddings."""
        return await self._inner.embed_content(request)

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """A stream of chunks."""
        place = self._barrier.asked(request)
        stream = await self._held(place, request, self._inner.generate_content_stream)
        return self._chunks(place, stream, request.signal)

    async def _value(
        self, request: ModelRequest, ask: Callable[[ModelRequest], Awaitable[JsonObject]]
    ) -> JsonObject:
        place = self._barrier.asked(request)
        value = await self._held(place, request, ask)
        self._barrier.answered(place, _digest(value))
        return value

    async def _held(
        self, place: Place, request: ModelRequest, ask: Callable[[ModelRequest], Awaitable[T]]
    ) -> T:
        """The answer or the error of `ask`, at its turn.

        Raises:
            AbortError: the request was aborted before that.
        """
        try:
            answer = await ask(request)
        except ModelError as failure:
            await self._turn(place, request.signal)
            self._barrier.failed(place)
            self._barrier.answered(place, str(failure))
            raise
        await self._turn(place, request.signal)
        return answer

    async def _turn(self, place: Place, signal: AbortSignal) -> None:
        await self._barrier.hold(place, signal)
        signal.raise_if_aborted()

    async def _chunks(
        self, place: Place, stream: ChunkStream, signal: AbortSignal
    ) -> AsyncGenerator[JsonObject, None]:
        number = 0
        async with aclosing(stream):
            try:
                async for chunk in stream:
                    if not number:
                        self._barrier.answered(place, _digest(chunk))
                    elif self._barrier.chunks:
                        await self._barrier.hold(replace(place, kind="chunk", chunk=number), signal)
                    number += 1
                    yield chunk
            except ModelError:
                self._barrier.failed(place)
                raise


def _digest(value: Json) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()
