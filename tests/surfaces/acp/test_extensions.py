"""Extensions over ACP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.acp.conftest import Connect, Peer, chooses
from tests.surfaces.headless.conftest import says

PERMISSION = "session/request_permission"


def write(folders: Path, version: str = "1.0.0") -> str:
    source = folders / "source"
    source.mkdir(exist_ok=True)
    manifest = {
        "name": "demo",
        "version": version,
        "mcpServers": {"s": {"command": "run", "env": {"KEY": "s3cret"}}},
    }
    (source / "gemini-extension.json").write_text(json.dumps(manifest))
    return str(source)


async def said(peer: Peer, session: str, text: str) -> str:
    before = len(peer.texts())
    await peer.prompt(session, text)
    return "".join(peer.texts()[before:])


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
async def test_an_extension_is_managed_by_the_client(
    connect: Connect, folders: Path, runtime: str
) -> None:
    source = write(folders)

    async with connect(says("never"), runtime=runtime) as peer:
        session = await peer.open(folders / "ws")
        assert await said(peer, session, "/extensions list") == "No extensions installed."
        peer.answers[PERMISSION] = chooses("cancel")
        refused = await said(peer, session, f"/extensions install {source}")
        assert 'Installation cancelled for "demo"' in refused
        peer.answers[PERMISSION] = chooses("proceed_once")
        assert await said(peer, session, f"/extensions install {source}") == (
            'Extension "demo" installed successfully.'
        )
        (asked, _) = [each for each in peer.received if each.get("method") == PERMISSION]
        assert asked["params"]["toolCall"]["title"] == 'Installing extension "demo".'
        listed = await said(peer, session, "/extensions")
        (found,) = json.loads(listed)
        assert (found["name"], found["version"], found["isActive"]) == ("demo", "1.0.0", True)
        assert found["mcpServers"] == {"s": {"command": "run"}}
        assert "s3cret" not in listed
        off = await said(peer, session, "/extensions disable demo --scope=session")
        assert off == 'Extension "demo" disabled for scope "Session".'
        on = await said(peer, session, "/extensions enable --all")
        assert on == 'Extension "demo" enabled for scope "User".'
        assert await said(peer, session, "/extensions restart demo") == 'Restarted "demo".'
        write(folders, "1.1.0")
        assert await said(peer, session, "/extensions update --all") == (
            'Extension "demo" successfully updated: 1.0.0 \u2192 1.1.0.'
        )
        assert await said(peer, session, "/extensions uninstall demo") == (
            'Extension "demo" uninstalled successfully.'
        )
        assert await said(peer, session, f"/extensions link {source}") == (
            'Extension "demo" linked successfully.'
        )


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("enable", "Usage: /extensions enable <extension> [--scope=<user|workspace|session>]"),
        ("enable nope", 'Failed to enable "nope": Extension with name nope does not exist.'),
        ("enable --all", "No action taken."),
        ("disable --scope=user", "No extension name provided."),
        ("install", "Usage: /extensions install <source>"),
        ("install a;b", "Invalid source: contains disallowed characters."),
        (
            "install nowhere",
            'Failed to install extension from "nowhere": Install source not found.',
        ),
        ("link", "Usage: /extensions link <source>"),
        ("link nowhere", "Invalid source: nowhere"),
        ("uninstall", "Usage: /extensions uninstall <extension-names...>|--all"),
        ("uninstall --all", "No extensions installed."),
        ("uninstall nope", 'Failed to uninstall extension "nope": Extension not found.'),
        ("restart", "Usage: /extensions restart <extension-names>|--all"),
        ("restart nope", "No active extensions matched the request."),
        ("update", "Usage: /extensions update <extension-names>|--all"),
        ("update nope", "No extensions to update."),
        ("explore", "View or install available extensions at https://geminicli.com/extensions/"),
    ],
)
async def test_what_cannot_be_done_is_said(
    connect: Connect, folders: Path, typed: str, answer: str
) -> None:
    async with connect(says("never")) as peer:
        session = await peer.open(folders / "ws")
        assert await said(peer, session, f"/extensions {typed}") == answer


async def test_a_client_that_cannot_ask_installs_nothing(connect: Connect, folders: Path) -> None:
    def fails(_: Any) -> Any:
        return {"error": {"code": -32601, "message": "no"}}

    async with connect(says("never")) as peer:
        peer.answers[PERMISSION] = fails
        session = await peer.open(folders / "ws")
        answer = await said(peer, session, f"/extensions install {write(folders)}")

    assert "The client could not ask for the permission" in answer
    assert not (folders / "home/.gemini/extensions/demo").exists()
