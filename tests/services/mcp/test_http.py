"""Servers over HTTP: real ones, on a port of this machine."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from services.clock import VIRTUAL_EPOCH_MS
from services.mcp.config import McpServerConfig
from services.mcp.states import McpServerStatus
from tests.services.mcp.conftest import OpenSession, on_virtual_time, said_to_model

Seen = list[dict[str, str]]
SOON = 60_000


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[str]:
    """Serve `app` in this loop; the value is its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="critical", lifespan="on")
    server = uvicorn.Server(config)
    running = asyncio.get_running_loop().create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - the server has no event for it
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        server.force_exit = True
        await running


def watched(app: Any, seen: Seen, *, token: str | None = None) -> Any:
    """`app`, with the headers of its requests in `seen`; 401 without the right token."""

    async def outer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = {key.decode(): value.decode() for key, value in scope["headers"]}
            seen.append(headers)
            if token is not None and headers.get("authorization") != f"Bearer {token}":
                await Response("no", 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
                return
        await app(scope, receive, send)

    return outer


def echo_server() -> Server[Any]:
    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        tool = types.Tool(name="echo", description="", input_schema={"type": "object"})
        return types.ListToolsResult(tools=[tool])

    async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
        said = types.TextContent(type="text", text=str(params.arguments["text"]))
        return types.CallToolResult(content=[said])

    return Server("echo", on_list_tools=list_tools, on_call_tool=call_tool)


@on_virtual_time
async def test_streamable_http_with_expanded_headers(session: OpenSession) -> None:
    seen: Seen = []
    async with serving(watched(echo_server().streamable_http_app(), seen)) as url:
        config = {"url": f"{url}/mcp", "headers": {"X-Mine": "at ${HOME}"}}
        async with session({"web": config}) as opened:
            assert said_to_model(await opened.call("mcp_web_echo", {"text": "hi"})) == "hi"
            assert opened.clock.held is False
            home = str(opened.workspace.home)
    assert all(headers["x-mine"] == f"at {home}" for headers in seen)


@on_virtual_time
async def test_a_url_without_a_type_falls_back_to_server_sent_events(
    session: OpenSession,
) -> None:
    made = MCPServer("old")

    @made.tool()
    def ping(text: str) -> str:
        return f"pong {text}"

    async with (
        serving(made.sse_app()) as url,
        session({"old": {"url": f"{url}/sse"}}) as opened,
    ):
        assert said_to_model(await opened.call("mcp_old_ping", {"text": "x"})) == "pong x"


@on_virtual_time
async def test_a_refused_call_is_reported_with_status_and_body(session: OpenSession) -> None:
    async def endpoint(request: Request) -> Response:
        if request.method != "POST":
            return PlainTextResponse("none", 404)
        message = await request.json()
        if message.get("method") == "tools/call":
            return PlainTextResponse("out of order", 503)
        return JSONResponse(_answer(message)) if "id" in message else Response(status_code=202)

    app = Starlette(routes=[Route("/mcp", endpoint, methods=["GET", "POST"])])
    async with serving(app) as url, session({"web": {"httpUrl": f"{url}/mcp"}}) as opened:
        result = await opened.call("mcp_web_only")
        assert result.error is not None
        assert "Error POSTing to endpoint (HTTP 503): out of order" in result.error.message


@on_virtual_time
async def test_a_server_that_went_away_fails_the_call_only(session: OpenSession) -> None:
    async with session({}) as opened:
        async with serving(echo_server().streamable_http_app()) as url:
            config = McpServerConfig(url=f"{url}/mcp", type="http")
            await opened.manager.discover("web", config)
        result = await opened.call("mcp_web_echo", {"text": "x"})
        assert result.error is not None
        assert '"message":"fetch failed"' in result.error.message
        assert opened.manager.status("web") is McpServerStatus.CONNECTED


@on_virtual_time
async def test_a_stored_token_is_used_and_a_rejected_one_asks_for_a_login(
    session: OpenSession, tmp_path: Path
) -> None:
    _store(tmp_path, {"web": {"accessToken": "good", "tokenType": "Bearer"}})
    seen: Seen = []
    app = watched(echo_server().streamable_http_app(), seen, token="good")
    async with serving(app) as url:
        async with session({"web": {"url": f"{url}/mcp"}}) as opened:
            assert said_to_model(await opened.call("mcp_web_echo", {"text": "hi"})) == "hi"
        _store(tmp_path, {"web": {"accessToken": "bad", "tokenType": "Bearer"}})
        async with session({"web": {"url": f"{url}/mcp"}}, start=False) as opened:
            opened.manager.diagnostics.user_interacted()
            await opened.manager.start()
            assert opened.said() == [
                (
                    "info: MCP server 'web' rejected stored OAuth token. "
                    "Please re-authenticate using: /mcp auth web"
                )
            ]
        (tmp_path / "home" / ".gemini" / "mcp-oauth-tokens.json").unlink()
        async with session({"web": {"url": f"{url}/mcp"}}, start=False) as opened:
            opened.manager.diagnostics.user_interacted()
            await opened.manager.start()
            assert opened.said() == [
                "info: MCP server 'web' requires authentication using: /mcp auth web"
            ]


@on_virtual_time
async def test_an_old_token_is_refreshed_and_written_back(
    session: OpenSession, tmp_path: Path
) -> None:
    forms: list[dict[str, str]] = []

    async def token(request: Request) -> Response:
        form = await request.form()
        forms.append({key: str(value) for key, value in form.items()})
        return JSONResponse({"access_token": "new", "token_type": "Bearer", "expires_in": 3600})

    app = echo_server().streamable_http_app()
    app.router.routes.append(Route("/token", token, methods=["POST"]))

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        inner: Callable[..., Any] = app
        if scope.get("path") == "/mcp":
            inner = watched(app, [], token="new")
        await inner(scope, receive, send)

    async with serving(guarded) as url:
        old = {
            "accessToken": "old",
            "tokenType": "Bearer",
            "refreshToken": "again",
            "expiresAt": VIRTUAL_EPOCH_MS + SOON,
        }
        more = {"clientId": "me", "tokenUrl": f"{url}/token", "mcpServerUrl": f"{url}/mcp?x=1"}
        _store(tmp_path, {"web": old}, more)
        async with session({"web": {"url": f"{url}/mcp"}}) as opened:
            assert said_to_model(await opened.call("mcp_web_echo", {"text": "hi"})) == "hi"
            now = opened.clock.now_ms()
        assert forms == [
            {
                "grant_type": "refresh_token",
                "refresh_token": "again",
                "client_id": "me",
                "resource": f"{url}/mcp",
            }
        ]
    path = tmp_path / "home" / ".gemini" / "mcp-oauth-tokens.json"
    [stored] = json.loads(path.read_text())
    assert stored["token"] == {
        "accessToken": "new",
        "tokenType": "Bearer",
        "refreshToken": "again",
        "expiresAt": now + 3_600_000,
    }
    assert path.stat().st_mode & 0o777 == 0o600


@on_virtual_time
async def test_a_refresh_that_fails_forgets_the_token(session: OpenSession, tmp_path: Path) -> None:
    old = {
        "accessToken": "old",
        "tokenType": "Bearer",
        "refreshToken": "again",
        "expiresAt": VIRTUAL_EPOCH_MS - 1,
    }
    app = watched(echo_server().streamable_http_app(), [], token="new")
    async with serving(app) as url:
        more = {"clientId": "me", "tokenUrl": "http://example.test/token"}
        _store(tmp_path, {"web": old}, more)
        async with session({"web": {"url": f"{url}/mcp"}}) as opened:
            assert "error: Failed to refresh auth token." in opened.said()
            assert opened.tools.all_names() == []
    assert not (tmp_path / "home" / ".gemini" / "mcp-oauth-tokens.json").exists()


def _answer(message: dict[str, Any]) -> dict[str, Any]:
    results = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"},
        },
        "tools/list": {"tools": [{"name": "only", "inputSchema": {"type": "object"}}]},
    }
    return {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}


def _store(
    tmp_path: Path, tokens: dict[str, dict[str, Any]], more: dict[str, Any] | None = None
) -> None:
    folder = tmp_path / "home" / ".gemini"
    folder.mkdir(parents=True, exist_ok=True)
    listed = [
        {"serverName": name, "token": token, "updatedAt": 0, **(more or {})}
        for name, token in tokens.items()
    ]
    (folder / "mcp-oauth-tokens.json").write_text(json.dumps(listed))
