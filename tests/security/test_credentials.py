"""Keys, tokens and prompts go to the origin that the user configured, encrypted, and nowhere else.

Two servers on two ports of this machine are two origins: the first has what the user configured,
and points to the second in every way that the protocols know. The second must not hear of it.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.auth import exceptions

import tests.services.mcp.conftest as mcp
import tests.services.subagents.remote.conftest as a2a
from services.abort import AbortController
from services.confinement import Confinement, Refusal, confined
from services.mcp.config import McpServerConfig
from services.mcp.states import McpServerStatus
from services.model.errors import NetworkError
from services.net.collector import collector_session
from services.net.google import GoogleRequest
from services.subagents.remote.errors import RemoteAgentError
from services.tools import web_client
from services.tools.web_client import HttpPages
from tests.security.asking import JSON, KEY, PROMPT, card, mcp_server, model, streamed
from tests.security.loopback import Answer, Asked, serving

ROOT = Path(__file__).parents[2]
MAIN = "from harness.cli import main; main()"

mcp_session = mcp.session
a2a_session = a2a.opened


def redirect(target: str, status: int = 307) -> Answer:
    return Answer(status=status, headers={"location": target})


# --- the model ---


async def ask_model(url: str) -> None:
    async with model(url) as generator:
        await streamed(generator)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_of_the_model_to_another_origin_is_refused(status: int) -> None:
    async with serving(lambda _: Answer(b"{}", headers=JSON)) as thief:
        there = f"{thief.url}/private/path?token=1"
        async with serving(lambda _: redirect(there, status)) as server:
            with pytest.raises(NetworkError) as raised:
                await ask_model(server.url)
    assert thief.asked == []
    assert server.seen(KEY)
    assert server.seen(PROMPT)
    assert f"redirects to another origin, {thief.url}, and" in raised.value.message
    assert "private" not in raised.value.message
    assert "token=" not in raised.value.message


@pytest.mark.parametrize(
    "spelled",
    ["//{host}/x", "https://{own}/x", "http://{own}@{host}/", "http://localhost:{port}/", "ws://h"],
)
async def test_no_spelling_of_a_redirect_leads_the_model_elsewhere(spelled: str) -> None:
    async with serving(lambda _: Answer(b"{}", headers=JSON)) as thief:

        def answer(asked: Asked) -> Answer:
            own, host = asked.headers["host"], thief.url.removeprefix("http://")
            port = own.partition(":")[2]
            return redirect(spelled.format(own=own, host=host, port=port))

        async with serving(answer) as server:
            with pytest.raises(NetworkError, match="redirects to another origin"):
                await ask_model(server.url)
            assert len(server.asked) == 1
    assert thief.asked == []


async def test_a_redirect_of_the_model_on_its_own_origin_is_followed() -> None:
    said = {"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}}]}
    events = Answer(
        f"data: {json.dumps(said)}\n\n".encode(), headers={"content-type": "text/event-stream"}
    )

    def answer(asked: Asked) -> Answer:
        return events if asked.path == "/moved" else redirect("/moved")

    async with serving(answer) as server:
        await ask_model(server.url)
    first, second = server.asked
    assert first.headers["x-goog-api-key"] == second.headers["x-goog-api-key"] == KEY
    assert first.body == second.body


@pytest.mark.parametrize("url", ["http://gateway.example", "http://127.0.0.1.evil.example:8080"])
async def test_a_key_is_not_sent_without_encryption(url: str) -> None:
    with pytest.raises(NetworkError, match=r"is not encrypted.*over HTTPS only; use its https://"):
        await ask_model(url)


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
@pytest.mark.sampled(2)
async def test_a_run_of_either_runtime_keeps_its_key_and_prompt(
    runtime: str, tmp_path: Path
) -> None:
    async with (
        serving(lambda _: Answer(b"{}", headers=JSON)) as thief,
        serving(lambda _: redirect(thief.url)) as server,
    ):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", MAIN, "agent", "-p", PROMPT, "--runtime", runtime),
            cwd=tmp_path,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "PYTHONPATH": str(ROOT),
                "GEMINI_API_KEY": KEY,
                "GOOGLE_GEMINI_BASE_URL": server.url,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        output, _ = await process.communicate()
    assert server.seen(PROMPT)
    assert thief.asked == []
    assert process.returncode == 1
    text = output.decode()
    assert f"redirects to another origin, {thief.url}" in text
    assert "Traceback" not in text


# --- remote agents ---

AUTHS: dict[str, dict[str, Any]] = {
    "key": {"type": "apiKey", "key": KEY},
    "bearer": {"type": "http", "scheme": "Bearer", "token": KEY},
    "basic": {"type": "http", "scheme": "Basic", "username": "ada", "password": KEY},
    "other": {"type": "http", "scheme": "Digest", "value": KEY},
}


def current(url: str) -> dict[str, Any]:
    way = {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    return {"name": "a", "description": "", "version": "1", "supportedInterfaces": [way]}


@pytest.mark.parametrize("spelled", [card, current])
@pytest.mark.parametrize("auth", AUTHS)
async def test_credentials_do_not_follow_a_card_to_another_origin(
    a2a_session: Any, auth: str, spelled: Callable[[str], dict[str, Any]]
) -> None:
    async with serving(lambda _: Answer(b"{}", headers=JSON)) as thief:
        body = json.dumps(spelled(f"{thief.url}/rpc?q=1")).encode()
        async with (
            serving(lambda _: Answer(body, headers=JSON)) as server,
            a2a_session() as session,
        ):
            definition = a2a.agent(card_url=f"{server.url}/card", auth=AUTHS[auth])
            with pytest.raises(RemoteAgentError) as raised:
                await session.agents.load(definition)
            result = await session.call(definition, PROMPT)
    assert thief.asked == []
    assert not server.seen(KEY)
    said = (
        f"The card of remote agent 'far' sends requests to {thief.url}, and its credentials are "
        f"for {server.url} only; if {thief.url} is right, name it in the definition: as the host "
        "of agent_card_url, or as url in agent_card_json"
    )
    assert str(raised.value) == said
    assert said in a2a.text_of(result)


async def test_without_credentials_a_card_may_name_another_origin(a2a_session: Any) -> None:
    async with serving(lambda _: Answer(b"{}", headers=JSON)) as other:
        body = json.dumps(card(f"{other.url}/rpc")).encode()
        async with (
            serving(lambda _: Answer(body, headers=JSON)) as server,
            a2a_session() as session,
        ):
            await session.call(a2a.agent(card_url=f"{server.url}/card"), PROMPT)
    assert other.seen(PROMPT)


async def test_credentials_go_to_the_configured_origin(a2a_session: Any) -> None:
    async with serving(lambda _: Answer(b"{}", headers=JSON)) as server, a2a_session() as session:
        for number, spelled in enumerate((card, current)):
            inline = json.dumps(spelled(f"{server.url}/rpc"))
            definition = a2a.agent(f"far{number}", card_json=inline, auth=AUTHS["key"])
            await session.call(definition, PROMPT)
    assert [asked.headers["x-api-key"] for asked in server.asked] == [KEY, KEY]


async def test_an_inline_card_sends_its_credentials_to_its_own_url_only(a2a_session: Any) -> None:
    async with serving(lambda _: Answer(b"{}", headers=JSON)) as other:
        way = {"url": f"{other.url}/rpc", "transport": "JSONRPC"}
        inline = card(
            "https://shop.example/a", preferredTransport="GRPC", additionalInterfaces=[way]
        )
        for auth in (AUTHS["key"], {"type": "google-credentials"}):
            if auth["type"] == "google-credentials":
                inline["url"] = "https://shop.run.app/a"
            async with a2a_session() as session:
                definition = a2a.agent(card_json=json.dumps(inline), auth=auth)
                with pytest.raises(RemoteAgentError, match="its credentials are for https://shop"):
                    await session.agents.load(definition)
    assert other.asked == []


@pytest.mark.parametrize("place", ["card_url", "card_json"])
async def test_credentials_of_an_agent_want_encryption_and_run_no_command_without(
    a2a_session: Any, tmp_path: Path, place: str
) -> None:
    url = "http://shop.example/card"
    auth = {"type": "apiKey", "key": f"!touch {tmp_path}/ran"}
    given = {"card_url": url} if place == "card_url" else {"card_json": json.dumps(card(url))}
    async with a2a_session() as session:
        with pytest.raises(RemoteAgentError, match=r"http://shop\.example is not encrypted: give"):
            await session.agents.load(a2a.agent(auth=auth, **given))
    assert not (tmp_path / "ran").exists()


async def test_a_redirect_of_a_remote_agent_takes_nothing_along(a2a_session: Any) -> None:
    async with (
        serving(lambda _: Answer(b"{}", headers=JSON)) as thief,
        serving(lambda _: redirect(thief.url)) as server,
        a2a_session() as session,
    ):
        inline = json.dumps(card(f"{server.url}/rpc"))
        result = await session.call(a2a.agent(card_json=inline, auth=AUTHS["key"]), PROMPT)
    assert "HTTP error" in a2a.text_of(result)
    assert server.seen(KEY)
    assert thief.asked == []


# --- MCP ---


def mcp_config(url: str) -> dict[str, Any]:
    return {"httpUrl": url, "headers": {"X-API-Key": KEY, "Authorization": KEY}}


answering_mcp = mcp_server(lambda _: Answer(status=404))


def store_token(tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".gemini"
    folder.mkdir(parents=True)
    token = {"serverName": "web", "token": {"accessToken": KEY, "tokenType": "Bearer"}}
    (folder / "mcp-oauth-tokens.json").write_text(json.dumps([token]))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("kind", ["headers", "token"])
def test_a_redirect_of_an_mcp_server_takes_nothing_along(
    mcp_session: mcp.OpenSession, tmp_path: Path, kind: str, status: int
) -> None:
    @mcp.on_virtual_time
    async def run() -> None:
        async with (
            serving(answering_mcp) as thief,
            serving(lambda _: redirect(f"{thief.url}/mcp", status)) as server,
        ):
            url = f"{server.url}/mcp"
            config = mcp_config(url) if kind == "headers" else {"httpUrl": url}
            if kind == "token":
                store_token(tmp_path)
            async with mcp_session({"web": config}) as opened:
                assert opened.manager.status("web") is McpServerStatus.DISCONNECTED
        assert server.seen(KEY)
        assert thief.asked == []

    run()


def test_a_redirect_of_an_mcp_server_on_its_own_origin_is_followed(
    mcp_session: mcp.OpenSession,
) -> None:
    def answer(asked: Asked) -> Answer:
        return answering_mcp(asked) if asked.path == "/mcp/" else redirect("/mcp/")

    @mcp.on_virtual_time
    async def run() -> None:
        async with (
            serving(answer) as server,
            mcp_session({"web": mcp_config(f"{server.url}/mcp")}) as opened,
        ):
            assert opened.manager.status("web") is McpServerStatus.CONNECTED

    run()


@pytest.mark.parametrize("place", ["{thief}/post", "//{host}/post", "http://u@{host}/post"])
def test_an_endpoint_event_of_an_mcp_server_names_no_other_origin(
    mcp_session: mcp.OpenSession, place: str
) -> None:
    @mcp.on_virtual_time
    async def run() -> None:
        async with serving(answering_mcp) as thief:
            host = thief.url.removeprefix("http://")
            event = f"event: endpoint\ndata: {place.format(thief=thief.url, host=host)}\n\n"
            answer = Answer(event.encode(), headers={"content-type": "text/event-stream"})
            async with serving(lambda _: answer) as server:
                config: dict[str, Any] = {
                    "url": f"{server.url}/sse",
                    "type": "sse",
                    "headers": {"X-Key": KEY},
                }
                # The library does not end such a connection itself.
                config["timeout"] = 300
                async with mcp_session({"web": config}) as opened:
                    assert opened.manager.status("web") is McpServerStatus.DISCONNECTED
        assert server.seen(KEY)
        assert thief.asked == []

    run()


@pytest.mark.parametrize("kind", ["headers", "token", "sse"])
def test_credentials_of_an_mcp_server_want_encryption(
    mcp_session: mcp.OpenSession, tmp_path: Path, kind: str
) -> None:
    @mcp.on_virtual_time
    async def run() -> None:
        url = "http://mcp.example/mcp"
        config: dict[str, Any] = {"http_url": url, "headers": {"X-Key": KEY}}
        if kind == "sse":
            config = {"url": url, "type": "sse", "headers": {"X-Key": KEY}}
        if kind == "token":
            config = {"http_url": url}
            store_token(tmp_path)
        attempts: list[Refusal] = []
        async with mcp_session({}) as opened:
            opened.manager.diagnostics.user_interacted()
            with confined(Confinement(on_refusal=attempts.append)):
                await opened.manager.discover("web", McpServerConfig(**config))
            said = " ".join(opened.said())
            assert "http://mcp.example is not encrypted" in said
            assert "use its https:// address" in said
        assert attempts == []

    run()


# --- web pages ---


@pytest.fixture
def open_web(monkeypatch: pytest.MonkeyPatch) -> HttpPages:
    """Web pages, where this machine counts as public."""
    monkeypatch.setattr(web_client, "is_private_address", lambda _: False)
    monkeypatch.setattr(web_client, "is_internal_name", lambda _: False)
    return HttpPages()


async def test_a_page_is_asked_for_without_credentials(
    open_web: HttpPages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text(f"machine 127.0.0.1 login ada password {KEY}\n")
    netrc.chmod(0o600)
    for name, value in {"HOME": str(tmp_path), "NETRC": str(netrc), "GEMINI_API_KEY": KEY}.items():
        monkeypatch.setenv(name, value)
    async with serving(lambda _: Answer(b"there")) as other:
        cookie = {"set-cookie": f"session={KEY}; Path=/", "location": f"{other.url}/"}
        async with serving(lambda _: Answer(status=302, headers=cookie)) as server:
            page = await open_web.get(server.url, {"User-Agent": "t"}, AbortController().signal)
    assert page.text == "there"
    for asked in (*server.asked, *other.asked):
        assert set(asked.headers) == {
            "host",
            "accept",
            "accept-encoding",
            "connection",
            "user-agent",
        }


# --- Google's accounts, telemetry ---


async def test_an_assertion_for_google_is_not_sent_without_encryption() -> None:
    with pytest.raises(exceptions.TransportError, match="is not encrypted"):
        GoogleRequest()("http://tokens.example/token", "POST", body=b"assertion=x")


async def test_a_redirect_of_a_token_server_takes_nothing_along() -> None:
    async with (
        serving(lambda _: Answer(b"{}")) as thief,
        serving(lambda _: redirect(thief.url)) as server,
    ):
        answer = await asyncio.to_thread(
            GoogleRequest(), f"{server.url}/token", "POST", body=KEY.encode()
        )
    assert answer.status == 307
    assert server.seen(KEY)
    assert thief.asked == []


async def test_what_is_measured_does_not_follow_a_redirect_of_the_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text(f"machine 127.0.0.1 login ada password {KEY}\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    async with (
        serving(lambda _: Answer(b"{}")) as thief,
        serving(lambda _: redirect(thief.url)) as server,
    ):
        answer = await asyncio.to_thread(
            collector_session().post, f"{server.url}/v1/traces", data=b"spans", timeout=5
        )
    assert answer.status_code == 307
    assert [asked.body for asked in server.asked] == [b"spans"]
    assert "authorization" not in server.asked[0].headers
    assert thief.asked == []
