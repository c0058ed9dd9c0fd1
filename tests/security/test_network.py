"""Hostile servers: answers without an end, bombs; and a confined session, which connects nowhere.

Every way to the network is tried: the model, MCP over HTTP and over server-sent events, the
refreshing of a token, remote agents and their cards, Google's accounts, web pages, telemetry.
"""

from __future__ import annotations

import ast
import asyncio
import dataclasses
import json
import sys
import threading
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

import tests.services.mcp.conftest as mcp
import tests.services.subagents.remote.conftest as a2a
from services.abort import AbortController
from services.clock import SystemClock
from services.confinement import Confinement, Refusal, Seam, confined
from services.mcp.config import OAuthConfig
from services.mcp.endpoints import OAuthSecurityError, validated_endpoint
from services.mcp.limits import MESSAGE_BYTES
from services.mcp.states import McpServerStatus
from services.mcp.tokens import TokenStore
from services.model.auth import AuthConfig, AuthType
from services.model.errors import ModelError, NetworkError
from services.model.gemini import ANSWER_BYTES, GeminiContentGenerator
from services.model.generator import LlmRole, ModelRequest
from services.net.google import AmbientCredentials
from services.subagents.remote.errors import RemoteAgentError
from services.tools import web_client
from services.tools.web_client import HttpPages
from tests.security.loopback import MIB, Answer, Asked, bombs, endless, serving

ROOT = Path(__file__).parents[2]
JSON = {"content-type": "application/json"}
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


@asynccontextmanager
async def model(url: str) -> AsyncIterator[GeminiContentGenerator]:
    auth = AuthConfig(type=AuthType.USE_GEMINI, api_key="key-of-the-user", base_url=url)
    generator = GeminiContentGenerator(auth, SystemClock())
    try:
        yield generator
    finally:
        await generator.aclose()


def prompt() -> ModelRequest:
    return ModelRequest(
        model="gemini-2.5-flash",
        contents=[{"role": "user", "parts": [{"text": "the prompt"}]}],
        role=LlmRole.MAIN,
        prompt_id="p",
        signal=AbortController().signal,
        config={},
    )


async def whole(generator: GeminiContentGenerator) -> None:
    await generator.generate_content(prompt())


async def streamed(generator: GeminiContentGenerator) -> None:
    stream = await generator.generate_content_stream(prompt())
    async with aclosing(stream):
        async for _ in stream:
            pass


TOO_LARGE = f"The model cannot be asked: the answer is larger than {ANSWER_BYTES} bytes"


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("kind", BOMBS)
async def test_a_bomb_for_the_model_ends_at_the_bound(kind: str, status: int) -> None:
    coding, body = BOMBS[kind]
    answer = Answer(body, status, {**JSON, "content-encoding": coding})
    async with serving(lambda _: answer) as server, model(server.url) as generator:
        with memory(4 * ANSWER_BYTES), pytest.raises(NetworkError) as raised:
            await whole(generator)
    assert raised.value.message == TOO_LARGE


@pytest.mark.parametrize("piece", [b"x" * MIB, b"{" * MIB, b"data: " + b"x" * MIB + b"\n"])
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


def mcp_server(call: Callable[[Asked], Answer]) -> Callable[[Asked], Answer]:
    """A server with one tool, `only`, whose calls are answered by `call`."""
    results = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "n", "version": "1"},
        },
        "tools/list": {
            "tools": [{"name": "only", "description": "", "inputSchema": {"type": "object"}}]
        },
    }

    def answer(asked: Asked) -> Answer:
        if asked.method != "POST":
            return Answer(status=405)
        message = asked.json()
        if message.get("method") == "tools/call":
            return call(asked)
        if "id" not in message:
            return Answer(status=202)
        result = results.get(message["method"], {})
        return Answer(_result(message["id"], result), headers=JSON)

    return answer


