"""Signing in to a server, against a stand-in on this machine."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse

from services.clock import VIRTUAL_EPOCH_MS
from services.confinement import Confinement, Refused, confined
from services.interaction.interaction import Handlers, Interaction
from services.interaction.questions import SignInQuestion, SignInSubject
from services.mcp.config import OAuthConfig
from services.mcp.sign_in import SignInSeam
from services.mcp.states import McpServerStatus
from services.mcp.token_files import StoredEntry, TokenFiles, tokens_path
from tests.services.mcp.conftest import OpenSession, Session, on_virtual_time, said_to_model
from tests.services.mcp.oauth_server import Protected, protected, query

HOUR_MS = 3_600_000


async def _opened(session: OpenSession, server: Protected, **oauth: Any) -> list[str]:
    """Discover the server in a session of its own; what the user has read."""
    async with session(
        {"web": server.config(**oauth)}, start=False, sign_in=server.seam()
    ) as opened:
        opened.manager.diagnostics.user_interacted()
        await opened.manager.start()
        if opened.manager.status("web") is McpServerStatus.CONNECTED:
            result = await opened.call("mcp_web_echo", {"text": "hi"})
            assert said_to_model(result) == "hi"
        return opened.said()


def _stored(tmp_path: Path) -> dict[str, Any] | None:
    entry = TokenFiles(tokens_path(tmp_path / "home"), feedback=_unheard).entry("web")
    return None if entry is None else dict(entry.values)


def _unheard(severity: str, text: str) -> None:
    raise AssertionError(text)


@on_virtual_time
async def test_a_server_that_wants_a_token_gets_one(session: OpenSession, tmp_path: Path) -> None:
    async with protected() as server:
        said = await _opened(session, server)
        [address] = server.browsed
        asked = query(address)
        [registered] = server.registered
        [form] = server.forms
        assert server.asked == [
            (
                "Authentication required for MCP Server: 'web.' "
                "Opening authentication page in your browser. "
            )
        ]
        assert said[0] == "info: MCP server 'web' requires authentication using: /mcp auth web"
        assert address in said[1]
        assert not any("error" in each for each in said)
        assert registered["redirect_uris"] == [asked["redirect_uri"]]
        assert registered["client_name"] == "Gemini CLI MCP Client"
        assert registered["token_endpoint_auth_method"] == "none"
        assert asked["code_challenge_method"] == "S256"
        assert asked["resource"] == form["resource"] == server.endpoint
        assert asked["redirect_uri"].startswith("http://localhost:")
        assert form["grant_type"] == "authorization_code"
        stored = _stored(tmp_path)
        assert stored is not None
        assert stored["token"]["accessToken"] == "access-1"
        assert stored["token"]["refreshToken"] == "refresh-1"
        assert stored["token"]["expiresAt"] >= VIRTUAL_EPOCH_MS + HOUR_MS
        assert stored["clientId"] == "client-1"
        assert stored["tokenUrl"] == f"{server.url}/token"
        assert stored["mcpServerUrl"] == server.endpoint


@on_virtual_time
async def test_a_second_session_needs_no_sign_in(session: OpenSession) -> None:
    async with protected() as server:
        await _opened(session, server)
        assert await _opened(session, server) == []
        assert len(server.browsed) == 1


@on_virtual_time
async def test_without_a_user_the_server_stays_unavailable(session: OpenSession) -> None:
    async with protected() as server, session({"web": server.config()}) as opened:
        assert opened.manager.status("web") is McpServerStatus.DISCONNECTED
        assert server.registered == []


@on_virtual_time
async def test_without_permission_of_the_settings_no_sign_in_begins(session: OpenSession) -> None:
    async with protected() as server:
        config = {"url": server.endpoint, "type": "http"}
        async with session({"web": config}, sign_in=server.seam()) as opened:
            assert opened.manager.status("web") is McpServerStatus.DISCONNECTED
        assert server.asked == []


@on_virtual_time
async def test_the_settings_name_client_scopes_and_audiences(
    session: OpenSession, tmp_path: Path
) -> None:
    async with protected() as server:
        server.metadata = lambda document: {
            **document,
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }
        await _opened(
            session,
            server,
            clientId="mine",
            clientSecret="s3cret",
            scopes=["read", "write"],
            audiences=["api"],
        )
        assert server.registered == []
        asked = query(server.browsed[0])
        assert (asked["client_id"], asked["scope"], asked["audience"]) == (
            "mine",
            "read write",
            "api",
        )
        assert server.forms[0]["audience"] == "api"
        assert server.headers[0]["authorization"].startswith("Basic ")
        assert "client_secret" not in server.forms[0]
        # The settings have the secret already.
        assert "clientSecret" not in (_stored(tmp_path) or {})


@on_virtual_time
async def test_configured_endpoints_need_no_discovery(session: OpenSession) -> None:
    async with protected() as server:
        server.resource = server.metadata = lambda document: {"nothing": "useful"}
        server.redirect = lambda answer: {**answer, "iss": "https://unknown.example"}
        said = await _opened(
            session,
            server,
            clientId="mine",
            authorizationUrl=f"{server.url}/authorize?tenant=1",
            tokenUrl=f"{server.url}/token",
        )
        assert not any("error" in each for each in said)
        assert server.visited[0]["tenant"] == "1"


def _refused(status: int, **answer: str) -> Callable[[Any], JSONResponse]:
    return lambda asked: JSONResponse(answer, status)


BAD: dict[str, tuple[Callable[[Protected], dict[str, Any]], str]] = {
    "the user declines": (lambda server: {"agrees": False}, "Authentication cancelled by user."),
    "access denied": (
        lambda server: {"redirect": lambda answer: {**answer, "error": "access_denied"}},
        "OAuth error: access_denied",
    ),
    "a foreign state": (
        lambda server: {"redirect": lambda answer: {**answer, "state": "other"}},
        "State mismatch - possible CSRF attack",
    ),
    "a foreign issuer in the redirect": (
        lambda server: {"redirect": lambda answer: {**answer, "iss": "https://evil.example"}},
        "Authorization response iss mismatch: https://evil.example != URL",
    ),
    "no issuer where one is promised": (
        lambda server: {
            "metadata": lambda document: {
                **document,
                "authorization_response_iss_parameter_supported": True,
            }
        },
        "Authorization response missing iss parameter advertised by the authorization server",
    ),
    "metadata of another issuer": (
        lambda server: {
            "metadata": lambda document: {**document, "issuer": "https://evil.example"}
        },
        "Authorization server metadata issuer mismatch: https://evil.example != URL",
    ),
    "metadata of another resource": (
        lambda server: {
            "resource": lambda document: {**document, "resource": "https://evil.example/mcp"}
        },
        "Protected resource https://evil.example/mcp does not match expected URL/mcp",
    ),
    "resource metadata on another host": (
        lambda server: {
            "challenge": 'Bearer resource_metadata="https://evil.example/.well-known/x"'
        },
        'OAuth endpoint origin "https://evil.example" does not match expected origin "URL".',
    ),
    "an authorization server without encryption": (
        lambda server: {
            "resource": lambda document: {
                **document,
                "authorization_servers": ["http://evil.example"],
            }
        },
        (
            'Insecure HTTP OAuth endpoint "http://evil.example/.well-known/oauth-authorization-server"'
            " is not allowed. OAuth endpoints must use HTTPS unless connecting to localhost."
        ),
    ),
    "a page for the browser on a private network": (
        lambda server: {
            "metadata": lambda document: {
                **document,
                "authorization_endpoint": "https://10.0.0.1/authorize",
            }
        },
        "points to private or reserved IP address which is blocked.",
    ),
    "no registration": (
        lambda server: {"register": _refused(403)},
        (
            "Client registration failed at URL: HTTP 403; "
            "set oauth.clientId to a client that the server knows"
        ),
    ),
    "a refused code": (
        lambda server: {"token": _refused(400, error="invalid_grant", error_description="used")},
        "Token exchange failed at URL: invalid_grant - used",
    ),
    "a token endpoint that repeats the code": (
        lambda server: {"token": lambda form: PlainTextResponse(f"bad {form['code']}", 400)},
        "Token exchange failed at URL: HTTP 400",
    ),
    "a token endpoint that redirects": (
        lambda server: {"token": lambda form: RedirectResponse("https://evil.example/", 307)},
        "Token exchange failed at URL: it redirects to another host",
    ),
    "a token endpoint without a token": (
        lambda server: {"token": lambda form: JSONResponse({"token_type": "Bearer"})},
        "Token exchange failed at URL: no access token in the answer",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_server_is_one_sentence(
    session: OpenSession, tmp_path: Path, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    @on_virtual_time
    async def run() -> None:
        async with protected() as server:
            changes, expected = BAD[what]
            for name, value in changes(server).items():
                setattr(server, name, value)
            said = await _opened(session, server)
            begin = "error: Failed to handle automatic OAuth for server 'web': "
            [problem] = [each for each in said if each.startswith(begin)]
            assert expected.replace("URL", server.url) in problem
            assert "\n" not in problem
            assert said[-1] == (
                "error: Error during discovery for MCP server 'web': "
                "Failed to handle automatic OAuth for server 'web'"
            )
            assert _stored(tmp_path) is None
            assert "code-1" not in "\n".join(said)

    run()
    ours = [
        each.getMessage() for each in caplog.records if each.name.startswith(("services", "mcp"))
    ]
    assert not any("code-1" in each or "access-1" in each for each in ours)


@on_virtual_time
async def test_a_rejected_token_is_refreshed_and_the_call_repeated(
    session: OpenSession, tmp_path: Path
) -> None:
    async with (
        protected() as server,
        session({"web": server.config()}, sign_in=server.seam()) as opened,
    ):
        server.accepted.discard("access-1")
        results = await _at_once(opened, 3)
        assert results == ["call 0", "call 1", "call 2"]
        refreshed = [form for form in server.forms if form["grant_type"] == "refresh_token"]
        # One refresh for all calls: a refresh token can be used once.
        assert [form["refresh_token"] for form in refreshed] == ["refresh-1"]
        assert (_stored(tmp_path) or {})["token"]["refreshToken"] == "refresh-2"


@on_virtual_time
async def test_a_refused_refresh_fails_the_call_and_forgets_the_token(
    session: OpenSession, tmp_path: Path
) -> None:
    async with (
        protected() as server,
        session({"web": server.config()}, sign_in=server.seam()) as opened,
    ):
        server.accepted.clear()
        server.token = _refused(400, error="invalid_grant")
        result = await opened.call("mcp_web_echo", {"text": "x"})
        assert result.error is not None
        assert "Error POSTing to endpoint (HTTP 401): no" in result.error.message
        assert opened.said()[-1] == "error: Failed to refresh auth token."
        assert _stored(tmp_path) is None


@on_virtual_time
async def test_a_secret_of_a_registration_is_kept_for_the_refresh(
    session: OpenSession, tmp_path: Path
) -> None:
    async with protected() as server:
        server.register = lambda asked: JSONResponse(
            {
                **asked,
                "client_id": "c",
                "client_secret": "registered",
                "token_endpoint_auth_method": "client_secret_basic",
            },
            201,
        )
        server.lifetime = 60
        await _opened(session, server)
        assert (_stored(tmp_path) or {})["clientSecret"] == "registered"
        await _opened(session, server)
        assert [form["grant_type"] for form in server.forms][:2] == [
            "authorization_code",
            "refresh_token",
        ]
        assert all(each["authorization"].startswith("Basic ") for each in server.headers)


@on_virtual_time
async def test_tokens_are_encrypted_and_the_plain_file_is_not_made(
    session: OpenSession, tmp_path: Path
) -> None:
    async with protected() as server:
        await _opened(session, server)
    folder = tmp_path / "home" / ".gemini"
    assert [each.name for each in folder.iterdir()] == ["gemini-credentials.json"]
    assert b"access-1" not in (folder / "gemini-credentials.json").read_bytes()


@on_virtual_time
async def test_a_confined_session_listens_to_no_browser(session: OpenSession) -> None:
    refusals: list[Any] = []
    async with protected() as server, session({}, sign_in=server.seam()) as opened:
        sign_in = opened.manager._context.sign_in
        assert sign_in is not None
        with confined(Confinement(refusals.append)), pytest.raises(Refused):
            await sign_in.run("web", server.endpoint, OAuthConfig())
        assert len(refusals) == 1


@on_virtual_time
async def test_a_cancelled_sign_in_stops_listening(session: OpenSession) -> None:
    opened_page = asyncio.Event()

    async def consent(server: str, prompt: str) -> bool:
        return True

    async with protected() as server:

        async def browse(address: str) -> None:
            server.browsed.append(address)
            opened_page.set()

        seam = SignInSeam(consent=consent, open_browser=browse)
        async with session({}, sign_in=seam) as opened:
            sign_in = opened.manager._context.sign_in
            assert sign_in is not None
            task = asyncio.get_running_loop().create_task(
                sign_in.run("web", server.endpoint, OAuthConfig())
            )
            await opened_page.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        back = query(server.browsed[0])["redirect_uri"]
        async with httpx2.AsyncClient(trust_env=False) as browser:
            with pytest.raises(httpx2.ConnectError):
                await browser.get(back)


async def _at_once(opened: Session, count: int) -> list[str]:
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(opened.call("mcp_web_echo", {"text": f"call {number}"}))
            for number in range(count)
        ]
    return [said_to_model(task.result()) for task in tasks]


def test_an_unreadable_plain_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tokens_path(tmp_path)
    path.parent.mkdir()
    path.write_text("[{")
    said: list[str] = []
    kept = TokenFiles(path, feedback=lambda severity, text: said.append(text))
    assert kept.entry("web") is None
    problem = kept.save(
        StoredEntry({"serverName": "web", "token": {"accessToken": "a"}}, sealed=False)
    )
    assert problem is not None
    assert "is no list of tokens" in problem
    assert path.read_text() == "[{"
    assert json.dumps(said).count("is no list of tokens") == 1


@on_virtual_time
async def test_the_surface_of_a_session_answers_the_question(session: OpenSession) -> None:
    asked: list[SignInQuestion] = []

    async def declines(question: SignInQuestion) -> bool:
        asked.append(question)
        return False

    async with protected() as server:
        interaction = Interaction(Handlers(sign_in=declines))
        async with session({"web": server.config()}, interaction=interaction) as opened:
            assert opened.manager.status("web") is McpServerStatus.DISCONNECTED
        [question] = asked
        assert (question.subject, question.name) == (SignInSubject.MCP_SERVER, "web")
        assert question.prompt.startswith("Authentication required for MCP Server: 'web.'")
