"""MCP servers that an agent brings along."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from services.bundle import Services
from services.mcp.config import McpConfigError
from services.subagents.definition import LocalAgentDefinition
from tests.services.children.test_child_services import child, within
from tests.services.subagents.registries import Place

SERVER = Path(__file__).parents[1] / "mcp" / "servers" / "fickle.py"
MINE = {"mine": {"command": sys.executable, "args": [str(SERVER)]}}


def write_agent(home: Path) -> None:
    file = home / ".gemini" / "agents" / "helper.md"
    file.parent.mkdir(parents=True)
    file.write_text(
        "---\nname: helper\ndescription: Helps.\ntools: [mcp_none_*]\nmcp_servers:\n  mine:\n"
        f"    command: {sys.executable}\n    args: ['{SERVER}']\n---\nYou help."
    )


def test_an_agents_server_is_started_for_it_and_for_nobody_else(tmp_path: Path) -> None:
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


def test_a_session_without_any_such_agent_starts_no_servers(tmp_path: Path) -> None:
    async def work(services: Services) -> None:
        assert services.agent_servers is not None
        registry = services.tools.emptied()
        (await services.agent_servers(MINE, registry))()
        assert registry.all_names() == []

    within(tmp_path, work)


def test_a_server_whose_configuration_means_nothing_is_refused(tmp_path: Path) -> None:
    write_agent(tmp_path / "home")

    async def work(services: Services) -> None:
        assert services.agent_servers is not None
        with pytest.raises(McpConfigError):
            await services.agent_servers({"mine": 7}, services.tools.emptied())

    within(tmp_path, work)


@pytest.mark.parametrize(
    ("front", "overrides", "brings"),
    [
        ("", {}, False),
        ("mcp_servers: {mine: {command: x}}", {}, True),
        ("", {"one": {"mcpServers": {"mine": {"command": "x"}}}}, True),
    ],
)
def test_whether_any_agent_brings_servers_is_known(
    tmp_path: Path, front: str, overrides: dict[str, object], brings: bool
) -> None:
    place = Place(tmp_path)
    place.write(place.user, "one", *([front] if front else []))
    assert place.loaded(parameters={"agents": {"overrides": overrides}}).brings_servers is brings
