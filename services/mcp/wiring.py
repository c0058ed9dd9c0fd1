"""The servers of a session for its tools and prompts, and their start.

The client library is imported only when a session has servers, as that is slow.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from services.background import background_tasks
from services.session import Session
from services.settings import Settings
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


class SessionServers:
    """The servers of a session; empty until they are started."""

    def __init__(self) -> None:
        self.manager: McpManager | None = None
        self._open: Callable[[], Awaitable[McpManager]] | None = None

    def all_resources(self) -> Sequence[McpResource]:
        """Every resource, in order of discovery."""
        return self.manager.all_resources() if self.manager is not None else ()

    def find_resource(self, uri: str) -> McpResource | None:
        """The resource called `<server>:<uri>`, or the first with that URI."""
        return self.manager.find_resource(uri) if self.manager is not None else None

    async def read_resource(self, resource: McpResource) -> JsonObject | None:
        """Read `resource`; `None` when its server is no longer connected.

        Raises:
            McpConnectionError, McpError, ShapeError: it could not be read.
        """
        return None if self.manager is None else await self.manager.read_resource(resource)

    def instructions(self) -> str:
        """The servers' instructions for the model."""
        return self.manager.instructions() if self.manager is not None else ""

    async def settled(self) -> None:
        """Return when no server's list is being refreshed."""
        if self.manager is not None:
            await self.manager.settled()

    async def discover_for_agent(
        self, servers: Mapping[str, Json], tools: ToolRegistry
    ) -> Callable[[], None]:
        """Start the servers that an agent defines, or use those that run already.

        Args:
            servers: by name, as in the settings.
            tools: the agent's tools, where the servers' tools are registered.

        Returns:
            A function that stops updating `tools`. The servers end with the session.

        Raises:
            McpConfigError: a server's configuration is malformed.
            LookupError: the session is not open.
        """
        from services.mcp.config import server_configs
        from services.mcp.context import Registries
        from services.mcp.toolbox import McpToolbox

        # An agent does not use the servers' prompts and resources.
        manager, registries = await self._opened(), Registries(tools=McpToolbox(tools))
        for name, config in server_configs(servers).items():
            await manager.discover(name, config, registries)
        return lambda: manager.remove_registries(registries)

    async def start_extension(
        self, name: str, servers: Mapping[str, Json], variables: Mapping[str, str]
    ) -> None:
        """Start the servers of an extension; one that is malformed is reported.

        Args:
            name: the extension's name.
            servers: its servers by name, as in the settings.
            variables: the values of its settings.

        Raises:
            LookupError: the session is not open.
        """
        from services.mcp.config import McpConfigError, extension_servers

        manager = await self._opened()
        try:
            configs = extension_servers(servers, name, variables)
        except McpConfigError as error:
            manager.diagnostics.emit("error", f"Extension {name}: {error}")
            return
        await manager.start_extension(configs)

    async def stop_extension(self, name: str) -> None:
        """End the servers of an extension."""
        if self.manager is not None:
            await self.manager.stop_extension(name)

    @asynccontextmanager
    async def started(
        self,
        session: Session,
        *,
        host: ToolHost,
        tools: ToolRegistry,
        version: str,
        trusted: Callable[[], bool],
        policy_warnings: Callable[[str, Sequence[str]], Sequence[str]],
        on_progress: Callable[[McpProgress], None],
        extensions: Callable[[], Awaitable[None]] | None = None,
    ) -> AsyncIterator[None]:
        """Start the settings' servers and register what they offer; leaving ends all servers.

        Args:
            session: the session.
            host: what the skills' tool uses.
            tools: where the servers' tools are registered, before the skills' tool.
            version: the version that servers receive.
            trusted: whether the folder is trusted now; otherwise no server starts.
            policy_warnings: warnings about the policy's rules, by server and its tools.
            on_progress: receives the progress of executing calls.
            extensions: starts the servers of extensions, where there are any.

        Raises:
            McpConfigError: a server's configuration is malformed.
        """
        async with background_tasks() as tasks, AsyncExitStack() as stack:

            async def opened() -> McpManager:
                from services.mcp.session import open_mcp

                return await stack.enter_async_context(
                    open_mcp(
                        session,
                        trusted=trusted,
                        tasks=tasks,
                        tools=tools,
                        version=version,
                        policy_warnings=policy_warnings,
                        on_progress=on_progress,
                    )
                )

            self._open = opened
            tools.follow_servers(
                settled=self.settled, has_resources=lambda: bool(self.all_resources())
            )
            own = has_servers(session.settings)
            if own:
                await (await self._opened()).start()
            if extensions is not None:
                await extensions()
            if own or extensions is not None:
                register_skills(tools, host)
            yield

    async def _opened(self) -> McpManager:
        if self.manager is None:
            if self._open is None:
                raise LookupError("the session of the servers is not open")
            self.manager = await self._open()
        return self.manager
