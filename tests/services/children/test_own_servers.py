"""MCP servers in the definition of an agent."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from services.bundle import Services
from services.mcp.config import McpConfigError
from services.settings import Settings
from services.subagents.definition import LocalAgentDefinition
from tests.runtimes.upstream.stand_ins import children
from tests.services.children.test_child_services import child, within

SERVER = Path(__file__).parents[1] / "mcp" / "servers" / "fickle.py"
MINE = {"mine": {"command": sys.executable, "args": [str(SERVER)]}}


def write_agent(home: Path) -> None:
    file = home / ".gemini" / "agents" / "helper.md"
    file.parent.mkdir(parents=True)
    file.write_text(
        "---\nname: helper\ndescription: Helps.\ntools: [mcp_none_*]\nmcp_servers:\n  mine:\n"
        f"    command: {sys.executable}\n    args: ['{SERVER}']\n---\nYou help."
    )


def test_an_agents_server_is_started_for_that_agent_only(tmp_path: Path) -> None:
    write_agent(tmp_path / "home")

    async def work(services: Services) -> None:
        definition = services.subagents.registry.definition("helper")
        assert isinstance(definition, LocalAgentDefinition)
        own = child(services, definition)
        await own.toolset.open()
        names = [tool["name"] for tool in own.toolset.declarations()]
        assert names[0].startswith("mcp_mine_")
        assert names[-1] == "complete_task"
        assert not any(name.startswith("mcp_") for name in services.tools.all_names())
        own.toolset.close()

    within(tmp_path, work)


async def _names(services: Services) -> list[str]:
    """The tools of the agent's own server."""
    definition = services.subagents.registry.definition("helper")
    assert isinstance(definition, LocalAgentDefinition)
    own = child(services, definition)
    await own.toolset.open()
    return [name for name in own.toolset.registry.all_names() if name.startswith("mcp_")]


def test_an_agent_that_is_acknowledged_later_has_its_server(tmp_path: Path) -> None:
    async def work(services: Services) -> None:
        registry = services.subagents.registry
        write_agent(tmp_path / "ws")
        await registry.reload()
        assert registry.definition("helper") is None
        await registry.acknowledge("helper")
        assert await _names(services)
        assert not any(name.startswith("mcp_") for name in services.tools.all_names())

    before = children()
    within(tmp_path, work)
    assert children() == before


def test_no_server_starts_before_the_folder_is_trusted(tmp_path: Path) -> None:
    write_agent(tmp_path / "home")

    async def work(services: Services) -> None:
        assert not await _names(services)
        await services.subagents.registry.reload(Settings(folder_trusted=True))
        assert await _names(services)

    within(tmp_path, work, folder_trusted=False)


def test_a_server_with_an_invalid_configuration_is_refused(tmp_path: Path) -> None:
    write_agent(tmp_path / "home")

    async def work(services: Services) -> None:
        with pytest.raises(McpConfigError):
            await services.agent_servers({"mine": 7}, services.tools.emptied())

    within(tmp_path, work)
