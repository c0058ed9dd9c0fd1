"""The stand-in speaks HTTP like the API, and breaks answers where a step says so."""

import asyncio
import json

import httpx
import pytest

from harness.http.standin import STEP_HEADER, open_standin
from services.clock import SystemClock, VirtualClock, virtual_loop
from services.model.event_stream import event_stream
from services.wire import JsonObject

STREAM = "/v1beta/models/m:streamGenerateContent?alt=sse"
CHUNKS: list[JsonObject] = [{"a": "é✓"}, {"b": 2}]


@pytest.mark.parametrize(
    ("path", "step", "body"),
    [
        ("/v1beta/models/m:generateContent", {"generate": {"x": 1}}, {"x": 1}),
        ("/v1beta/models/m:countTokens", {"count_tokens": {"totalTokens": 2}}, {"totalTokens": 2}),
        ("/v1beta/models/m:embedContent", {"embed": {"embedding": {}}}, {"embedding": {}}),
        ("/v1/projects/p/locations/l/publishers/google/models/m:generateContent", {"text": "t"}, 0),
    ],
)
async def test_each_path_is_answered_by_the_next_step(path, step, body):
    async with open_standin([step]) as standin, httpx.AsyncClient() as client:
        response = await client.post(f"{standin.base_url}{path}", json={"q": 1})
    assert response.status_code == 200
    if body:
        assert response.json() == body
    else:
        assert response.json()["candidates"][0]["finishReason"] == "STOP"
    assert standin.requests[0].model == "m"
    assert standin.requests[0].body == {"q": 1}


@pytest.mark.parametrize("cuts", [(), (1, 9, 10), range(1, 60)])
async def test_a_stream_arrives_whole_however_it_is_cut(cuts):
    step = {"stream": CHUNKS, "cuts": cuts}
    async with (
        open_standin([step]) as standin,
        httpx.AsyncClient() as client,
        client.stream("POST", f"{standin.base_url}{STREAM}", json={}) as response,
    ):
        pieces = [piece async for piece in response.aiter_raw()]
    assert b"".join(pieces) == event_stream(CHUNKS)
    assert len(pieces) >= min(len(cuts), 2)
    assert response.headers["content-type"] == "text/event-stream"


async def test_an_error_has_the_apis_body_and_the_connection_lives_on():
    error = {
        "status": 429,
        "message": "no",
        "grpc": "RESOURCE_EXHAUSTED",
        "details": [{"@type": 1}],
    }
    async with open_standin([{"error": error}]) as standin, httpx.AsyncClient() as client:
        first = await client.post(f"{standin.base_url}{STREAM}", json={})
        second = await client.post(f"{standin.base_url}{STREAM}", json={})
    assert (first.status_code, first.reason_phrase) == (429, "Too Many Requests")
    assert list(first.json()["error"]) == ["code", "message", "status", "details"]
    assert "no more steps" in second.json()["error"]["message"]
    assert len(standin.requests) == 2


@pytest.mark.parametrize(
    ("break_off", "raised"),
    [({"reset_at": 8}, httpx.ReadError), ({"end_at": 8}, None)],
)
async def test_a_stream_ends_where_its_step_says(break_off, raised):
    read = b""

    async def drain():
        nonlocal read
        async with client.stream("POST", f"{standin.base_url}{STREAM}", json={}) as response:
            async for piece in response.aiter_raw():
                read += piece

    step = {"stream": CHUNKS, **break_off}
    async with open_standin([step]) as standin, httpx.AsyncClient() as client:
        if raised is None:
            await drain()
        else:
            with pytest.raises(raised):
                await drain()
    assert read == event_stream(CHUNKS)[:8]


async def test_a_stream_may_end_its_lines_with_line_feeds_alone():
    step = {"stream": CHUNKS, "line_end": "\n"}
    async with open_standin([step]) as standin, httpx.AsyncClient() as client:
        response = await client.post(f"{standin.base_url}{STREAM}", json={})
    assert response.content == event_stream(CHUNKS).replace(b"\r\n", b"\n")


async def test_a_request_that_names_its_step_gets_that_one_and_leaves_it_there():
    steps = [{"generate": {"a": 0}}, {"generate": {"a": 1}}]
    url = "/v1beta/models/m:generateContent"
    async with open_standin(steps) as standin, httpx.AsyncClient() as client:
        answers = [
            await client.post(
                f"{standin.base_url}{url}", json={}, headers={STEP_HEADER: str(number)}
            )
            for number in (1, 0, 1)
        ]
    assert [answer.json() for answer in answers] == [{"a": 1}, {"a": 0}, {"a": 1}]


async def test_leaving_ends_connections_that_wait():
    async with open_standin([{"hang": True}]) as standin, httpx.AsyncClient() as client:
        asking = asyncio.create_task(client.post(f"{standin.base_url}{STREAM}", json={}))
        await standin.asked.wait()
        assert standin.open_connections == 1
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await standin.disconnected.wait()
    assert standin.open_connections == 0


def test_a_delay_goes_by_the_clock_it_was_given():
    async def run():
        clock = VirtualClock()
        start = clock.now_ms()
        async with open_standin([{"delay_ms": 5000, "text": "t"}], clock=clock) as standin:
            port = int(standin.base_url.rsplit(":", 1)[1])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            body = json.dumps({}).encode()
            head = f"POST /v1beta/models/m:generateContent HTTP/1.1\r\ncontent-length: {len(body)}"
            writer.write(head.encode() + b"\r\n\r\n" + body)
            assert (await reader.readline()) == b"HTTP/1.1 200 OK\r\n"
            writer.close()
        return clock.now_ms() - start

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        assert runner.run(run()) == 5000


async def test_the_port_is_on_the_loopback_interface():
    async with open_standin([], clock=SystemClock()) as standin:
        assert standin.base_url.startswith("http://127.0.0.1:")