def _result(number: Any, result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("kind", BOMBS)
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
        return Answer(_result(asked.json()["id"], {"content": content}), headers=JSON)

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
            lambda call: Answer(_result(call.json()["id"], {"content": content}), headers=JSON)
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


def card(url: str, **more: Any) -> dict[str, Any]:
    return {"name": "a", "description": "", "version": "1", "url": url, "skills": [], **more}


@pytest.mark.parametrize("kind", BOMBS)
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


# --- a confined session ---

Way = Callable[[str, Path], Awaitable[None]]


async def _ask_whole(url: str, _: Path) -> None:
    async with model(url) as generator:
        with pytest.raises(NetworkError, match="opening a connection is refused"):
            await whole(generator)


async def _ask_streamed(url: str, _: Path) -> None:
    async with model(url) as generator:
        with pytest.raises(NetworkError, match="opening a connection is refused"):
            await streamed(generator)


async def _ask_vertex(url: str, _: Path) -> None:
    auth = AuthConfig(
        type=AuthType.USE_VERTEX_AI, vertexai=True, project="p", location="l", base_url=url
    )
    generator = GeminiContentGenerator(auth, SystemClock())
    with pytest.raises(ModelError, match="opening a connection is refused"):
        await whole(generator)
    await generator.aclose()


async def _find_google_account(url: str, folder: Path) -> None:
    with pytest.raises(PermissionError):
        AmbientCredentials().refresh(None)


async def _fetch_page(url: str, _: Path) -> None:
    with pytest.raises(NetworkError, match="fetch failed"):
        await HttpPages().get("http://page.example/", {}, AbortController().signal)


async def _fetch_page_by_number(url: str, _: Path) -> None:
    with pytest.raises(NetworkError, match="fetch failed"):
        await HttpPages().get("http://93.184.216.34/", {}, AbortController().signal)


async def _check_token_endpoint(url: str, _: Path) -> None:
    with pytest.raises(OAuthSecurityError, match="opening a connection is refused"):
        await validated_endpoint("https://token.example/", allow_loopback=False)


async def _refresh_token(url: str, folder: Path) -> None:
    stored = {
        "serverName": "web",
        "token": {"accessToken": "a", "refreshToken": "r", "expiresAt": 1},
        "clientId": "c",
        "tokenUrl": f"{url}/token",
    }
    path = folder / "tokens.json"
    path.write_text(json.dumps([stored]))
    store = TokenStore(path, SystemClock(), feedback=lambda *_: None)
    assert await store.valid_token("web", OAuthConfig()) is None


WAYS: dict[str, Way] = {
    "the model": _ask_whole,
    "the model, streamed": _ask_streamed,
    "Vertex AI without a key": _ask_vertex,
    "the machine's Google account": _find_google_account,
    "a page by name": _fetch_page,
    "a page by number": _fetch_page_by_number,
    "a token endpoint's name": _check_token_endpoint,
    "a token's refresh": _refresh_token,
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_confined_session_connects_nowhere(way: str, tmp_path: Path) -> None:
    refused: list[Refusal] = []
    async with serving(lambda _: Answer(b"{}", headers=JSON)) as server:
        with confined(Confinement(on_refusal=refused.append)):
            await WAYS[way](server.url, tmp_path)
        assert server.asked == []
    assert {each.seam for each in refused} == {Seam.CONNECTION}


async def test_a_confined_session_loads_no_card_and_asks_no_agent(
    a2a_session: Any, tmp_path: Path
) -> None:
    refused: list[Refusal] = []
    key = tmp_path / "key.json"
    key.write_text("{}")
    google = {"card_url": "https://a.run.app/c", "auth": {"type": "google-credentials"}}
    async with serving(lambda _: Answer(b"{}", headers=JSON)) as server, a2a_session() as session:
        with confined(Confinement(on_refusal=refused.append)):
            with pytest.raises(RemoteAgentError, match="opening a connection is refused"):
                await session.agents.load(a2a.agent(card_url=f"{server.url}/card"))
            inline = a2a.agent("near", card_json=json.dumps(card(server.url)))
            assert "is refused" in a2a.text_of(await session.call(inline, "hello"))
            with pytest.raises(RemoteAgentError):
                await session.agents.load(a2a.agent("google", **google))
        assert server.asked == []
    assert [each.seam for each in refused] == [Seam.CONNECTION] * 3


@pytest.mark.parametrize("kind", ["httpUrl", "url", "sse"])
def test_a_confined_session_reaches_no_mcp_server(mcp_session: mcp.OpenSession, kind: str) -> None:
    @mcp.on_virtual_time
    async def run() -> None:
        refused: list[Refusal] = []
        async with serving(mcp_server(lambda _: Answer())) as server:
            where = f"{server.url}/mcp"
            config = {"url": where, "type": "sse"} if kind == "sse" else {kind: where}
            with confined(Confinement(on_refusal=refused.append)):
                async with mcp_session({"web": config}) as opened:
                    status = opened.manager.status("web")
                    assert status is McpServerStatus.DISCONNECTED
            assert server.asked == []
        assert {each.seam for each in refused} == {Seam.CONNECTION}

    run()


async def test_a_collector_is_not_reached_from_the_threads_of_a_confined_session() -> None:
    requests = pytest.importorskip("requests")
    from services.net.collector import collector_session

    refused: list[Refusal] = []
    failures: list[Exception] = []

    def send(session: Any, url: str) -> None:
        try:
            session.post(url, data=b"spans", timeout=5)
        except requests.exceptions.ConnectionError as error:
            failures.append(error)

    async with serving(lambda _: Answer(b"{}")) as server:
        with confined(Confinement(on_refusal=refused.append)):
            session = collector_session()
        # The exporters' threads start without the context of the session that began them.
        thread = threading.Thread(target=send, args=(session, f"{server.url}/v1/traces"))
        thread.start()
        await asyncio.to_thread(thread.join)
        assert server.asked == []
        await asyncio.to_thread(send, collector_session(), f"{server.url}/v1/traces")
        assert [asked.body for asked in server.asked] == [b"spans"]
    assert len(refused) == len(failures) == 1


# --- the source ---

_MAKERS = {
    "AsyncClient", "Client", "AsyncHTTPTransport", "HTTPTransport", "get", "post", "put", "patch",
    "delete", "head", "options", "request", "stream", "create_mcp_http_client",
}  # fmt: skip
_FORBIDDEN_MODULES = {"http.client", "urllib.request", "urllib3", "requests", "aiohttp", "ftplib"}
_FORBIDDEN_CALLS = {
    "open_connection", "open_unix_connection", "create_connection", "create_datagram_endpoint",
    "create_unix_connection", "getaddrinfo", "gethostbyname", "gethostbyaddr", "getnameinfo",
    "socket", "socketpair", "sock_connect", "start_server", "create_server", "urlopen",
}  # fmt: skip
_FORBIDDEN_TEXTS = ("transport.requests", "requests", "aiohttp", "urllib3", "urllib.request")


def _modules() -> list[Path]:
    folders = ("services", "runtimes", "surfaces", "agent_protocol")
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if not path.is_relative_to(ROOT / "services" / "net")]


def ways_out(source: str) -> set[str]:
    """What in a module opens connections or resolves names without the factory."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                imported = {name.name for name in names}
            case ast.ImportFrom(module=str(module), names=names):
                imported = {module, *(f"{module}.{name.name}" for name in names)}
            case _:
                imported = set()
        found |= imported & _FORBIDDEN_MODULES
        found |= {
            each
            for each in imported
            if each.partition(".")[0] in ("httpx", "httpx2") and each.rpartition(".")[2] in _MAKERS
        }
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="httpx" | "httpx2"), attr=attr)):
                found |= {attr} & _MAKERS
            case ast.Call(func=ast.Attribute(attr=attr)) | ast.Call(func=ast.Name(id=attr)):
                found |= {attr} & (_FORBIDDEN_CALLS | {"create_mcp_http_client"})
        match node:
            case ast.Call(args=[ast.Constant(value=str(text)), *_]) if text in _FORBIDDEN_TEXTS:
                found.add(text)
    return found


@pytest.mark.parametrize(
    "source",
    [
        "import httpx\nhttpx.AsyncClient(trust_env=False)",
        "from httpx2 import AsyncClient",
        "import httpx\nclass T(httpx.Auth): pass\nhttpx.get('http://h')",
        "import asyncio\nasyncio.open_connection('h', 1)",
        "import socket\nsocket.socket()",
        "import asyncio\nasync def f(): await asyncio.get_running_loop().getaddrinfo('h', 1)",
        "from urllib.request import urlopen",
        "import requests",
        "_library('transport.requests')",
    ],
)
def test_the_enumeration_finds_each_way_out(source: str) -> None:
    assert ways_out(source)


def test_nothing_outside_of_the_factory_opens_connections() -> None:
    found = {
        str(path.relative_to(ROOT)): sorted(ways)
        for path in _modules()
        if (ways := ways_out(path.read_text("utf-8")))
    }
    assert found == {}
