"""`list_mcp_resources` and `read_mcp_resource` with a real server."""

from __future__ import annotations

from pathlib import Path

from services.abort import AbortController
from services.clock import VirtualClock
from services.environment import Environment
from services.ids import CountingProcessIds
from services.settings import Settings
from services.state import ApprovalMode, CoreEvents, SessionState
from services.tools.base import DeclarativeTool
from services.tools.contract import ToolExecution, ToolResult
from services.tools.host import ToolHost
from services.tools.list_mcp_resources import ListMcpResourcesTool
from services.tools.read_mcp_resource import ReadMcpResourceTool
from services.wire import JsonObject
from tests.services.mcp.conftest import OpenSession, Session, on_virtual_time, server


def host(session: Session) -> ToolHost:
    state = SessionState(
        session_id="s",
        model="m",
        approval_mode=ApprovalMode.DEFAULT,
        interactive=False,
        events=CoreEvents(),
    )
    return ToolHost(
        workspace=session.workspace,
        clock=VirtualClock(),
        settings=Settings(),
        state=state,
        environment=Environment(),
        process_ids=CountingProcessIds(),
    )


async def run(tool: DeclarativeTool, params: JsonObject) -> ToolResult:
    execution = ToolExecution(call_id="c", signal=AbortController().signal)
    return await tool.build(params).execute(execution)


@on_virtual_time
async def test_resources_are_listed_by_server(session: OpenSession) -> None:
    async with session({"f": server("fickle.py")}) as opened:
        tool = ListMcpResourcesTool(host(opened), opened.manager)
        result = await run(tool, {})
        assert result.llm_content == (
            "Available MCP Resources:\n- f:mem://one | one | The first.\n"
            "- f:mem://later/0 | later 0\n"
        )
        assert result.return_display == "Listed 2 resources."
        none = await run(tool, {"serverName": "g"})
        assert none.llm_content == "No resources found for server: g"


@on_virtual_time
async def test_a_resource_is_read_by_either_name(session: OpenSession) -> None:
    async with session({"f": server("fickle.py")}) as opened:
        tool = ReadMcpResourceTool(host(opened), opened.manager)
        for uri in ("f:mem://one", "mem://one"):
            result = await run(tool, {"uri": uri})
            assert result.llm_content == "one's text\n[Binary Data (x/y)]\n"
            assert result.return_display == 'Successfully read resource "one" from server "f"'
        empty = await run(tool, {"uri": "mem://later/0"})
        assert empty.llm_content == "No content returned from resource."
        call = tool.build({"uri": "mem://one"})
        assert call.description() == 'Read MCP resource "one" from server "f"'


@on_virtual_time
async def test_what_cannot_be_read_is_said(session: OpenSession, tmp_path: Path) -> None:
    async with session({"f": server("fickle.py")}) as opened:
        tool = ReadMcpResourceTool(host(opened), opened.manager)
        missing = await run(tool, {"uri": "x"})
        assert missing.error is not None
        assert missing.error.type == "mcp_resource_not_found"
        assert missing.error.message == "Resource not found for URI: x"
        assert (await run(tool, {"uri": ""})).return_display == "Error: No URI provided."
        await opened.call("mcp_f_crash")
        gone = await run(tool, {"uri": "mem://one"})
        assert gone.error is not None
        assert gone.error.message == "Failed to read resource: Not connected"
        assert gone.error.type == "mcp_tool_error"
