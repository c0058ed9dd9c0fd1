"""Extensions in the terminal: what an installed one brings, and what commands do with them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from services.bundle import Services
from services.extensions.origins import ORIGIN_FILE
from tests.surfaces.terminal.conftest import Open, Terminal, says

SERVER = Path(__file__).parents[3] / "cassettes" / "mcp_server.py"
HOOK = """\
{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "name": "greet",
  "command": "printf '{\\"systemMessage\\": \\"hello from %s\\"}' $DEMO_KEY"}]}]}}
"""


def write(folder: Path, version: str = "1.0.0", **more: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {"name": "demo", "version": version, **more}
    (folder / "gemini-extension.json").write_text(json.dumps(manifest))
    return folder


def fill(folder: Path) -> Path:
    """An extension with everything that one may bring."""
    write(
        folder,
        contextFileName="CONTEXT.md",
        excludeTools=["google_web_search"],
        mcpServers={"poet": {"command": sys.executable, "args": [str(SERVER)]}},
        settings=[{"name": "Key", "description": "The key", "envVar": "DEMO_KEY"}],
    )
    for name, text in {
        "CONTEXT.md": "Be very brief.",
        "commands/hello.toml": 'prompt = "say hello"\ndescription = "Says hello"\n',
        "commands/help.toml": 'prompt = "help me"\ndescription = "Helps"\n',
        "skills/tidy/SKILL.md": "---\nname: tidy\ndescription: Tidies.\n---\nDo.",
        "agents/scout.md": "---\nname: scout\ndescription: Looks around.\n---\nLook.",
        "hooks/hooks.json": HOOK,
        "policies/p.toml": '[[rule]]\ntoolName = "glob"\ndecision = "deny"\npriority = 50\n',
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def installed(folders: Path, source: Path | None = None, **record: Any) -> Path:
    """The extension in the user's home."""
    place = fill(folders / "home/.gemini/extensions/demo")
    if source is not None:
        record = {"source": str(source), "type": "local", **record}
        (place / ORIGIN_FILE).write_text(json.dumps(record))
    (place / ".env").write_text("DEMO_KEY=demo\n")
    return place


def services(screen: Terminal) -> Services:
    return screen.session.services


async def has_server(screen: Terminal, *, there: bool) -> None:
    for _ in range(400):
        manager = services(screen).servers.manager
        if manager is not None and ("poet" in manager.names) is there:
            return
        await screen.pilot.pause(0.02)
    raise AssertionError(f"poet is {'missing' if there else 'still there'}")


async def test_everything_of_an_installed_extension_is_in_the_session(
    terminal: Open, folders: Path
) -> None:
    installed(folders)

    async with terminal(says("hello to you")) as screen:
        await screen.shows("hello from demo")
        await screen.opened()
        await has_server(screen, there=True)
        found = services(screen)

        assert "Be very brief." in found.memory.of_extensions
        tools = {tool.name for tool in found.tools.active()}
        assert not tools & {"google_web_search", "glob"}  # It excludes one, and forbids one.
        assert found.skills.get("tidy") is not None
        assert "scout" in found.subagents.registry.names()
        await screen.say("/hello")
        await screen.shows("✦ hello to you")
        assert "say hello" in screen.sent
        await screen.type("/demo:he")
        await screen.shows("● demo:help")
        await screen.pilot.press("ctrl+c")
        await screen.say("/hooks")
        await screen.shows("greet [enabled]")
        await screen.pilot.press("escape")
        await screen.say("/mcp list")
        await screen.shows("poet (from demo) - Ready")


async def test_a_disabled_extension_takes_everything_away_and_comes_back(
    terminal: Open, folders: Path
) -> None:
    installed(folders)

    async with terminal() as screen:
        await screen.opened()
        await has_server(screen, there=True)
        await screen.say("/extensions disable demo --scope session")
        await screen.shows('Extension "demo" disabled for the scope "Session"')
        found = services(screen)

        assert found.memory.of_extensions == ""
        assert "google_web_search" in {tool.name for tool in found.tools.active()}
        assert found.skills.get("tidy") is None
        assert "scout" not in found.subagents.registry.names()
        await has_server(screen, there=False)
        await screen.say("/hello")
        await screen.shows("Unknown command: /hello")
        await screen.say("/extensions enable demo --scope=session")
        await screen.shows('Extension "demo" enabled for the scope "Session"')
        assert "scout" in found.subagents.registry.names()
        await has_server(screen, there=True)


