"""The user signs in, in a browser that is a function or with a typed code."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from services.clock import SystemClock
from services.model.errors import FatalAuthenticationError
from services.sign_in.login import Login, LoginSeam
from services.sign_in.opening import token_server
from services.sign_in.store import AccountStore
from tests.services.sign_in.stand_ins import ACCESS, CLIENT, REFRESH, Google, google


async def browse(address: str) -> None:
    """Follow the redirect, as a browser would."""
    async with httpx.AsyncClient(follow_redirects=True, trust_env=False) as browser:
        await browser.get(address)


def login_at(
    server: Google,
    home: Path,
    browser: Callable[[str], Awaitable[None]] = browse,
    shown: list[str] | None = None,
    **more: str,
) -> Login:
    clock = SystemClock()
    variables = {**server.variables, **more}
    show = (shown if shown is not None else []).append
    seam = LoginSeam(show=show, open_browser=browser)
    store = AccountStore(home, clock, show)
    return Login(token_server(variables, clock), store, clock, seam, variables)


def stored(home: Path) -> str | None:
    found = AccountStore(home, SystemClock(), lambda _: None).read()
    return None if found is None else found.tokens.access


async def test_the_browser_brings_the_code_back(tmp_path: Path) -> None:
    shown: list[str] = []
    async with google() as server:
        await login_at(server, tmp_path, shown=shown).in_browser()
        query = dict(parse_qsl(urlsplit(server.asked("/auth")[0].path).query))
    assert stored(tmp_path) == f"{ACCESS}-1"
    assert query["code_challenge_method"] == "S256"
    assert query["redirect_uri"].startswith("http://127.0.0.1:")
    assert (query["client_id"], query["access_type"]) == (CLIENT, "offline")
    assert not any(secret in "".join(shown) for secret in (ACCESS, REFRESH, "client-secret"))


async def test_each_sign_in_has_its_own_state_and_verifier(tmp_path: Path) -> None:
    async with google() as server:
        for _ in range(2):
            await login_at(server, tmp_path).in_browser()
        one, other = (dict(parse_qsl(urlsplit(a.path).query)) for a in server.asked("/auth"))
    assert one["state"] != other["state"]
    assert one["code_challenge"] != other["code_challenge"]


@pytest.mark.parametrize(
    ("back", "sentence"),
    [
        ({"state": "forged"}, "State mismatch - possible CSRF attack"),
        ({"error": "access_denied"}, "OAuth error: access_denied"),
        ({"code": "code-of-another"}, "The Google sign-in has expired or was revoked"),
    ],
)
async def test_a_redirect_that_is_no_answer_stores_nothing(
    tmp_path: Path, back: dict[str, str], sentence: str
) -> None:
    async with google() as server:
        server.redirect = lambda given: {**given, **back}
        with pytest.raises(FatalAuthenticationError, match=f"^{sentence}"):
            await login_at(server, tmp_path).in_browser()
    assert stored(tmp_path) is None


async def test_a_browser_that_does_not_start_leaves_the_address(tmp_path: Path) -> None:
    shown: list[str] = []

    async def broken(address: str) -> None:
        await browse(address)
        raise FileNotFoundError("xdg-open")

    async with google() as server:
        await login_at(server, tmp_path, broken, shown).in_browser()
    assert any("Failed to open browser with error: xdg-open" in each for each in shown)
    assert stored(tmp_path) == f"{ACCESS}-1"


async def test_an_interrupt_closes_the_listener(tmp_path: Path) -> None:
    opened: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def wait(address: str) -> None:
        opened.set_result(dict(parse_qsl(urlsplit(address).query))["redirect_uri"])

    async with google() as server:
        task = asyncio.create_task(login_at(server, tmp_path, wait).in_browser())
        port = urlsplit(await opened).port
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert port is not None
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    async with google() as server:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            with pytest.raises(FatalAuthenticationError, match="another port in OAUTH_CALLBACK"):
                await login_at(server, tmp_path, OAUTH_CALLBACK_PORT=port).in_browser()
        with pytest.raises(FatalAuthenticationError, match='OAUTH_CALLBACK_PORT: "70000"'):
            await login_at(server, tmp_path, OAUTH_CALLBACK_PORT="70000").in_browser()


async def test_a_sign_in_needs_a_client(tmp_path: Path) -> None:
    async with google() as server:
        login = login_at(server, tmp_path, PARITY_OAUTH_CLIENT_ID="")
        with pytest.raises(FatalAuthenticationError, match="set PARITY_OAUTH_CLIENT_ID"):
            await login.in_browser()
    assert server.server.asked == []


async def test_the_user_types_the_code(tmp_path: Path) -> None:
    async with google() as server:
        login = login_at(server, tmp_path)
        begun = login.typed_code()
        query = dict(parse_qsl(urlsplit(begun.address).query))
        assert query["redirect_uri"] == "https://codeassist.google.com/authcode"
        server.challenges["typed"] = query["code_challenge"]
        await login.finish(begun, " typed\n")
        assert stored(tmp_path) == f"{ACCESS}-1"
        with pytest.raises(FatalAuthenticationError, match="expired or was revoked"):
            await login.finish(begun, "typed")
        with pytest.raises(FatalAuthenticationError, match=r"^Authorization code is required"):
            await login.finish(begun, " \n")
