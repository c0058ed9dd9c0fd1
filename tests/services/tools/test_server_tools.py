"""How the registry treats the tools of MCP servers, and those that read their resources."""

from __future__ import annotations

from typing import Any

import pytest

from services.mcp.tools import Allowlist, DiscoveredMCPTool, ToolOrigin
from services.mcp.wiring import SessionServers, has_servers
from services.settings import Settings
from services.tools.builtin import register_builtin_tools
from services.wire import JsonObject
from tests.services.tools.conftest import empty_registry

RESOURCE_TOOLS = ["read_mcp_resource", "list_mcp_resources"]


def server_tool(name: str = "sum") -> DiscoveredMCPTool:
    async def call(tool: str, arguments: JsonObject, call_id: str) -> JsonObject:
        return {"content": []}

    origin = ToolOrigin(server_name="calc", trusted=True, call=call, allowlist=Allowlist())
    return DiscoveredMCPTool({"name": name, "inputSchema": {"type": "object"}}, origin)


@pytest.mark.parametrize("excluded", ["mcp_calc_sum", "sum", "calc_sum", "DiscoveredMCPTool"])
def test_settings_exclude_a_servers_tool_by_any_of_its_names(bench: Any, excluded: str) -> None:
    tool = server_tool()
    registry = bench.with_settings(exclude_tools=(excluded,)).registry
    registry.register(tool)

    assert (registry.get(tool.name) is None) == (excluded in tool.excluded_by)
    assert (excluded in tool.excluded_by) == (excluded != "calc_sum")


async def nothing() -> None:
    """No server's list is being fetched."""


def test_the_resource_tools_are_there_while_there_is_a_resource(bench: Any) -> None:
    assert not set(RESOURCE_TOOLS) & set(bench.registry.all_names())
    resources: list[str] = []
    registry = empty_registry(bench.host)
    register_builtin_tools(registry, bench.host, SessionServers())
    assert not set(RESOURCE_TOOLS) & set(registry.all_names())
    before = registry.revision

    registry.follow_servers(settled=nothing, has_resources=lambda: bool(resources))
    resources.append("memo://plain")

    names = registry.all_names()
    assert registry.revision != before
    assert names[names.index("web_fetch") + 1 :][:3] == [*RESOURCE_TOOLS, "run_shell_command"]


async def test_a_request_waits_for_the_servers_lists(bench: Any) -> None:
    waited: list[str] = []

    async def settled() -> None:
        waited.append("settled")

    registry = bench.registry
    await registry.settled()
    registry.follow_servers(settled=settled, has_resources=lambda: False)
    await registry.settled()

    assert waited == ["settled"]


def test_the_revision_changes_with_every_tool_that_comes_or_goes(bench: Any) -> None:
    registry = bench.registry
    seen = [registry.revision]
    registry.register(server_tool())
    seen.append(registry.revision)
    registry.unregister("mcp_calc_sum")
    seen.append(registry.revision)
    registry.unregister("mcp_calc_sum")

    assert len(set(seen)) == 3
    assert registry.revision == seen[-1]


def test_a_session_has_servers_when_its_settings_name_one() -> None:
    assert not has_servers(Settings())
    assert has_servers(Settings(mcp_servers={"calc": {"command": "c"}}))
    assert has_servers(Settings(mcp_server_command="c"))


async def test_servers_that_are_not_started_have_no_tools() -> None:
    servers = SessionServers()
    assert (list(servers.all_resources()), servers.instructions()) == ([], "")
    assert servers.find_resource("memo://plain") is None
