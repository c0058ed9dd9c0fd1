"""`/mcp`, and the prompts of servers as commands, with a server of the cassettes."""

from __future__ import annotations

import sys
from pathlib import Path

from surfaces.commands import CommandKind, ItemKind, SubmitPrompt
from tests.surfaces.commands.conftest import Desk, Desks

SERVER = Path(__file__).parents[3] / "cassettes" / "mcp_server.py"
SERVERS = {
    "poet": {"command": sys.executable, "args": [str(SERVER), "prompts", "resources"]},
    "gone": {"command": sys.executable, "args": ["-c", "pass"]},
}


def test_servers_are_listed_with_what_they_offer(desk: Desks) -> None:
    async def script(desk: Desk) -> str:
        await desk.run("/mcp desc")
        return desk.shown

    lines = desk.run(script, mcp_servers=SERVERS, interactive=True).splitlines()

    head = next(line for line in lines if " poet - " in line)
    assert head.startswith("\U0001f7e2 poet - Ready (")
    assert head.endswith("tools, 2 prompts, 2 resources)")
    assert "\U0001f534 gone - Disconnected" in lines
    assert "  - greet someone" in lines
    assert "    Greets." in lines
    assert "  - plain (memo://plain) [text/plain]" in lines


def test_a_schema_and_one_server_are_shown_on_request(desk: Desks) -> None:
    async def script(desk: Desk) -> tuple[str, str]:
        await desk.run("/mcp schema POET")
        poet = desk.shown
        desk.items.clear()
        await desk.run("/mcp list nope")
        return poet, desk.shown

    poet, none = desk.run(script, mcp_servers=SERVERS, interactive=True)

    assert "      Parameters:\n" in poet
    assert "gone" not in poet
    assert none.startswith("No MCP servers configured.\n")


def test_the_prompts_of_servers_are_commands(desk: Desks) -> None:
    async def script(desk: Desk) -> None:
        sent = await desk.run('/greet-someone Ada --style="very  warm"')
        refused = await desk.run("/rhyme")
        explained = await desk.run("/greet-someone help")
        await desk.run("/help")

        assert sent == SubmitPrompt(content=({"text": '"Say hello to Ada, style: very  warm."'},))
        assert (refused.kind, refused.text) == (
            ItemKind.ERROR,
            "Received an empty or invalid prompt response from the server.",
        )
        assert explained.text.startswith('Arguments for "greet someone":')
        assert "/greet-someone [MCP] - Greets." in desk.shown.splitlines()

    desk.run(script, mcp_servers=SERVERS)


def test_a_reload_starts_the_servers_again(desk: Desks) -> None:
    async def script(desk: Desk) -> list[str]:
        await desk.run("/mcp reload")
        assert desk.shown.startswith("Reloading MCP servers...\nConfigured MCP servers:")
        assert "poet - Ready" in desk.shown
        return [each.name for each in desk.layer.commands if each.kind is CommandKind.MCP_PROMPT]

    assert desk.run(script, mcp_servers=SERVERS) == ["greet-someone", "rhyme"]
