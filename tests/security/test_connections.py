"""A confined session connects nowhere, and only `services/net` makes connections.

Every way to the network is tried: the model, MCP over HTTP and over server-sent events, the
refreshing of a token, remote agents and their cards, Google's accounts, web pages, telemetry.
"""

from __future__ import annotations

import ast
import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import tests.services.mcp.conftest as mcp
import tests.services.subagents.remote.conftest as a2a
from services.abort import AbortController
from services.clock import SystemClock
from services.code_assist.server import CodeAssistServer
from services.confinement import Confinement, Refusal, Refused, Seam, confined
from services.mcp.config import OAuthConfig
from services.mcp.endpoints import OAuthSecurityError, validated_endpoint
from services.mcp.states import McpServerStatus
from services.mcp.tokens import TokenStore
from services.model.auth import AuthConfig, AuthType
from services.model.errors import ModelError, NetworkError
from services.model.gemini import GeminiContentGenerator
from services.net.google import AmbientCredentials
from services.sign_in.accounts import FixedAccount
from services.sign_in.opening import find_account
from services.subagents.remote.errors import RemoteAgentError
from services.tools.web_client import HttpPages
from tests.security.asking import JSON, card, mcp_server, model, streamed, whole
from tests.security.loopback import Answer, Server, serving
from tests.services.sign_in.stand_ins import Google
from tests.services.sign_in.test_login import login_at
from tests.services.subagents.remote.test_signing_in import service_account

ROOT = Path(__file__).parents[2]

mcp_session = mcp.session
a2a_session = a2a.opened


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


def _google(url: str) -> Google:
    return Google(server=Server(url))


async def _refresh_google_account(url: str, folder: Path) -> None:
    server = _google(url)
    server.store(folder, expires_ms=1)
    with pytest.raises(Refused):
        await _found(server, folder, AuthType.LOGIN_WITH_GOOGLE)


async def _ask_metadata_server(url: str, folder: Path) -> None:
    with pytest.raises(Refused):
        await _found(_google(url), folder, AuthType.COMPUTE_ADC)


async def _read_credentials_file(url: str, folder: Path) -> None:
    file = folder / "account.json"
    file.write_text(json.dumps(service_account(url)))
    with pytest.raises(Refused):
        await _found(
            _google(url),
            folder,
            AuthType.LOGIN_WITH_GOOGLE,
            GOOGLE_APPLICATION_CREDENTIALS=str(file),
        )


async def _found(server: Google, home: Path, kind: AuthType, **more: str) -> None:
    variables = {**server.variables, **more}
    await find_account(kind, variables, home, SystemClock(), lambda _: None)


async def _sign_in_to_google(url: str, folder: Path) -> None:
    with pytest.raises(Refused):
        await login_at(_google(url), folder).in_browser()


async def _ask_code_assist(url: str, _: Path) -> None:
    async with code_assist(url) as server:
        with pytest.raises(NetworkError, match="opening a connection is refused"):
            await server.call("loadCodeAssist", {})
        with pytest.raises(NetworkError, match="opening a connection is refused"):
            await server.connected("streamGenerateContent", {})


@asynccontextmanager
async def code_assist(url: str) -> AsyncIterator[CodeAssistServer]:
    server = CodeAssistServer(FixedAccount("token", "T"), f"{url}/v1", {}, SystemClock())
    try:
        yield server
    finally:
        await server.aclose()


WAYS: dict[str, Way] = {
    "the model": _ask_whole,
    "the model, streamed": _ask_streamed,
    "Vertex AI without a key": _ask_vertex,
    "the machine's Google account": _find_google_account,
    "a stored Google account's refresh": _refresh_google_account,
    "the metadata server": _ask_metadata_server,
    "a credentials file": _read_credentials_file,
    "a Google login": _sign_in_to_google,
    "Code Assist": _ask_code_assist,
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
                found |= {name.name for name in names if name.asname and "httpx" in name.name}
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
        "import httpx as h\nh.Client()",
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
