"""How a session gets its servers: what tools, prompts and registry see of them, and their start.

Nothing here imports the servers themselves before a session has any: that takes its time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from services.ids import IdSource
from services.settings import Settings
from services.state import CoreEvents
from services.tools.builtin import register_skills
from services.tools.host import ToolHost
from services.tools.registry import ToolRegistry
from services.wire import Json, JsonObject

if TYPE_CHECKING:
    from services.mcp.manager import McpManager
    from services.mcp.progress import McpProgress
    from services.mcp.registries import McpResource

__all__ = ["SessionServers", "has_servers"]


def has_servers(settings: Settings) -> bool:
    """Whether the settings name any server."""
    return bool(settings.mcp_servers or settings.mcp_server_command)


def _nothing_to_end() -> None:
    """Where no server was started."""


class SessionServers:
    """The servers of a session, from before they are started; nothing is known of them then."""

    def __init__(self) -> None:
        self.manager: McpManager | None = None

    def all_resources(self) -> Sequence[McpResource]:
        """Every resource, in order of discovery."""
        return self.manager.all_resources() if self.manager is not None else ()

    def find_resource(self, uri: str) -> McpResource | None:
        """The resource called `<server>:<uri>`, or the first with that URI."""
        return self.manager.find_resource(uri) if self.manager is not None else None

    async def read_resource(self, resource: McpResource) -> JsonObject | None:
        """Read `resource`; `None` when its server has gone.

        Raises:
            McpConnectionError, McpError, ShapeError: it could not be read.
        """
        return None if self.manager is None else await self.manager.read_resource(resource)

    def instructions(self) -> str:
        """What the servers tell the model about themselves."""
        return self.manager.instructions() if self.manager is not None else ""

    async def discover_for_agent(
        self, servers: Mapping[str, Json], tools: ToolRegistry
    ) -> Callable[[], None]:
        """Start the servers that an agent brings along, or reach those that run already.

        Args:
            servers: by name, as settings would have them.
            tools: the agent's; what the servers offer is registered there, and nowhere else.

        Returns:
            What ends `tools` being kept up to date. The servers end with the session.

        Raises:
            McpConfigError: a server's configuration has no meaning.
        """
        if self.manager is None:
            return _nothing_to_end
        from services.mcp.config import server_configs
        from services.mcp.session import agent_registries

        manager, registries = self.manager, agent_registries(tools)
        for name, config in server_configs(servers).items():
            await manager.discover(name, config, registries)
        return lambda: manager.remove_registries(registries)

    @asynccontextmanager
    async def started(
        self,
        *,
        host: ToolHost,
        tools: ToolRegistry,
        ids: IdSource,
        events: CoreEvents,
        version: str,
        policy_warnings: Callable[[str, Sequence[str]], Sequence[str]],
        on_progress: Callable[[McpProgress], None],
    ) -> AsyncIterator[None]:
        """Start the servers and register what they offer; leaving ends them.

        Args:
            host: the session's settings, workspace, environment and clock.
            tools: where the servers' tools go, behind those that are there, before the skills'.
            ids: for progress tokens.
            events: people are told of troubles there.
            version: ours, as servers are told.
            policy_warnings: what is wrong with the policy's rules about a server's tools.
            on_progress: told how far an executing call is.

        Raises:
            McpConfigError: a server's configuration has no meaning.
        """
        from services.mcp.session import open_mcp

        async with open_mcp(
            settings=host.settings,
            workspace=host.workspace,
            environment=host.environment,
            clock=host.clock,
            ids=ids,
            events=events,
            tools=tools,
            version=version,
            policy_warnings=policy_warnings,
            on_progress=on_progress,
        ) as manager:
            self.manager = manager
            tools.follow_servers(
                settled=manager.settled, has_resources=lambda: bool(manager.all_resources())
            )
            await manager.start()
            register_skills(tools, host)
            yield