async def test_an_extension_is_installed_configured_and_removed(
    terminal: Open, folders: Path
) -> None:
    source = fill(folders / "source")

    async with terminal() as screen:
        await screen.say(f"/extensions install {source}")
        text = await screen.shows("Do you want to continue?")
        assert 'Installing extension "demo".' in text
        await screen.pilot.press("enter")
        await screen.shows('Extension "demo" installed successfully.')
        assert "has missing settings: Key" in screen.text
        await has_server(screen, there=True)
        await screen.say("/extensions config demo")
        await screen.shows("Enter value for Key")
        await screen.type("mine")
        await screen.pilot.press("enter")
        await screen.hides("Configure Key")
        await screen.say("/extensions list")
        await screen.shows("- Key: mine (User - ")
        await screen.say("/extensions reload demo")
        await screen.shows("1 extension reloaded successfully")
        await screen.say("/extensions uninstall demo")
        await screen.shows('Extension "demo" uninstalled successfully.')
        await has_server(screen, there=False)

    assert not (folders / "home/.gemini/extensions/demo").exists()


async def test_a_user_who_says_no_installs_nothing(terminal: Open, folders: Path) -> None:
    async with terminal() as screen:
        await screen.say(f"/extensions link {fill(folders / 'source')}")
        await screen.shows("Do you want to continue?")
        await screen.pilot.press("escape")
        text = await screen.shows("✕ Failed to link extension")

    assert 'Installation cancelled for "demo"' in " ".join(text.split())


async def test_a_new_version_is_announced_and_installed(terminal: Open, folders: Path) -> None:
    source = write(folders / "source", version="1.1.0", excludeTools=["glob"])
    installed(folders, source)

    async with terminal() as screen:
        await screen.shows("You have 1 extension with an update available.")
        await screen.say("/extensions list")
        await screen.shows("demo (v1.0.0) - active (update available)")
        await screen.say("/extensions update demo")
        await screen.shows("exclude the following core tools: glob")
        await screen.pilot.press("enter")
        await screen.shows('Extension "demo" successfully updated: 1.0.0 → 1.1.0.')
        await screen.shows("demo (v1.1.0) - active (updated)")
        assert "glob" not in {tool.name for tool in services(screen).tools.active()}


async def test_an_extension_updates_itself_where_the_user_wants_it(
    terminal: Open, folders: Path
) -> None:
    source = fill(folders / "source")
    write(source, version="1.1.0")
    installed(folders, source, autoUpdate=True)

    async with terminal() as screen:
        await screen.shows("Do you want to continue?")
        await screen.pilot.press("enter")
        await screen.shows('Extension "demo" successfully updated: 1.0.0 → 1.1.0.')


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("install", "Usage: /extensions install <source>"),
        ("install a;b", "Invalid source: a;b"),
        ("install ../nowhere", "Install source not found."),
        ("link", "Usage: /extensions link <source>"),
        ("link ../nowhere", "Invalid source: ../nowhere"),
        ("uninstall", "Usage: /extensions uninstall <extension-names...>|--all"),
        ("uninstall --all", "No extensions installed."),
        ("uninstall nope", 'Failed to uninstall extension "nope": Extension not found.'),
        ("enable nope --scope=user", "Extension with name nope does not exist."),
        ("disable nope --scope=moon", "Unsupported scope moon"),
        ("config nope", 'Extension "nope" is not installed.'),
        ("config ../x", "Names cannot contain path separators"),
        ("config", "No extensions installed."),
        ("update --all", "No extensions installed."),
        ("reload --all", "No extensions installed."),
    ],
)
async def test_what_cannot_be_done_is_said(terminal: Open, typed: str, said: str) -> None:
    async with terminal() as screen:
        await screen.say(f"/extensions {typed}")
        await screen.shows(said)
