"""Hostile servers: answers without an end, and bombs."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import tests.services.mcp.conftest as mcp
import tests.services.subagents.remote.conftest as a2a
from services.abort import AbortController
from services.mcp.limits import MESSAGE_BYTES
from services.mcp.states import McpServerStatus
from services.model.errors import ModelError, NetworkError
from services.model.gemini import ANSWER_BYTES
from services.subagents.remote.errors import RemoteAgentError
from services.tools import web_client
from services.tools.web_client import HttpPages
from tests.security.asking import JSON, card, json_rpc, mcp_server, model, streamed, whole
from tests.security.loopback import MIB, Answer, Asked, bombs, endless, serving

EVENTS = {"content-type": "text/event-stream"}
BOMBS = bombs()

mcp_session = mcp.session
a2a_session = a2a.opened


@contextmanager
def memory(most: int) -> Iterator[None]:
    """Fail where Python holds more than `most` bytes more than before, at any time."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < most, f"{peak / MIB:.0f} MiB"


# --- the model ---


TOO_LARGE = f"The model cannot be asked: the answer is larger than {ANSWER_BYTES} bytes"


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("kind", BOMBS)
@pytest.mark.sampled(6)
async def test_a_bomb_for_the_model_ends_at_the_bound(kind: str, status: int) -> None:
    coding, body = BOMBS[kind]
    answer = Answer(body, status, {**JSON, "content-encoding": coding})
    async with serving(lambda _: answer) as server, model(server.url) as generator:
        with memory(4 * ANSWER_BYTES), pytest.raises(NetworkError) as raised:
            await whole(generator)
    assert raised.value.message == TOO_LARGE


@pytest.mark.parametrize("piece", [b"x" * MIB, b"{" * MIB, b"data: " + b"x" * MIB + b"\n"])
@pytest.mark.sampled(3)
async def test_a_stream_of_the_model_without_an_end_of_line_ends_at_the_bound(piece: bytes) -> None:
    answer = Answer(headers=EVENTS, pieces=endless(piece))
    async with serving(lambda _: answer) as server, model(server.url) as generator:
        with memory(12 * ANSWER_BYTES), pytest.raises(NetworkError) as raised:
            await streamed(generator)
    assert raised.value.message == TOO_LARGE


@pytest.mark.parametrize(
    ("coding", "said"),
    [
        ("br", "the content-encoding 'br', and the request offered gzip, deflate only"),
        ("zstd, gzip", "the content-encoding 'zstd'"),
        ("gzip, gzip, gzip", "has 3 content-encodings, and 2 are read"),
        ("gzip", "the answer's content-encoding cannot be undone: "),
    ],
)
async def test_an_encoding_that_is_not_read_is_named(coding: str, said: str) -> None:
    answer = Answer(b"not compressed", headers={**JSON, "content-encoding": coding})
    async with serving(lambda _: answer) as server, model(server.url) as generator:
        with pytest.raises(NetworkError) as raised:
            await whole(generator)
    assert said in raised.value.message
    assert server.asked[0].headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize("headers", [{"x-long": "y" * MIB}, {f"x-{n}": "y" for n in range(99999)}])
async def test_headers_without_an_end_break_the_answer(headers: dict[str, str]) -> None:
    answer = Answer(b"{}", headers=headers)
    async with serving(lambda _: answer) as server, model(server.url) as generator:
        with memory(32 * MIB), pytest.raises(NetworkError, match="fetch failed"):
            await whole(generator)


# --- MCP ---


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("kind", BOMBS)
@pytest.mark.sampled(6)
def test_a_bomb_of_an_mcp_server_fails_the_call_only(
    mcp_session: mcp.OpenSession, kind: str, status: int
) -> None:
    coding, body = BOMBS[kind]
    first = True

    def call(asked: Asked) -> Answer:
        nonlocal first
        if first:
            first = False
            return Answer(body, status, {**JSON, "content-encoding": coding})
        content = [{"type": "text", "text": "still there"}]
        return Answer(json_rpc(asked.json()["id"], {"content": content}), headers=JSON)

    @mcp.on_virtual_time
    async def run() -> None:
        async with serving(mcp_server(call)) as server:
            config = {"httpUrl": f"{server.url}/mcp"}
            async with mcp_session({"web": config}) as opened:
                with memory(4 * MESSAGE_BYTES):
                    result = await opened.call("mcp_web_only")
                assert result.error is not None
                assert f"the answer is larger than {MESSAGE_BYTES} bytes" in result.error.message
                again = await opened.call("mcp_web_only")
                assert mcp.said_to_model(again) == "still there"

    run()


@pytest.mark.parametrize(
    ("piece", "said"),
    [
        (b"data: " + b"x" * MIB, "larger than"),
        (b"data: " + b"x" * MIB + b"\n", "larger than"),
        (b": " + b"x" * MIB + b"\n\n", "larger than"),
    ],
)
@pytest.mark.sampled(4)
def test_an_event_stream_of_an_mcp_server_without_an_end_fails_the_call(
    mcp_session: mcp.OpenSession, piece: bytes, said: str
) -> None:
    @mcp.on_virtual_time
    async def run() -> None:
        answer = Answer(headers=EVENTS, pieces=endless(piece))
        async with serving(mcp_server(lambda _: answer)) as server:
            config = {"httpUrl": f"{server.url}/mcp"}
            async with mcp_session({"web": config}) as opened:
                with memory(12 * MESSAGE_BYTES):
                    result = await opened.call("mcp_web_only")
                assert result.error is not None
                assert said in result.error.message

    run()


