"""The meter at the model seam: times every model call and notifies observers.

Source: core `core/loggingContentGenerator.ts`, which takes the model from an answer's first chunk
and the tokens from the last one that has any.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from services.abort import AbortError
from services.clock import Clock
from services.model.generator import ChunkStream, ContentGenerator, EmbedRequest, ModelRequest
from services.wire import JsonObject

__all__ = ["CallEnd", "MeteredContentGenerator", "ModelCall", "ModelCallObserver", "metered"]


class CallEnd(Enum):
    """How a model call ended."""

    ANSWERED = auto()
    FAILED = auto()
    ABANDONED = auto()
    """Aborted, cancelled, or not read to its end."""


@dataclass(slots=True, kw_only=True, eq=False)
class ModelCall:
    """One model call. Times are milliseconds since the Unix epoch."""

    request: ModelRequest
    streaming: bool
    began_ms: int
    chunks: int = 0
    """The number of responses, or chunks of one, received so far."""
    first_ms: int | None = None
    """When the response, or its first chunk, arrived."""
    ended_ms: int | None = None
    end: CallEnd | None = None
    model: str | None = None
    """The answer's `modelVersion`; empty where it has none."""
    response_id: str | None = None
    finish_reason: str | None = None
    usage: JsonObject | None = None
    """The answer's last `usageMetadata`."""
    error: Exception | None = None
    """The error of a failed call."""

    @property
    def duration_ms(self) -> int:
        """Its duration; 0 until it ends."""
        return 0 if self.ended_ms is None else self.ended_ms - self.began_ms


class ModelCallObserver(Protocol):
    """An observer of model calls. It must not raise or change a call."""

    def call_began(self, call: ModelCall) -> None:
        """A request is about to be sent."""
        ...

    def call_received(self, call: ModelCall, response: JsonObject) -> None:
        """A response or chunk arrived; `call` is up to date."""
        ...

    def call_ended(self, call: ModelCall) -> None:
        """The call ended. A stream that is never read does not end."""
        ...


def metered(
    inner: ContentGenerator, observers: Sequence[ModelCallObserver], clock: Clock
) -> ContentGenerator:
    """Return `inner` with observers of its calls; `inner` itself without observers."""
    return MeteredContentGenerator(inner, observers, clock) if observers else inner


class MeteredContentGenerator:
    """Notifies observers, in order, of every call but embeddings and token counts."""

    def __init__(
        self, inner: ContentGenerator, observers: Sequence[ModelCallObserver], clock: Clock
    ) -> None:
        self._inner = inner
        self._observers = tuple(observers)
        self._clock = clock

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Forward and measure a call."""
        call = self._began(request, streaming=False)
        try:
            response = await self._inner.generate_content(request)
        except BaseException as error:
            self._ended(call, error)
            _go_unseen(error)
            raise
        self._received(call, response)
        self._ended(call)
        return response

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Connect; the call ends when its stream is read to its end or closed."""
        call = self._began(request, streaming=True)
        try:
            stream = await self._inner.generate_content_stream(request)
        except BaseException as error:
            self._ended(call, error)
            _go_unseen(error)
            raise
        return self._measured(stream, call)

    async def _measured(self, stream: ChunkStream, call: ModelCall) -> ChunkStream:
        try:
            async with aclosing(stream):
                async for chunk in stream:
                    self._received(call, chunk)
                    yield chunk
        except BaseException as error:
            self._ended(call, error)
            _go_unseen(error)
            raise
        self._ended(call)

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Pass through."""
        return await self._inner.count_tokens(request)

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Pass through."""
        return await self._inner.embed_content(request)

    def _began(self, request: ModelRequest, *, streaming: bool) -> ModelCall:
        call = ModelCall(request=request, streaming=streaming, began_ms=self._clock.now_ms())
        for observer in self._observers:
            observer.call_began(call)
        return call

    def _received(self, call: ModelCall, response: JsonObject) -> None:
        call.chunks += 1
        if call.first_ms is None:
            call.first_ms = self._clock.now_ms()
        if call.model is None:
            call.model = response.get("modelVersion") or ""
        call.response_id = call.response_id or response.get("responseId")
        call.usage = response.get("usageMetadata") or call.usage
        candidates = response.get("candidates")
        if candidates:
            call.finish_reason = candidates[0].get("finishReason") or call.finish_reason
        for observer in self._observers:
            observer.call_received(call, response)

    def _ended(self, call: ModelCall, error: BaseException | None = None) -> None:
        call.ended_ms = self._clock.now_ms()
        if error is None:
            call.end = CallEnd.ANSWERED
        elif isinstance(error, Exception) and not isinstance(error, AbortError):
            call.end, call.error = CallEnd.FAILED, error
        else:
            call.end = CallEnd.ABANDONED
        for observer in self._observers:
            observer.call_ended(call)


def _go_unseen(error: BaseException) -> None:
    """Remove the meter's frame from the traceback, which clients may see."""
    own = error.__traceback__
    error.__traceback__ = own.tb_next if own is not None else None
