import traceback
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest

from services.abort import AbortController, AbortError
from services.clock import VIRTUAL_EPOCH_MS, VirtualClock
from services.model import metering
from services.model.errors import ApiError
from services.model.generator import ChunkStream, EmbedRequest, LlmRole, ModelRequest
from services.model.metering import CallEnd, MeteredContentGenerator, ModelCall, metered
from services.wire import JsonObject

CHUNKS: list[JsonObject] = [
    {"modelVersion": "gemini-2.5-flash-001", "responseId": "r1", "usageMetadata": {"a": 1}},
    {"modelVersion": "other", "candidates": [{"finishReason": "STOP"}]},
    {"usageMetadata": {"promptTokenCount": 7}},
]


class Model:
    """Takes 10 ms to connect, and 5 ms a chunk; an exception among the chunks is raised."""

    def __init__(
        self,
        clock: VirtualClock,
        chunks: Sequence[JsonObject | Exception],
        *,
        at_once: bool = False,
    ) -> None:
        self._clock = clock
        self._chunks = chunks
        self._at_once = at_once

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        self._clock.advance(10)
        first = self._chunks[0]
        if isinstance(first, Exception):
            raise first
        return first

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        self._clock.advance(10)
        if self._at_once and isinstance(self._chunks[0], Exception):
            raise self._chunks[0]
        return self._stream()

    async def _stream(self) -> ChunkStream:
        for chunk in self._chunks:
            self._clock.advance(5)
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        return {"totalTokens": 3}

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        return {"embeddings": []}


class Notes:
    def __init__(self) -> None:
        self.seen: list[str] = []
        self.calls: list[ModelCall] = []

    def call_began(self, call: ModelCall) -> None:
        self.seen.append("began")
        self.calls.append(call)

    def call_received(self, call: ModelCall, response: JsonObject) -> None:
        self.seen.append("received")

    def call_ended(self, call: ModelCall) -> None:
        self.seen.append("ended")


REQUEST = ModelRequest(
    model="gemini-2.5-flash",
    contents=[],
    role=LlmRole.MAIN,
    prompt_id="p",
    signal=AbortController().signal,
)


def rig(*chunks: Any, at_once: bool = False) -> tuple[MeteredContentGenerator, Notes]:
    clock, notes = VirtualClock(), Notes()
    return MeteredContentGenerator(Model(clock, chunks, at_once=at_once), [notes], clock), notes


async def read(model: MeteredContentGenerator) -> list[JsonObject]:
    async with aclosing(await model.generate_content_stream(REQUEST)) as stream:
        return [chunk async for chunk in stream]


def test_without_observers_there_is_no_meter() -> None:
    clock = VirtualClock()
    model = Model(clock, CHUNKS)
    assert metered(model, [], clock) is model


async def test_a_stream_is_passed_through_and_measured() -> None:
    model, notes = rig(*CHUNKS)
    assert await read(model) == CHUNKS
    (call,) = notes.calls
    assert notes.seen == ["began", "received", "received", "received", "ended"]
    assert (call.end, call.streaming, call.duration_ms) == (CallEnd.ANSWERED, True, 25)
    assert call.first_ms == VIRTUAL_EPOCH_MS + 15
    assert (call.model, call.response_id) == ("gemini-2.5-flash-001", "r1")
    assert (call.finish_reason, call.usage) == ("STOP", {"promptTokenCount": 7})


async def test_an_answer_in_one_piece_is_measured() -> None:
    model, notes = rig(CHUNKS[0])
    assert await model.generate_content(REQUEST) == CHUNKS[0]
    (call,) = notes.calls
    assert (call.end, call.streaming, call.duration_ms) == (CallEnd.ANSWERED, False, 10)


@pytest.mark.parametrize("chunks", [(ApiError(500, "no"),), (CHUNKS[0], ApiError(500, "no"))])
@pytest.mark.parametrize("at_once", [True, False])
async def test_observers_receive_a_failure_with_its_error(
    chunks: tuple[Any, ...], at_once: bool
) -> None:
    model, notes = rig(*chunks, at_once=at_once)
    with pytest.raises(ApiError):
        await read(model)
    (call,) = notes.calls
    assert (call.end, call.error) == (CallEnd.FAILED, chunks[-1])
    assert notes.seen[-1] == "ended"


async def test_a_stream_that_is_closed_early_is_abandoned() -> None:
    model, notes = rig(*CHUNKS)
    async with aclosing(await model.generate_content_stream(REQUEST)) as stream:
        await anext(stream)
    assert (notes.calls[0].end, notes.seen) == (CallEnd.ABANDONED, ["began", "received", "ended"])


async def test_an_abort_is_no_failure() -> None:
    model, notes = rig(AbortError())
    with pytest.raises(AbortError):
        await model.generate_content(REQUEST)
    assert (notes.calls[0].end, notes.calls[0].error) == (CallEnd.ABANDONED, None)


@pytest.mark.parametrize("at_once", [True, False])
async def test_the_meter_shows_in_no_traceback(at_once: bool) -> None:
    model, _ = rig(ApiError(500, "no"), at_once=at_once)
    for ask in (lambda: model.generate_content(REQUEST), lambda: read(model)):
        with pytest.raises(ApiError) as raised:
            await ask()
        frames = traceback.extract_tb(raised.value.__traceback__)
        assert [frame.name for frame in frames if frame.filename == metering.__file__] == []
        assert frames[-1].name in ("generate_content", "generate_content_stream", "_stream")


async def test_token_counts_and_embeddings_are_not_measured() -> None:
    model, notes = rig()
    assert await model.count_tokens(REQUEST) == {"totalTokens": 3}
    embed = EmbedRequest(model="m", contents=[], signal=REQUEST.signal)
    assert await model.embed_content(embed) == {"embeddings": []}
    assert notes.seen == []
