"""`list_mcp_resources`: the resources of the connected servers.

Source: core `tools/list-mcp-resources.ts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, Protocol

from services.tools.base import BuiltinInvocation, DeclarativeTool
from services.tools.contract import ToolExecution, ToolKind, ToolResult
from services.tools.host import ToolHost
from services.tools.parameters import WAIT_FOR_PREVIOUS, arguments, string
from services.wire import JsonObject

__all__ = ["ListMcpResourcesTool", "McpResourceList", "ResourceFacts"]


class ResourceFacts(Protocol):
    """A resource of a server."""

    @property
    def server_name(self) -> str:
        """The server's name."""

    @property
    def uri(self) -> str:
        """The resource's URI."""

    @property
    def name(self) -> str:
        """The resource's name."""

    @property
    def description(self) -> str | None:
        """The resource's description."""


class McpResourceList(Protocol):
    """The seam to the servers' resources: `services.mcp.manager.McpManager` is one."""

    def all_resources(self) -> Sequence[ResourceFacts]:
        """Every resource, in order of discovery."""


class ListMcpResourcesTool(DeclarativeTool):
    """Lists the resources of all servers, or of one. Active if there is a resource."""

    name = "list_mcp_resources"
    display_name = "List MCP Resources"
    kind = ToolKind.SEARCH
    description = (
        "List the resources that the connected MCP servers offer. Give serverName to see those of "
        "one server only."
    )
    parameters: ClassVar[JsonObject] = arguments(
        [], serverName=string("Only this server's resources."), wait_for_previous=WAIT_FOR_PREVIOUS
    )

    def __init__(self, host: ToolHost, servers: McpResourceList) -> None:
        super().__init__(host)
        self.servers: Final = servers


@ListMcpResourcesTool.builds
class _ListMcpResources(BuiltinInvocation):
    def __init__(self, tool: ListMcpResourcesTool, params: JsonObject) -> None:
        super().__init__(tool, params)
        self._servers = tool.servers

    def description(self) -> str:
        return "List MCP resources"

    async def execute(self, execution: ToolExecution) -> ToolResult:
        server: str | None = self.params.get("serverName")
        resources = [
            item
            for item in self._servers.all_resources()
            if not server or item.server_name == server
        ]
        if not resources:
            none = "No MCP resources found."
            if server:
                none = f"No resources found for server: {server}"
            return ToolResult(llm_content=none, return_display=none)
        lines = [
            " | ".join(
                part
                for part in (f"- {item.server_name}:{item.uri}", item.name, item.description)
                if part
            )
            for item in resources
        ]
        return ToolResult(
            llm_content="\n".join(["Available MCP Resources:", *lines, ""]),
            return_display=f"Listed {len(resources)} resources.",
        )
