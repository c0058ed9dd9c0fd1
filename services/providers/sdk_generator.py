"""`SdkContentGenerator`: the model seam over the SDK of a provider.

The SDK of a provider is behind `ProviderApi`, which each provider has one of. One call of ours is
one HTTP request: the SDK's retries are off, because both runtimes have their own.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any, Final, Protocol, TypeVar

import httpx2

from services.abort import AbortError, AbortSignal, until_aborted
from services.clock import Clock
from services.confinement import Refused
from services.model.errors import ApiError, ModelError, NetworkError
from services.model.generator import ChunkStream, EmbedRequest, LlmRole, ModelRequest
from services.model.sdk_stream import SdkStream
from services.model.transport_errors import causes, network_error, unreadable_answer
from services.net.errors import NetError
from services.net.terms import Terms
from services.providers.exchange import Asked
from services.providers.provider import Provider
from services.providers.refusals import Refusal
from services.providers.shape import UnreadableMessage, required_mapping
from services.wire import Json, JsonObject

__all__ = [
    "DEADLINES",
    "TERMS",
    "EventReader",
    "Events",
    "ProviderApi",
    "SdkContentGenerator",
    "dumped",
    "in_parameters",
]

TERMS: Final = Terms(answer_bytes=64 * 1024 * 1024, private=True, follows=True)
"""As for the Gemini API: requests carry a key and the prompt."""
DEADLINES: Final = httpx2.Timeout(300.0, connect=10.0, pool=10.0)
"""The longest silence before and between events, and the time to connect, in seconds."""

T = TypeVar("T")


class EventReader(Protocol):
    """Makes chunks of the events of one stream."""

    def feed(self, event: Json) -> list[JsonObject]:
        """Return the chunks that an event completes.

        Raises:
            UnreadableMessage: it is no event of the provider.
        """
        ...

    def end(self) -> list[JsonObject]:
        """Return the chunks that are left at the end."""
        ...


class Events(Protocol):
    """A stream of the SDK: `AsyncStream`."""

    def __aiter__(self) -> AsyncIterator[Any]:
        """Iterate over the events."""
        ...

    async def close(self) -> None:
        """End the HTTP exchange."""
        ...


class ProviderApi(Protocol):
    """One provider's API through its SDK."""

    @property
    def provider(self) -> Provider:
        """The provider."""
        ...

    async def whole(self, asked: Asked, *, keeps: bool) -> JsonObject:
        """Return a whole answer as the Gemini API's; `keeps` as for `events`."""
        ...

    async def events(self, asked: Asked, *, keeps: bool) -> tuple[Events, EventReader]:
        """Connect, and return the stream with its reader.

        `keeps`: whether the provider may keep the prompt for the next request, which begins alike.
        """
        ...

    async def count(self, asked: Asked) -> JsonObject:
        """`{totalTokens}` for a request."""
        ...

    async def embed(self, model: str, texts: list[str]) -> JsonObject:
        """`{embeddings: [{values}]}`, one per text."""
        ...

    def refusal(self, error: Exception, now_ms: int) -> tuple[Refusal, bool] | None:
        """Return what an error of the SDK says, and whether it came within a stream.

        `None` for an error that is no refusal of the server.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class SdkContentGenerator:
    """Asks a provider through its SDK.

    Args:
        api: The provider.
        clock: Virtual time does not advance during a request.
    """

    def __init__(self, api: ProviderApi, clock: Clock) -> None:
        self._api = api
        self._clock = clock

    async def aclose(self) -> None:
        """Close the connections."""
        with self._clock.real_work():
            await self._api.close()

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Send a request and return the whole response."""

        async def ask() -> JsonObject:
            return await self._api.whole(Asked.of(request), keeps=_keeps(request))

        return await self._call(ask, request.signal)

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Connect, and return the stream of chunks."""

        async def ask() -> tuple[Events, EventReader]:
            return await self._api.events(Asked.of(request), keeps=_keeps(request))

        events, reader = await self._call(ask, request.signal)
        iterator = aiter(events)
        ready: deque[JsonObject] = deque()
        ended = False

        async def read() -> None:
            nonlocal ended
            event = await anext(iterator, None)
            ended = event is None
            ready.extend(reader.end() if event is None else reader.feed(dumped(event)))

        async def pull() -> JsonObject | None:
            while not (ready or ended):
                await self._call(read, request.signal, answering=True)
            return ready.popleft() if ready else None

        async def close() -> None:
            with self._clock.real_work():
                await events.close()

        return SdkStream(pull, close)

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Count the tokens of the request's contents."""

        async def ask() -> JsonObject:
            return await self._api.count(Asked.of(request))

        return await self._call(ask, request.signal)

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Embed the texts, one vector each."""

        async def ask() -> JsonObject:
            return await self._api.embed(request.model, list(request.contents))

        return await self._call(ask, request.signal)

    async def _call(
        self,
        ask: Callable[[], Coroutine[Any, Any, T]],
        signal: AbortSignal,
        *,
        answering: bool = False,
    ) -> T:
        with self._clock.real_work(), self._translated(signal, answering):
            return await until_aborted(ask(), signal)

    @contextmanager
    def _translated(self, signal: AbortSignal, answering: bool) -> Iterator[None]:
        """Raise the seam's errors for the SDK's, httpx2's and the readers'."""
        try:
            yield
        except (AbortError, ModelError):
            raise
        except Exception as error:
            if signal.aborted:
                # The SDK reports the cut connection, and not that this side cut it.
                raise AbortError from error
            raise self._model_error(error, answering) from error

    def _model_error(self, error: Exception, answering: bool) -> Exception:
        said = self._api.refusal(error, self._clock.now_ms())
        if said is not None:
            refusal, within = said
            return refusal.to_error(answering=within)
        for cause in causes(error):
            if isinstance(cause, NetError | Refused):
                return NetworkError(f"The model cannot be asked: {cause}")
            if isinstance(cause, ModelError | AbortError):
                return cause
            if isinstance(cause, httpx2.HTTPError):
                return network_error(cause, answering=answering)
        if isinstance(error, json.JSONDecodeError):
            return unreadable_answer(error)
        if isinstance(error, UnreadableMessage) or (answering and isinstance(error, _MISREAD)):
            return NetworkError(f"exception parsing stream chunk: {error}", cause=error)
        if isinstance(error, _MISREAD):
            return ApiError.from_parts(400, str(error), "INVALID_ARGUMENT")
        return error


_MISREAD: Final = (ValueError, TypeError, KeyError, AttributeError)
"""What the SDKs raise for a message of another shape."""


def _keeps(request: ModelRequest) -> bool:
    return request.role in (LlmRole.MAIN, LlmRole.SUBAGENT)


def dumped(model: object) -> JsonObject:
    """Return an object of an SDK as the JSON that it was made of.

    Raises:
        UnreadableMessage: it is none: the server's answer was no JSON object.
    """
    to_dict = getattr(model, "to_dict", None)
    if to_dict is None:
        shown = model if isinstance(model, str) else type(model).__name__
        raise UnreadableMessage(f"the server's answer is no JSON object: {str(shown)[:200]}")
    return required_mapping(to_dict(mode="python", warnings=False), "the server's answer")


def in_parameters(body: JsonObject, method: Callable[..., Any]) -> dict[str, Any]:
    """Return a body as arguments of an SDK's method; what it does not know is `extra_body`."""
    known = signature(method).parameters
    given = {name: value for name, value in body.items() if name in known}
    more = {name: value for name, value in body.items() if name not in known}
    return {**given, "extra_body": more} if more else given
