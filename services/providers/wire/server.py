"""`WireServer`: answers calls of models, in the format that each came in, from a generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

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
from services.wire import Json, JsonObject

__all__ = ["WireAnswer", "WireServer", "WireStream"]

_DIALECTS: Final[tuple[Dialect, ...]] = (OpenAIDialect(), AnthropicDialect(), GeminiDialect())
_NOTHING_COUNTED: Final = {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0}
_JSON: Final = "application/json"
_EVENTS: Final = "text/event-stream; charset=utf-8"


class WireStream:
    """The events of an answer, one piece of bytes for each chunk.

    It is no generator: a client that drops it leaves nothing open but the model's stream.
    """

    def __init__(
        self,
        chunks: ChunkStream,
        writer: StreamWriter,
        waiting: Callable[[], AbstractContextManager[None]],
        completed: Callable[[JsonObject], JsonObject],
    ) -> None:
        self._chunks = chunks
        self._writer = writer
        self._waiting = waiting
        self._completed = completed
        self._over = False

    def __aiter__(self) -> WireStream:
        return self

    async def __anext__(self) -> bytes:
        """Return the next piece.

        Raises:
            StopAsyncIteration: the answer has ended.
            NetworkError: the model's stream raises it.
        """
        while not self._over:
            piece = await self._next()
            if piece:
                return piece
        raise StopAsyncIteration

    async def _next(self) -> bytes:
        try:
            with self._waiting():
                chunk = await anext(self._chunks, None)
        except NetworkError:
            await self.aclose()
            raise
        except ModelError as error:
            await self.aclose()
            return self._writer.broken(refusal_of(error))
        if chunk is not None:
            return self._writer.feed(self._completed(chunk))
        await self.aclose()
        return self._writer.end()

    async def aclose(self) -> None:
        """Close the model's stream."""
        self._over = True
        await self._chunks.aclose()


@dataclass(frozen=True, slots=True, kw_only=True)
class WireAnswer:
    """An HTTP answer: its whole body, or a stream that the receiver closes."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    stream: WireStream | None = field(default=None, compare=False)

    async def collected(self) -> WireAnswer:
        """Return the answer with its whole body.

        Raises:
            NetworkError: as `WireStream`.
        """
        if self.stream is None:
            return self
        async with aclosing(self.stream):
            return replace(self, stream=None, body=b"".join([piece async for piece in self.stream]))


class WireServer:
    """Answers the calls of models that any client makes.

    A request that is no call of a model gets 404, one that cannot be read 400, and a failure of the
    generator the status and the body that the provider would send.

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

    async def answer(self, method: str, url: str, body: bytes) -> WireAnswer:
        """Answer a request.

        Raises:
            AbortError: the request was aborted.
            NetworkError: the generator raised it.
        """
        wire = WireRequest.to(url)
        dialect = _dialect(method, wire)
        if dialect is None:
            message = f"{method} {wire.path} is no call of a model that parity serves"
            return _whole(HttpAnswer(status=404, body={"error": {"message": message, "code": 404}}))
        try:
            call = dialect.read(WireRequest.to(url, _parsed(body)))
        except UnreadableMessage as problem:
            return _whole(dialect.refused(Refusal(status=400, message=str(problem))))
        try:
            return await self._answer(dialect, call)
        except NetworkError:
            raise
        except ModelError as error:
            return _whole(dialect.refused(refusal_of(error)))

    async def _answer(self, dialect: Dialect, call: WireCall) -> WireAnswer:
        if call.method is StepMethod.EMBED:
            wanted = EmbedRequest(model=call.asked.model, contents=call.texts, signal=self._signal)
            with self._waiting():
                answer = await self._generator.embed_content(wanted)
            return _whole(HttpAnswer(body=dialect.whole(call, [answer], None)))
        request = self._described(call)
        if call.method is StepMethod.COUNT_TOKENS:
            with self._waiting():
                counted = await self._generator.count_tokens(request)
            return _whole(HttpAnswer(body=dialect.whole(call, [counted], None)))
        if call.method is StepMethod.GENERATE:
            chunks = await self._chunks(request, call)
            return _whole(HttpAnswer(body=dialect.whole(call, chunks, self._new_id)))
        stream = await self._connected(request)
        writer = dialect.stream(call, self._clock.now_ms() // 1000, self._new_id)
        events = WireStream(stream, writer, self._waiting, self._completing(call))
        return WireAnswer(status=200, headers={"content-type": _EVENTS}, stream=events)

    async def _chunks(self, request: ModelRequest, call: WireCall) -> list[JsonObject]:
        if not self._streams_only:
            with self._waiting():
                return [await self._generator.generate_content(request)]
        completed = self._completing(call)
        chunks: list[JsonObject] = []
        async with aclosing(await self._connected(request)) as stream:
            while True:
                with self._waiting():
                    chunk = await anext(stream, None)
                if chunk is None:
                    return chunks
                chunks.append(completed(chunk))

    async def _connected(self, request: ModelRequest) -> ChunkStream:
        with self._waiting():
            return await self._generator.generate_content_stream(request)

    def _completing(self, call: WireCall) -> Callable[[JsonObject], JsonObject]:
        """Return what adds to each chunk of an answer what a script need not have."""
        if not self._complete:
            return lambda chunk: chunk
        added = {"modelVersion": call.asked.model, "responseId": f"answer_{next(self._answers)}"}
        counted = False

        def completed(chunk: JsonObject) -> JsonObject:
            nonlocal counted
            counted = counted or "usageMetadata" in chunk
            ends = any(each.get("finishReason") for each in chunk.get("candidates") or ())
            usage = {"usageMetadata": dict(_NOTHING_COUNTED)} if ends and not counted else {}
            return {**added, **usage, **chunk}

        return completed

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


def _whole(answer: HttpAnswer) -> WireAnswer:
    body = compact(answer.body).encode("utf-8", "surrogatepass")
    headers = {"content-type": _JSON, **answer.headers}
    return WireAnswer(status=answer.status, headers=headers, body=body)
