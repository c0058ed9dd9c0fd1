"""An editor signs its user in to a Google account."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.clock import VirtualClock
from services.sign_in.api_key import ApiKeyStore
from tests.services.sign_in.stand_ins import ACCESS, CLIENT_SECRET, REFRESH, SAID, Google, google
from tests.surfaces.acp.conftest import Connect
from tests.surfaces.headless.conftest import says
from tests.surfaces.headless.test_server_sign_in import BROWSER


@pytest.fixture
async def server(folders: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Google]:
    """The stand-ins, an environment that names them, and a browser that is a program."""
    opener = folders / "bin" / "xdg-open"
    opener.parent.mkdir()
    opener.write_text(BROWSER.format(python=sys.executable))
    opener.chmod(0o755)
    monkeypatch.setenv("PATH", str(opener.parent), prepend=":")
    monkeypatch.setenv("DISPLAY", ":0")
    for name in ("CI", "NO_BROWSER", "BROWSER", "DEBIAN_FRONTEND", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    async with google() as found:
        for name, value in found.variables.items():
            monkeypatch.setenv(name, value)
        yield found


async def test_the_user_signs_in_and_asks(
    connect: Connect, folders: Path, server: Google, runtime: str
) -> None:
    async with connect(live=True, runtime=runtime) as peer:
        answer = await peer.call("authenticate", methodId="oauth-personal")
        assert answer["result"] == {}
        session = await peer.open(folders / "ws")
        assert (await peer.prompt(session, "hi"))["result"]["stopReason"] == "end_turn"
        assert "".join(peer.texts()) == SAID
        assert len(server.asked("/auth")) == 1
        said = str(peer.received)
    assert not any(secret in said for secret in (ACCESS, REFRESH, CLIENT_SECRET))


async def test_an_account_of_before_needs_no_browser(
    connect: Connect, folders: Path, server: Google
) -> None:
    server.store(folders / "home")
    async with connect(live=True) as peer:
        assert (await peer.call("authenticate", methodId="oauth-personal"))["result"] == {}
    assert not server.asked("/auth")


async def test_a_cloud_machine_signs_in_without_a_browser(
    connect: Connect, folders: Path, server: Google
) -> None:
    async with connect(live=True) as peer:
        answer = await peer.call("authenticate", methodId="compute-default-credentials")
        assert answer["result"] == {}
        await peer.prompt(await peer.open(folders / "ws"), "hi")
        assert "".join(peer.texts()) == SAID
    assert not server.asked("/auth")


async def test_a_sign_in_that_fails_is_one_sentence(
    connect: Connect, folders: Path, server: Google, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.redirect = lambda given: {**given, "error": "access_denied"}
    async with connect(live=True) as peer:
        answer = await peer.call("authenticate", methodId="oauth-personal")
        assert answer["error"]["message"] == "OAuth error: access_denied"
        monkeypatch.setenv("NO_BROWSER", "true")
        answer = await peer.call("authenticate", methodId="oauth-personal")
        assert answer["error"]["message"].startswith("Manual authorization is required")
        # What the client chose before stays: no key, as at the start.
        opened = await peer.call("session/new", cwd=str(folders / "ws"), mcpServers=[])
    assert opened["error"]["message"] == "Gemini API key is missing or not configured."


async def test_the_key_that_the_terminal_has_stored_counts(
    connect: Connect, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    async with connect(says("hello")) as peer:
        refused = await peer.call("session/new", cwd=str(folders / "ws"), mcpServers=[])
        assert refused["error"]["message"] == "Gemini API key is missing or not configured."
        ApiKeyStore(folders / "home").save("a-key", VirtualClock())
        session = await peer.open(folders / "ws")
        assert (await peer.prompt(session, "hi"))["result"]["stopReason"] == "end_turn"
