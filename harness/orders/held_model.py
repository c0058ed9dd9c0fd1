"""`HeldModel`: a model whose answers wait at the barrier, ready to be handed out."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace
from typing import Protocol, TypeVar

from harness.canonical import canonical
from harness.orders.places import Place
from harness.replay.models import ReplayedModel
from services.abort import AbortSignal
from services.clock import VirtualClock
from services.model.errors import ModelError
from services.model.generator import ChunkStream, EmbedRequest, ModelRequest
from services.model.replay.generator import ReplayNote
from services.wire import Json, JsonObject

__all__ = ["HeldModel", "Holds", "ModelClock"]

T = TypeVar("T")


class Holds(Protocol):
    """Who says when an answer may go on, and wants to know what was answered."""

    @property
    def chunks(self) -> bool:
        """Whether chunks after the first are held, too."""
        ...

    def asked(self, request: ModelRequest) -> Place:
        """The place of the answer to a request that is being made."""
        ...

    def answered(self, place: Place, answer: str) -> None:
        """What came to a place, as a digest."""
        ...

    def failed(self, place: Place) -> None:
        """The model failed there."""
        ...

    async def hold(self, place: Place, signal: AbortSignal) -> None:
        """Return when it is the turn of `place`, or when `signal` is aborted."""
        ...


class ModelClock(VirtualClock):
    """A run's clock as its model sees it: it knows which answers are on their way, and until when.

    Whatever else waits for time (a retry, a limit, the client) is no answer.
    """

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock
        self._due: list[float] = []

    @property
    def next_due_ms(self) -> float | None:
        """When the next answer that is on its way will be here; `None` where none is."""
        return min(self._due, default=None)

    def now_ms(self) -> int:
        """The run's time."""
        return self._clock.now_ms()

    def advance(self, delta_ms: float) -> None:
        """Move the run's time on."""
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
    """Answers as `inner` does, each answer when its turn has come.

    Embeddings belong to no thread and are not held.
    """

    def __init__(self, inner: ReplayedModel, barrier: Holds) -> None:
        self._inner = inner
        self._barrier = barrier

    @property
    def notes(self) -> Sequence[ReplayNote]:
        """What did not fit."""
        return self._inner.notes

    def unused_steps(self) -> list[int]:
        """Indices of the answers that no request asked for."""
        return self._inner.unused_steps()

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Answer with one response."""
        return await self._value(request, self._inner.generate_content)

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Answer with a number of tokens."""
        return await self._value(request, self._inner.count_tokens)

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Answer with embeddings."""
        return await self._inner.embed_content(request)

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Answer with a stream of chunks."""
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
        """What `ask` answers or raises, at its turn.

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
