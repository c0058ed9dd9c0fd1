"""The transport of every client, by itself; what it refuses is tested where its clients are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx

from services.net.guarding import guarded
from services.net.terms import Terms


class Pieces(httpx.AsyncByteStream):
    """A body of two pieces."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"a"
        yield b"b"


def test_closing_an_answer_ends_a_reader_that_stopped_early() -> None:
    async def read() -> None:
        inner = httpx.MockTransport(lambda _: httpx.Response(200, stream=Pieces()))
        transport = guarded(httpx, inner, Terms(answer_bytes=100))
        request = httpx.Request("GET", "http://127.0.0.1/")
        response = await transport.handle_async_request(request)
        reading = aiter(response.stream)
        assert await anext(reading) == b"a"
        assert reading.ag_frame is not None
        await response.stream.aclose()
        assert reading.ag_frame is None

    asyncio.run(read())


def test_closing_an_answer_leaves_a_reader_that_waits_to_its_task() -> None:
    class Endless(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            await asyncio.Event().wait()
            yield b""

    async def read() -> None:
        inner = httpx.MockTransport(lambda _: httpx.Response(200, stream=Endless()))
        transport = guarded(httpx, inner, Terms(answer_bytes=100))
        request = httpx.Request("GET", "http://127.0.0.1/")
        response = await transport.handle_async_request(request)
        reader = asyncio.ensure_future(anext(aiter(response.stream)))
        await asyncio.sleep(0)
        await response.stream.aclose()
        reader.cancel()
        await asyncio.wait([reader])
        assert reader.cancelled()

    asyncio.run(read())