@pytest.mark.parametrize("piece", [b"data: " + b"x" * MIB, b"data: " + b"x" * MIB + b"\n"])
@pytest.mark.sampled(2)
def test_the_stream_of_an_mcp_servers_notices_holds_no_event_without_an_end(
    mcp_session: mcp.OpenSession, piece: bytes
) -> None:
    ended = asyncio.Event()
    content = [{"type": "text", "text": "still there"}]

    def pieces() -> Iterator[bytes]:
        try:
            yield from endless(piece)()
        finally:
            ended.set()

    def answer(asked: Asked) -> Answer:
        if asked.method == "GET":
            return Answer(headers=EVENTS, pieces=pieces)
        reply = mcp_server(
            lambda call: Answer(json_rpc(call.json()["id"], {"content": content}), headers=JSON)
        )(asked)
        return dataclasses.replace(reply, headers={**reply.headers, "mcp-session-id": "s"})

    @mcp.on_virtual_time
    async def run() -> None:
        async with serving(answer) as server:
            config = {"httpUrl": f"{server.url}/mcp"}
            with memory(12 * MESSAGE_BYTES):
                async with mcp_session({"web": config}) as opened:
                    with opened.clock.real_work():
                        await ended.wait()
                    result = await opened.call("mcp_web_only")
                    assert mcp.said_to_model(result) == "still there"

    run()


def test_a_line_of_an_mcp_server_without_an_end_ends_the_connection(
    mcp_session: mcp.OpenSession,
) -> None:
    flood = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    config = {"command": sys.executable, "args": ["-c", flood]}

    @mcp.on_virtual_time
    async def run() -> None:
        with memory(2 * MESSAGE_BYTES):
            async with mcp_session({"local": config}) as opened:
                assert opened.manager.status("local") is McpServerStatus.DISCONNECTED

    run()


# --- remote agents ---


@pytest.mark.parametrize("kind", BOMBS)
@pytest.mark.sampled(5)
async def test_a_bomb_of_a_remote_agent_ends_at_the_bound(a2a_session: Any, kind: str) -> None:
    coding, body = BOMBS[kind]
    answer = Answer(body, headers={**JSON, "content-encoding": coding})
    async with serving(lambda _: answer) as server, a2a_session() as session:
        with memory(4 * ANSWER_BYTES):
            definition = a2a.agent(card_json=json.dumps(card(server.url)))
            result = await session.call(definition, "hello")
    assert "the answer is larger than 67108864 bytes" in a2a.text_of(result)


async def test_an_event_of_a_remote_agent_without_an_end_ends_at_the_bound(
    a2a_session: Any,
) -> None:
    answer = Answer(headers=EVENTS, pieces=endless(b"data: " + b"x" * MIB))
    streaming = {"capabilities": {"streaming": True}}
    async with serving(lambda _: answer) as server, a2a_session() as session:
        with memory(12 * ANSWER_BYTES):
            definition = a2a.agent(card_json=json.dumps(card(server.url, **streaming)))
            result = await session.call(definition, "hello")
    assert "the answer is larger than 67108864 bytes" in a2a.text_of(result)


async def test_a_card_that_is_a_bomb_is_refused(a2a_session: Any) -> None:
    coding, body = BOMBS["one gzip member"]
    answer = Answer(body, headers={**JSON, "content-encoding": coding})
    async with serving(lambda _: answer) as server, a2a_session() as session:
        with memory(8 * MIB), pytest.raises(RemoteAgentError, match="larger than 1048576 bytes"):
            await session.agents.load(a2a.agent(card_url=f"{server.url}/card"))


# --- web pages ---


@pytest.fixture
def open_web(monkeypatch: pytest.MonkeyPatch) -> HttpPages:
    """Web pages, where this machine counts as public."""
    monkeypatch.setattr(web_client, "is_private_address", lambda _: False)
    monkeypatch.setattr(web_client, "is_internal_name", lambda _: False)
    return HttpPages()


@pytest.mark.parametrize("kind", BOMBS)
async def test_a_page_that_is_a_bomb_is_refused(open_web: HttpPages, kind: str) -> None:
    coding, body = BOMBS[kind]
    answer = Answer(body, headers={"content-encoding": coding})
    async with serving(lambda _: answer) as server:
        with (
            memory(48 * MIB),
            pytest.raises(ModelError, match="Content exceeds size limit of 10485760 bytes"),
        ):
            await open_web.get(server.url, {}, AbortController().signal)


async def test_a_page_keeps_the_headers_that_its_server_sent(open_web: HttpPages) -> None:
    coded = {"content-encoding": "gzip", "x-more": "1"}
    answer = Answer(BOMBS["one gzip member"][1][:0], headers=coded)
    async with serving(lambda _: answer) as server:
        page = await open_web.get(server.url, {}, AbortController().signal)
    assert (page.headers["content-encoding"], page.headers["x-more"]) == ("gzip", "1")


async def test_a_page_in_an_encoding_that_was_not_offered_is_named(open_web: HttpPages) -> None:
    async with serving(lambda _: Answer(b"x", headers={"content-encoding": "br"})) as server:
        with pytest.raises(ModelError, match="the content-encoding 'br'"):
            await open_web.get(server.url, {}, AbortController().signal)
