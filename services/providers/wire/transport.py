"""`WireTransport`: an HTTP transport that answers calls of models from a `ContentGenerator`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractContextManager, aclosing, nullcontext
from itertools import count
from types import ModuleType
from typing import Any, Final

import httpx
import httpx2

from services.abort import AbortController, AbortSignal
from services.clock import Clock, SystemClock
from services.json_values import parse_json
from services.model.errors import ModelError, NetworkError
from services.model.generator import (
    ChunkStream,
    ContentGenerator,
    EmbedRequest,
    LlmRole,
    ModelRequest,
)
from services.model.replay.steps import StepMethod
from services.providers.anthropic.dialect import AnthropicDialect
from services.providers.dialect import Dialect, HttpAnswer, StreamWriter, WireCall, WireRequest
from services.providers.gemini.dialect import GeminiDialect
from services.providers.openai.dialect import OpenAIDialect
from services.providers.refusals import Refusal, refusal_of
from services.providers.shape import UnreadableMessage, compact
from services.providers.wire.failures import library_failure
from services.wire import Json, JsonObject

__all__ = ["WireTransport"]

_DIALECTS: Final[tuple[Dialect, ...]] = (OpenAIDialect(), AnthropicDialect(), GeminiDialect())
_NO_DRAINING: Final = {"http_version": b"HTTP/2"}
"""A client of HTTP/1.1 may read on after the end of a stream, to use the connection again."""
_NOTHING_COUNTED: Final = {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0}
_JSON: Final = "application/json"
_EVENTS: Final = "text/event-stream; charset=utf-8"


class _Body(httpx.AsyncByteStream, httpx2.AsyncByteStream):
    """The pieces of an answer, for a client of either library."""

    def __init__(self, pieces: AsyncGenerator[bytes, None], stream: ChunkStream) -> None:
        self._pieces = pieces
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces

    async def aclose(self) -> None:
        """Close the model's stream, which pieces that were never asked for would leave open."""
        await self._pieces.aclose()
        await self._stream.aclose()


