"""Switching agents, skills, hooks and servers on and off: the files, and the session."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from services.mcp.states import McpServerStatus
from surfaces.commands import Dialog, OpenDialog, Scope
from tests.surfaces.commands.conftest import Desk, Desks

SERVER = Path(__file__).parents[3] / "cassettes" / "mcp_server.py"
SERVERS = {"poet": {"command": sys.executable, "args": [str(SERVER)]}}
HOOKS = {
    "BeforeTool": [
        {
            "matcher": "write_.*",
            "hooks": [
                {"type": "command", "name": "note", "command": "true", "timeout": 5000},
                {"type": "command", "command": "exit 0"},
            ],
        }
    ]
}


def stored(desk: Desk, scope: Scope) -> Any:
    preferences = desk.session.preferences
    assert preferences is not None
    file = preferences.file(scope)
    return json.loads(file.read_text()) if file.exists() else {}


def test_an_agent_is_switched_off_and_on(desks: Desks) -> None:
    async def script(desk: Desk) -> None:
        registry = desk.session.services.subagents.registry
        folder = desk.session.services.workspace.home / ".gemini/agents"
        folder.mkdir(parents=True)
        (folder / "helper.md").write_text("---\nname: helper\ndescription: Helps.\n---\nHelp.")
        await registry.reload()
        desk.with_settings()
        here = desk.root / ".gemini/settings.json"

        off = await desk.run("/agents disable helper")
        assert off.text == (
            f'Agent "helper" disabled by setting it to disabled in project ({here}) settings.'
        )
        assert desk.shown == "Disabling helper..."
        assert "helper" not in registry.names()
        assert [each.value for each in await desk.layer.suggestions("/agents enable h")] == [
            "helper"
        ]
        again = await desk.run("/agents disable helper")
        assert again.text == "Agent 'helper' is already disabled."
        on = await desk.run("/agents enable helper")
        assert on.text.startswith('Agent "helper" enabled by setting it to enabled in project')
        assert "helper" in registry.names()
        assert stored(desk, Scope.WORKSPACE)["agents"]["overrides"]["helper"] == {"enabled": True}
        assert (await desk.run("/agents enable helper")).text == (
            "Agent 'helper' is already enabled."
        )
        assert (await desk.run("/agents enable nope")).text == "Agent 'nope' not found."
        assert (await desk.run("/agents disable nope")).text == "Agent 'nope' not found."

    desks.run(script)


def test_the_dialog_of_an_agent_has_its_own_definition(desk: Desks) -> None:
    async def script(desk: Desk) -> None:
        desk.with_settings()
        opened = await desk.run("/agents config generalist")
        assert isinstance(opened, OpenDialog)
        assert opened.dialog is Dialog.AGENT_CONFIG
        assert opened.details["definition"].name == "generalist"
        assert (await desk.run("/agents config nope")).text == "Agent 'nope' not found."

    desk.run(script)


def with_skill(desk: Desk, name: str = "tidy") -> None:
    folder = desk.root / ".gemini/skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Tidies.\n---\nDo.")


def test_a_skill_is_switched_off_and_on_and_counts_after_a_reload(desks: Desks) -> None:
    async def script(desk: Desk) -> None:
        skills = desk.session.services.skills
        with_skill(desk)
        desk.with_settings()
        await desk.run("/skills reload")
        off = await desk.run("/skills disable tidy")
        assert off.text == (
            'Skill "tidy" disabled by adding it to the disabled list in workspace '
            f"({desk.root}/.gemini/settings.json) settings. "
            'You can run "/skills reload" to refresh your current instance.'
        )
        assert stored(desk, Scope.WORKSPACE)["skills"]["disabled"] == ["tidy"]
        gone = await desk.run("/skills reload")
        assert gone.text.endswith("1 skill no longer available.")
        assert [skill.disabled for skill in skills.all() if skill.name == "tidy"] == [True]
        assert not [each for each in desk.layer.commands if each.name == "tidy"]
        await desk.run("/skills")
        assert desk.shown.endswith("Disabled Skills:\n\n  - tidy\n      Tidies.")
        assert (await desk.run("/skills enable tidy")).text.startswith('Skill "tidy" enabled by')
        await desk.run("/skills reload")
        assert [each for each in desk.layer.commands if each.name == "tidy"]
        assert (await desk.run("/skills disable nope")).text == 'Skill "nope" not found.'

    desks.run(script)


def test_skills_are_linked(desk: Desks) -> None:
    async def script(desk: Desk) -> None:
        folder = desk.root.parent / "shared"
        (folder / "wash").mkdir(parents=True)
        (folder / "wash/SKILL.md").write_text("---\nname: wash\ndescription: Washes.\n---\nDo.")
        refused = await desk.run("/skills link ../shared")
        assert "it needs your consent" in refused.text
        desk.with_settings()
        done = await desk.run("/skills link ../shared --scope workspace")
        again = await desk.run("/skills link ../shared --scope=workspace")

        assert done.text == again.text
        assert done.text == 'Successfully linked skills from "../shared" (workspace).'
        assert 'Linking agent skill(s) from "../shared".' in desk.shown
        assert "  * wash: Washes." in desk.shown
        assert 'Skill "wash" already exists at destination. Overwriting...' in desk.shown
        assert (desk.root / ".gemini/skills/wash").readlink() == folder / "wash"
        assert desk.session.services.skills.get("wash") is not None
        assert (await desk.run("/skills link")).text.startswith("Usage: /skills link <path>")
        assert (await desk.run("/skills link x --scope moon")).text.startswith("Usage:")

    desk.run(script)


def test_hooks_are_switched_off_and_on_in_the_session(desks: Desks) -> None:
    async def script(desk: Desk) -> None:
        desk.with_settings()
        system = desk.session.services.hooks
        assert system is not None

        def states() -> list[bool]:
            return [each.enabled for each in system.all()]

        off = await desk.run("/hooks disable note")
        assert off.text.startswith('Hook "note" disabled by adding it to the disabled list in')
        assert states() == [False, True]
        assert (await desk.run("/hooks disable note")).text == ('Hook "note" is already disabled.')
        assert (await desk.run("/hooks enable note")).text.startswith('Hook "note" enabled by')
        assert states() == [True, True]
        assert (await desk.run("/hooks disable-all")).text == ("Disabled 2 hook(s) successfully.")
        assert stored(desk, Scope.WORKSPACE)["hooksConfig"]["disabled"] == ["note", "exit 0"]
        assert (await desk.run("/hooks disable-all")).text == "All hooks are already disabled."
        assert (await desk.run("/hooks enable-all")).text == "Enabled 2 hook(s) successfully."
        assert (await desk.run("/hooks enable-all")).text == "All hooks are already enabled."
        assert states() == [True, True]
        opened = await desk.run("/hooks")
        assert opened.details["hooks"] == system.all()

    desks.run(script, hooks=HOOKS)


def test_hooks_are_listed_where_there_is_no_dialog(desk: Desks) -> None:
    async def script(desk: Desk) -> str:
        await desk.run("/hooks list")
        return desk.shown

    assert desk.run(script, dialogs=frozenset(), hooks=HOOKS).splitlines() == [
        "Configured Hooks",
        "",
        "BeforeTool",
        "  note [enabled]",
        "    Source: project | Command: true | Matcher: write_.* | Timeout: 5s",
        "  exit 0 [enabled]",
        "    Source: project | Matcher: write_.*",
    ]


def test_without_hooks_there_is_nothing_to_switch(desk: Desks) -> None:
    async def script(desk: Desk) -> list[str]:
        desk.with_settings()
        words = ("enable-all", "disable-all", "enable", "disable")
        return [(await desk.run(f"/hooks {each}")).text for each in words]

    assert desk.run(script) == [
        "No hooks configured.",
        "No hooks configured.",
        "Usage: /hooks enable <hook-name>",
        "Usage: /hooks disable <hook-name>",
    ]


@pytest.mark.parametrize("session_only", [False, True])
def test_a_server_is_switched_off_and_on(desks: Desks, *, session_only: bool) -> None:
    flag, words = (" --session", " for this session") if session_only else ("", "")

    async def script(desk: Desk) -> None:
        manager = desk.session.services.servers.manager
        assert manager is not None
        file = desk.session.services.workspace.home / ".gemini/mcp-server-enablement.json"

        off = await desk.run(f"/mcp disable POET{flag}")
        assert off.text == f"MCP server 'poet' disabled{words}."
        assert manager.status("poet") is not McpServerStatus.CONNECTED
        assert not [each for each in desk.layer.commands if each.server == "poet"]
        assert file.exists() is not session_only
        await desk.run("/mcp list")
        assert "poet - Disabled" in desk.shown
        assert [each.value for each in await desk.layer.suggestions("/mcp enable p")] == ["poet"]
        on = await desk.run(f"/mcp enable poet{flag}")
        assert on.text == f"MCP server 'poet' enabled{words}."
        assert manager.status("poet") is McpServerStatus.CONNECTED
        if not session_only:
            assert json.loads(file.read_text()) == {}
        nothing = await desk.run("/mcp enable")
        assert nothing.text == "Server name required. Usage: /mcp enable <server-name> [--session]"

    desks.run(script, mcp_servers=SERVERS)


def test_a_server_that_the_settings_forbid_stays_off(desk: Desks) -> None:
    async def script(desk: Desk) -> list[str]:
        return [(await desk.run(f"/mcp enable {name}")).text for name in ("poet", "other")]

    blocked = desk.run(script, mcp_servers=SERVERS, blocked_mcp_servers=["poet"])
    allowed = desk.run(script, mcp_servers=SERVERS, allowed_mcp_servers=["other"])
    assert "is blocked by mcp.excluded" in blocked[0]
    assert "is not in mcp.allowed list" in allowed[0]
    assert "not found" in blocked[1]
