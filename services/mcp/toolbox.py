"""Servers' tools in the session's registry: after all others, by server.

Source: core `tools/tool-registry.ts` (`sortTools`, `removeMcpToolsByServer`, `getToolsByServer`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.mcp.tools import DiscoveredMCPTool
from services.tools.collation import collation_key
from services.tools.registry import ToolRegistry

__all__ = ["McpToolbox"]


class McpToolbox:
    """The MCP tools of one `ToolRegistry`."""

    def __init__(self, registry: ToolRegistry) -> None:
        self.registry = registry
        self._tools: dict[str, DiscoveredMCPTool] = {}

    def set_server(self, server: str, tools: Sequence[DiscoveredMCPTool]) -> None:
        """Replace the tools of `server`.

        A tool whose name another server has already taken replaces that one.
        """
        before = self._tools
        self._tools = {
            name: tool for name, tool in self._tools.items() if tool.server_name != server
        }
        for tool in tools:
            self._tools[tool.name] = tool
        self._show(before)

    def add(self, server: str, tools: Sequence[DiscoveredMCPTool]) -> None:
        """Add tools of `server` to those it has, as its first discovery does."""
        before = list(self._tools)
        for tool in tools:
            self._tools[tool.name] = tool
        self._show(before)

    def remove_server(self, server: str) -> None:
        """Forget the tools of `server`."""
        self.set_server(server, ())

    def of_server(self, server: str) -> list[DiscoveredMCPTool]:
        """The active tools of `server`, by name."""
        found = [
            tool
            for tool in self._tools.values()
            if tool.server_name == server and self.registry.get(tool.name) is tool
        ]
        return sorted(found, key=lambda tool: collation_key(tool.name))

    def _show(self, before: Iterable[str]) -> None:
        # Python's sort is stable, as JavaScript's is: within a server the order stays.
        self._tools = dict(
            sorted(self._tools.items(), key=lambda item: collation_key(item[1].server_name))
        )
        for name in before:
            self.registry.unregister(name)
        for tool in self._tools.values():
            # The setting for core tools does not apply to servers' tools.
            self.registry.register(tool, even_unlisted=True)