class WireTransport(httpx.AsyncBaseTransport, httpx2.AsyncBaseTransport):
    """Answers the calls of models that clients of httpx and httpx2 make.

    A request that is no call of a model gets 404, one that cannot be read 400, and a failure of the
    generator the status and the body that the provider would send. A `NetworkError` becomes an
    error of the client's library.

    Args:
        generator: Answers.
        clock: Gives the time of an answer.
        described: Makes the request of the model seam from what the program sent; by default one of
            the main agent with the signal `signal`.
        signal: Aborts the requests, in the default of `described`.
        streams_only: Whether a whole answer is the end of a stream of the generator, as a cassette
            has it. Otherwise it is `generate_content`.
        complete: Whether an answer gets what every real one has: ids, a model, a number of tokens.
        waiting: Entered while the generator is awaited; `clock.no_real_work` where the client is
            inside `clock.real_work`.
    """

    def __init__(
        self,
        generator: ContentGenerator,
        *,
        clock: Clock | None = None,
        described: Callable[[WireCall], ModelRequest] | None = None,
        signal: AbortSignal | None = None,
        streams_only: bool = True,
        complete: bool = True,
        waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._generator = generator
        self._clock = clock or SystemClock()
        self._signal = signal or AbortController().signal
        self._described = described or self._of_main_agent
        self._streams_only = streams_only
        self._ids, self._answers = count(), count()
        self._complete = complete
        self._waiting = waiting
        self._new_id = self._next_id if complete else None

    @staticmethod
    def serves(method: str, url: str) -> bool:
        """Whether a request is a call of a model."""
        return _dialect(method, WireRequest.to(url)) is not None

    async def handle_async_request(self, request: Any) -> Any:
        """Answer a request of httpx or httpx2, with a response of the same library.

        Raises:
            AbortError: the request was aborted.
            httpx.TransportError, httpx2.TransportError: the generator raised a `NetworkError`.
        """
        library = httpx if isinstance(request, httpx.Request) else httpx2
        body = await request.aread()
        wire = WireRequest.to(str(request.url))
        dialect = _dialect(request.method, wire)
        if dialect is None:
            message = f"{request.method} {wire.path} is no call of a model that parity serves"
            answer = HttpAnswer(status=404, body={"error": {"message": message, "code": 404}})
            return _whole(library, answer)
        try:
            call = dialect.read(WireRequest.to(str(request.url), _parsed(body)))
        except UnreadableMessage as problem:
            refusal = Refusal(status=400, message=str(problem))
            return _whole(library, dialect.refused(refusal))
        try:
            return await self._answer(library, dialect, call)
        except NetworkError as error:
            failure = library_failure(library, error, answering=False)
            raise failure from failure.__cause__
        except ModelError as error:
            return _whole(library, dialect.refused(refusal_of(error)))

    async def _answer(self, library: ModuleType, dialect: Dialect, call: WireCall) -> Any:
        if call.method is StepMethod.EMBED:
            wanted = EmbedRequest(model=call.asked.model, contents=call.texts, signal=self._signal)
            with self._waiting():
                answer = await self._generator.embed_content(wanted)
            return _whole(library, HttpAnswer(body=dialect.whole(call, [answer], None)))
        request = self._described(call)
        if call.method is StepMethod.COUNT_TOKENS:
            with self._waiting():
                counted = await self._generator.count_tokens(request)
            return _whole(library, HttpAnswer(body=dialect.whole(call, [counted], None)))
        if call.method is StepMethod.GENERATE:
            chunks = await self._chunks(request, call)
            return _whole(library, HttpAnswer(body=dialect.whole(call, chunks, self._new_id)))
        stream = await self._connected(request)
        writer = dialect.stream(call, self._clock.now_ms() // 1000, self._new_id)
        return library.Response(
            200,
            headers={"content-type": _EVENTS},
            stream=_Body(_events(library, self._completed(stream, call), writer), stream),
            extensions=_NO_DRAINING,
        )

    async def _chunks(self, request: ModelRequest, call: WireCall) -> list[JsonObject]:
        if not self._streams_only:
            with self._waiting():
                return [await self._generator.generate_content(request)]
        stream = self._completed(await self._connected(request), call)
        async with aclosing(stream):
            return [chunk async for chunk in stream]

    async def _connected(self, request: ModelRequest) -> ChunkStream:
        with self._waiting():
            return await self._generator.generate_content_stream(request)

    async def _completed(self, stream: ChunkStream, call: WireCall) -> ChunkStream:
        """Add what a script need not have, if a program gets the answer."""
        named = {"modelVersion": call.asked.model, "responseId": f"answer_{next(self._answers)}"}
        added, counted = named if self._complete else {}, not self._complete
        async with aclosing(stream):
            while True:
                with self._waiting():
                    chunk = await anext(stream, None)
                if chunk is None:
                    break
                counted = counted or "usageMetadata" in chunk
                yield {**added, **chunk}
        if not counted:
            yield {"usageMetadata": dict(_NOTHING_COUNTED)}

    def _of_main_agent(self, call: WireCall) -> ModelRequest:
        return ModelRequest(
            model=call.asked.model,
            contents=call.asked.contents,
            config=dict(call.asked.config),
            role=LlmRole.MAIN,
            prompt_id="",
            signal=self._signal,
        )

    def _next_id(self) -> str:
        return f"call_{next(self._ids)}"


def _dialect(method: str, request: WireRequest) -> Dialect | None:
    if method.upper() != "POST":
        return None
    return next((each for each in _DIALECTS if each.serves(request.path)), None)


def _parsed(body: bytes) -> Json:
    try:
        return parse_json(body) if body else None
    except ValueError as error:
        raise UnreadableMessage(f"the request is not JSON: {error}") from error


def _whole(library: ModuleType, answer: HttpAnswer) -> Any:
    content = compact(answer.body).encode("utf-8", "surrogatepass")
    return library.Response(
        answer.status,
        headers={"content-type": _JSON, **answer.headers},
        stream=library.ByteStream(content),
        extensions=_NO_DRAINING,
    )


async def _events(
    library: ModuleType, stream: ChunkStream, writer: StreamWriter
) -> AsyncGenerator[bytes, None]:
    """Yield the events of a stream, one piece for each chunk."""
    try:
        async with aclosing(stream):
            async for chunk in stream:
                piece = writer.feed(chunk)
                if piece:
                    yield piece
        yield writer.end()
    except NetworkError as error:
        failure = library_failure(library, error, answering=True)
        raise failure from failure.__cause__
    except ModelError as error:
        yield writer.broken(refusal_of(error))
