"""`Toolset`: the tools of an agent, and their declarations for its model.

Source: core `agents/local-executor.ts` (`create`, `prepareToolsList`), `tools/tool-registry.ts`
(`getAllTools`, `getToolsByServer`, `sortTools`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final

from services.mcp.names import MCP_PREFIX, parse_mcp_tool_name
from services.subagents.definition import LocalAgentDefinition
from services.tools.collation import collation_key
from services.tools.contract import Tool, ToolKind, as_server_tool
from services.tools.registry import ToolRegistry
from services.wire import Json, JsonObject

__all__ = ["DiscoverServers", "Toolset"]

DiscoverServers = Callable[[Mapping[str, Json], ToolRegistry], Awaitable[Callable[[], None]]]
"""Registers the tools of servers, given by name in the settings' shape; the returned function stops
the updates of the registry."""

_EVERYTHING: Final = "*"
_TOPIC: Final = "update_topic"
_DISCOVERED: Final = "discovered_tool_"


class Toolset:
    """The tools of one child, in a registry of its own."""

    def __init__(
        self,
        definition: LocalAgentDefinition,
        parent: ToolRegistry,
        complete_task: Tool,
        discover: DiscoverServers | None = None,
    ) -> None:
        """Make an empty toolset.

        Args:
            definition: lists the tools.
            parent: the parent's tools.
            complete_task: the last tool of every agent.
            discover: finds the tools of the agent's own servers; `None`: they are skipped.
        """
        self.registry = parent.emptied()
        self._definition = definition
        self._parent = parent
        self._complete_task = complete_task
        self._discover = discover
        self._release: Callable[[], None] | None = None
        self._declarations: list[JsonObject] | None = None

    async def open(self) -> None:
        """Fill the registry; call it once, before the child's first turn."""
        servers = self._definition.mcp_servers
        if servers and self._discover is not None:
            self._release = await self._discover(servers, self.registry)
        for tool in self._tools():
            self.registry.register(tool, even_unlisted=True)
        self.registry.sort(_rank)
        self.registry.register(self._complete_task, even_unlisted=True)

    def close(self) -> None:
        """Release the agent's own servers; its tools stay callable. Safe to call twice."""
        release, self._release = self._release, None
        if release is not None:
            release()

    def declarations(self) -> list[JsonObject]:
        """Return the declarations for the model; they are made once."""
        if self._declarations is None:
            self._declarations = self.registry.declarations(self._definition.model.model)
        return self._declarations

    def allowed_names(self) -> frozenset[str]:
        """Return the names of the tools that the child may call now."""
        return frozenset(tool.name for tool in self.registry.active())

    def _tools(self) -> list[Tool]:
        """Return the definition's tools, each once, at its first place."""
        asked = self._definition.tools
        if asked is None:
            return [tool for tool in self._parent.active() if _may_be_lent(tool)]
        found: dict[str, Tool] = {}
        for entry in asked:
            if isinstance(entry, str):
                named = self._named(entry)
                found.update((tool.name, tool) for tool in named if _may_be_lent(tool))
            else:
                found[entry.name] = entry
        return list(found.values())

    def _named(self, name: str) -> Sequence[Tool]:
        """Return the parent's active tools for a name or pattern."""
        parent = self._parent
        if name == _EVERYTHING:
            return _by_shown_name(parent.active())
        if name == f"{MCP_PREFIX}{_EVERYTHING}":
            return _by_shown_name(tool for tool in parent.active() if _server(tool) is not None)
        parsed = parse_mcp_tool_name(name)
        if parsed is not None and parsed[1] == _EVERYTHING:
            of_server = [tool for tool in parent.active() if _server(tool) == parsed[0]]
            return sorted(of_server, key=lambda tool: collation_key(tool.name))
        tool = parent.get(name)
        return () if tool is None else (tool,)


def _by_shown_name(tools: Iterable[Tool]) -> list[Tool]:
    return sorted(tools, key=lambda tool: collation_key(tool.display_name))


def _may_be_lent(tool: Tool) -> bool:
    """Exclude agents, and the tool whose topics would appear as the main agent's."""
    return tool.kind is not ToolKind.AGENT and tool.name != _TOPIC


def _server(tool: Tool) -> str | None:
    of_server = as_server_tool(tool)
    return None if of_server is None else of_server.server_name


def _rank(tool: Tool) -> tuple[bool, bool, object]:
    """Sort built-in tools first, then discovered ones, then those of servers by name."""
    server = _server(tool)
    if server is not None:
        return True, True, collation_key(server)
    return False, tool.name.startswith(_DISCOVERED), ()
