"""The questions to the policy and the user about calls of MCP servers' tools."""

from __future__ import annotations

from typing import Any

from services.mcp.tools import Allowlist, DiscoveredMCPTool, ToolOrigin
from services.message_bus import ToolConfirmationRequest
from services.scheduler.calls import CallStatus
from services.wire import JsonObject


def server_tool(rig: Any, server: str = "my_calc", **wire: Any) -> DiscoveredMCPTool:
    async def call(tool: str, arguments: JsonObject, call_id: str) -> JsonObject:
        return {"content": [{"type": "text", "text": "3"}]}

    origin = ToolOrigin(server_name=server, trusted=False, call=call, allowlist=rig.allowlist)
    tool = DiscoveredMCPTool({"name": "sum", "inputSchema": {"type": "object"}, **wire}, origin)
    rig.tools.by_name[tool.name] = tool
    return tool


async def test_a_rule_about_a_server_applies_to_that_servers_tools(rig: Any) -> None:
    rig.allowlist = Allowlist()
    tool = server_tool(rig)
    # From the name alone the server would be taken for `my`.
    rig.rule("*", "deny", mcp_name="my_calc")

    [call] = await rig.run(rig.request(tool.name))

    assert call.response.error == "Tool execution denied by policy."


async def test_a_rule_about_annotations_applies_to_the_servers_annotations(rig: Any) -> None:
    rig.allowlist = Allowlist()
    tool = server_tool(rig, annotations={"destructiveHint": True})
    rig.rule("*", "deny", annotations={"destructiveHint": True})

    [call] = await rig.run(rig.request(tool.name))

    assert call.status is CallStatus.ERROR


async def test_the_second_check_names_the_server_as_tools_are_named(rig: Any) -> None:
    rig.allowlist = Allowlist()
    tool = server_tool(rig, annotations={"readOnlyHint": True})
    rig.rule("*", "ask_user")
    rig.answer("proceed_once")
    asked: list[ToolConfirmationRequest] = []
    rig.bus.subscribe(ToolConfirmationRequest, asked.append)

    [call] = await rig.run(rig.request(tool.name))

    assert call.status is CallStatus.SUCCESS
    [request] = asked
    assert (request.tool_name, request.server_name) == ("mcp_my_calc_sum", "mcp_my_calc")
    assert request.annotations == {"readOnlyHint": True}


async def test_an_answer_for_the_server_allows_the_next_call(rig: Any) -> None:
    rig.allowlist = Allowlist()
    tool = server_tool(rig)
    rig.rule("*", "ask_user", mcp_name="my_calc")
    rig.answer("proceed_always_server")

    await rig.run(rig.request(tool.name, "first"))
    rig.rule("*", "ask_user")
    await rig.run(rig.request(tool.name, "second"))

    assert rig.allowlist.allows("my_calc", "sum")
    assert len(rig.questions) == 1
