"""`read_mcp_resource`: one resource of a server, as text.

Source: core `tools/read-mcp-resource.ts`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from services.abort import until_aborted
from services.tools.base import BuiltinInvocation, DeclarativeTool, failed_as_shown
from services.tools.contract import ToolErrorType, ToolExecution, ToolKind, ToolResult
from services.tools.host import ToolHost
from services.tools.list_mcp_resources import ResourceFacts
from services.tools.parameters import WAIT_FOR_PREVIOUS, arguments, string
from services.wire import JsonObject

__all__ = ["McpResourceReader", "ReadMcpResourceTool"]

R = TypeVar("R", bound=ResourceFacts)


class McpResourceReader(Protocol[R]):
    """The seam to the servers' resources: `services.mcp.manager.McpManager` is one."""

    def find_resource(self, uri: str) -> R | None:
        """The resource called `<server>:<uri>`, or the first with that URI."""

    async def read_resource(self, resource: R) -> JsonObject | None:
        """`{contents: [{uri, text | blob, mimeType?}]}`; `None` if its server is gone."""


class ReadMcpResourceTool(DeclarativeTool, Generic[R]):
    """Reads a resource. Active if there is one."""

    name = "read_mcp_resource"
    display_name = "Read MCP Resource"
    kind = ToolKind.READ
    description = "Read one resource of an MCP server, named by its URI."
    parameters: ClassVar[JsonObject] = arguments(
        ["uri"], uri=string("The resource's URI."), wait_for_previous=WAIT_FOR_PREVIOUS
    )

    def __init__(self, host: ToolHost, servers: McpResourceReader[R]) -> None:
        super().__init__(host)
        self.servers: Final = servers


@ReadMcpResourceTool.builds
class _ReadMcpResource(BuiltinInvocation, Generic[R]):
    def __init__(self, tool: ReadMcpResourceTool[R], params: JsonObject) -> None:
        super().__init__(tool, params)
        self._servers = tool.servers
        # Found when the call is built, for its display.
        self._resource = self._servers.find_resource(params["uri"])

    def description(self) -> str:
        if self._resource is None:
            return f"Read MCP resource: {self.params['uri']}"
        return f"Read MCP resource {self._named(self._resource)}"

    async def execute(self, execution: ToolExecution) -> ToolResult:
        uri: str = self.params["uri"]
        if not uri:
            return failed_as_shown("No URI provided.", ToolErrorType.INVALID_TOOL_PARAMS)
        resource = self._servers.find_resource(uri)
        if resource is None:
            return failed_as_shown(
                f"Resource not found for URI: {uri}", ToolErrorType.MCP_RESOURCE_NOT_FOUND
            )
        try:
            result = await until_aborted(self._servers.read_resource(resource), execution.signal)
        except Exception as error:
            if execution.signal.aborted:
                raise
            return failed_as_shown(
                f"Failed to read resource: {error}", ToolErrorType.MCP_TOOL_ERROR
            )
        if result is None:
            return failed_as_shown(
                f"MCP Client not found for server: {resource.server_name}",
                ToolErrorType.EXECUTION_FAILED,
            )
        text = "".join(_text(content) for content in result.get("contents") or [])
        return ToolResult(
            llm_content=text or "No content returned from resource.",
            return_display=f"Successfully read resource: {uri}"
            if self._resource is None
            else f"Successfully read resource {self._named(self._resource)}",
        )

    def _named(self, resource: R) -> str:
        return f'"{resource.name}" from server "{resource.server_name}"'


def _text(content: dict[str, Any]) -> str:
    if content.get("text"):
        return f"{content['text']}\n"
    if content.get("blob"):
        return f"[Binary Data ({content.get('mimeType', 'undefined')})]\n"
    return ""
