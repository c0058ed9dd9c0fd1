"""Faults around MCP servers that end, or that send what is no message."""

from __future__ import annotations

from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import instead
from services.mcp.errors import McpError

fault = Faults(Site.SERVICE, Behaviour.TOOLS)

code_of_a_lost_connection_dropped = fault.wrap(
    "services.mcp.connection:from_library",
    instead(lambda _, error: McpError(0, error.error.message)),
    says="The error of a server that ended has another code.",
    origin="the library's error put into words of one's own",
)


@fault(
    "services.mcp.client:McpClient._refresh_tools",
    origin="a registry emptied before the new list is there",
)
async def tools_lost_by_a_failed_refresh(refresh: Any, self: Any, unchanged: Any) -> None:
    """A server's tools are no longer declared when their new list cannot be fetched."""
    for registries in self._registries:
        registries.tools.remove_server(self.name)
    await refresh(self, unchanged)


@fault("services.mcp.client:McpClient.failed", origin="a connection closed at the first bad line")
def babbling_server_cut_off(failed: Any, self: Any, error: Exception) -> None:
    """A line that is no message ends the connection with a server."""
    failed(self, error)
    self._connection = None
