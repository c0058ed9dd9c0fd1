"""One server of a session: connect, discover, keep up to date, call, disconnect.

Source: core `tools/mcp-client.ts` (`McpClient`).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from services.abort import AbortController
from services.mcp.config import McpServerConfig
from services.mcp.connection import Connection
from services.mcp.context import McpContext, Registries
from services.mcp.discovery import Discovery
from services.mcp.errors import McpConnectionError, McpError
from services.mcp.progress import ProgressRoutes
from services.mcp.refresh import Refresher
from services.mcp.results import CALL_TOOL, READ_RESOURCE, ShapeError, compliant
from services.mcp.states import McpServerStatus
from services.mcp.tools import DiscoveredMCPTool, ToolOrigin
from services.mcp.transports import connect_to_server
from services.wire import JsonObject

__all__ = ["McpClient"]

logger = logging.getLogger(__name__)

_SHORT_S: Final = 60.0
"""Seconds for requests without a time limit of their own."""


class McpClient:
    """A server, connected at most once at a time.

    A server that ends by itself stays `connected`, as in the core: the running call fails with
    `MCP error -32000: Connection closed`, later ones with `Not connected`, until a restart. One
    that sends an invalid message is `disconnected`: its notifications are ignored, though its tools
    can still be called.
    """

    def __init__(self, name: str, config: McpServerConfig, context: McpContext) -> None:
        self.name = name
        self.config = config
        self.status = McpServerStatus.DISCONNECTED
        self._context = context
        self._connection: Connection | None = None
        self._discovery: Discovery | None = None
        self._registries: list[Registries] = []
        self._progress = ProgressRoutes(name, context.on_progress)
        self._leaving = AbortController()
        self._refreshers = self._new_refreshers()

    @property
    def instructions(self) -> str | None:
        """The server's instructions for the model."""
        return None if self._connection is None else self._connection.instructions

    async def connect(self) -> None:
        """Reach the server.

        Raises:
            McpConnectionError, McpError, ShapeError: it cannot be reached.
        """
        if self.status is not McpServerStatus.DISCONNECTED:
            raise McpConnectionError(
                f"Can only connect when the client is disconnected, current state is {self.status}"
            )
        self.status = McpServerStatus.CONNECTING
        try:
            # Unlike in the core, a failed connection ends before the next one begins.
            await self._close()
            self._leaving = AbortController()
            self._refreshers = self._new_refreshers()
            self._connection = await connect_to_server(self.name, self.config, self._context, self)
            self._discovery = Discovery(self.name, self._connection, self._context)
            self.status = McpServerStatus.CONNECTED
        finally:
            if self.status is McpServerStatus.CONNECTING:
                self.status = McpServerStatus.DISCONNECTED

    async def discover_into(self, registries: Registries) -> None:
        """Register what the server offers, and keep it up to date.

        Raises:
            McpConnectionError, McpError, ShapeError: a list failed, or all are empty.
        """
        found = self._connected()
        if registries not in self._registries:
            self._registries.append(registries)
        prompts = await found.prompts(_SHORT_S)
        tools = self._tools(await found.tools(self.config.timeout_s))
        resources = await found.resources(_SHORT_S)
        registries.resources.set_server(self.name, resources)
        if not (prompts or tools or resources):
            raise McpConnectionError("No prompts, tools, or resources found on the server.")
        for prompt in prompts:
            registries.prompts.register(prompt)
        registries.tools.add(self.name, tools)
        names = [tool.server_tool_name for tool in tools]
        for warning in self._context.policy_warnings(self.name, names):
            self._context.warn(warning)

    def remove_registries(self, registries: Registries) -> None:
        """Stop keeping `registries` up to date."""
        with suppress(ValueError):
            self._registries.remove(registries)

    async def disconnect(self) -> None:
        """Unregister what the server offered, and end it."""
        if self.status is McpServerStatus.CONNECTED:
            for registries in self._registries:
                registries.tools.remove_server(self.name)
                registries.prompts.remove_server(self.name)
                registries.resources.remove_server(self.name)
            self.status = McpServerStatus.DISCONNECTING
        await self._close()
        self.status = McpServerStatus.DISCONNECTED

    async def read_resource(self, uri: str) -> JsonObject:
        """Read a resource: `{contents: [{uri, text | blob, mimeType?}]}`.

        Raises:
            McpConnectionError, McpError, ShapeError: it could not be read.
        """
        self._connected()
        return await self._request("resources/read", {"uri": uri}, READ_RESOURCE, _SHORT_S)

    async def settled(self) -> None:
        """Return when no list is being refreshed."""
        for refresher in self._refreshers.values():
            await refresher.settled()

    def roots(self) -> list[JsonObject]:
        """The workspace's folders."""
        return [
            {"uri": folder.as_uri(), "name": folder.name}
            for folder in self._context.session.workspace.folders
        ]

    def notified(self, method: str, params: Mapping[str, Any]) -> None:
        """Handle a notification: a changed list, or a call's progress."""
        if method == "notifications/progress":
            self._progress.take(params)
            return
        kind = method.removeprefix("notifications/").removesuffix("/list_changed")
        refresher = self._refreshers.get(kind)
        capabilities = {} if self._connection is None else self._connection.capabilities
        if refresher is not None and kind in capabilities:
            refresher.notice()

    def failed(self, error: Exception) -> None:
        """Handle an invalid message."""
        if self.status is not McpServerStatus.CONNECTED:
            return
        logger.error("MCP ERROR (%s): %s", self.name, error)
        self._context.diagnostics.emit("error", f"MCP ERROR ({self.name})")
        self.status = McpServerStatus.DISCONNECTED

    async def call_tool(self, tool: str, arguments: JsonObject, call_id: str) -> JsonObject:
        """Call a tool by the server's own name. Never raises for what the server does.

        Returns:
            The result, or `{error: {message, isError: true}}`.
        """
        token = self._context.session.ids.uuid("mcp-progress")
        self._progress.open(token, call_id)
        try:
            result = await self._request(
                "tools/call",
                {"name": tool, "arguments": arguments, "_meta": {"progressToken": token}},
                CALL_TOOL,
                self.config.timeout_s,
                adjust=compliant,
            )
            if self._discovery is not None:
                self._discovery.check_output(tool, result)
            return result
        except (McpError, McpConnectionError, ShapeError) as error:
            return {"error": {"message": str(error), "isError": True}}
        finally:
            self._progress.close(token)

    async def _request(
        self,
        method: str,
        params: JsonObject,
        shape: Any,
        timeout_s: float,
        *,
        adjust: Callable[[JsonObject], JsonObject] | None = None,
    ) -> JsonObject:
        if self._connection is None:
            raise McpConnectionError("Not connected")
        answer: JsonObject = await self._connection.request(
            method, params, shape, timeout_s=timeout_s, adjust=adjust
        )
        return answer

    def _connected(self) -> Discovery:
        if self.status is not McpServerStatus.CONNECTED or self._discovery is None:
            raise McpConnectionError(
                "Client is not connected, must connect before interacting with the server. "
                f"Current state is {self.status}"
            )
        return self._discovery

    async def _close(self) -> None:
        self._leaving.abort()
        connection, self._connection, self._discovery = self._connection, None, None
        if connection is not None:
            await connection.close()
        for refresher in self._refreshers.values():
            await refresher.settled()

    def _tools(self, listed: list[JsonObject]) -> list[DiscoveredMCPTool]:
        origin = ToolOrigin(
            server_name=self.name,
            trusted=bool(self.config.trust) and self._context.trusted(),
            call=self.call_tool,
            allowlist=self._context.allowlist,
            on_use=self._context.diagnostics.user_interacted,
        )
        return [DiscoveredMCPTool(wire, origin) for wire in listed if self._enabled(wire)]

    def _enabled(self, wire: JsonObject) -> bool:
        if not wire["name"]:
            logger.warning("MCP server '%s' has a tool without a name; skipped.", self.name)
            return False
        return self.config.enables(wire["name"])

    def _new_refreshers(self) -> dict[str, Refresher]:
        return {
            "tools": self._refresher("Tools", self._refresh_tools),
            "resources": self._refresher("Resources", self._refresh_resources),
            "prompts": self._refresher("Prompts", self._refresh_prompts),
        }

    def _refresher(
        self, what: str, work: Callable[[Callable[[], Awaitable[bool]]], Awaitable[None]]
    ) -> Refresher:
        async def fetch(unchanged: Callable[[], Awaitable[bool]]) -> bool:
            if self.status is not McpServerStatus.CONNECTED:
                return False
            await work(unchanged)
            return True

        async def changed() -> None:
            self._context.diagnostics.emit("info", f"{what} updated for server: {self.name}")

        return Refresher(
            what=f"{what.lower()} of {self.name}",
            fetch_and_replace=fetch,
            changed=changed,
            tasks=self._context.tasks,
            clock=self._context.session.clock,
            leaving=self._leaving.signal,
        )

    async def _refresh_tools(self, unchanged: Callable[[], Awaitable[bool]]) -> None:
        for registries in list(self._registries):
            tools = self._tools(await self._connected().tools(_SHORT_S))
            current = registries.tools.of_server(self.name)
            known = {tool.name for tool in current} | {tool.server_tool_name for tool in current}
            same = len(tools) == len(current) and all(
                tool.name in known or tool.server_tool_name in known for tool in tools
            )
            if same and await unchanged():
                tools = self._tools(await self._connected().tools(_SHORT_S))
            registries.tools.set_server(self.name, tools)

    async def _refresh_resources(self, unchanged: Callable[[], Awaitable[bool]]) -> None:
        found = await self._connected().resources(_SHORT_S)
        for registries in list(self._registries):
            current = {item.uri for item in registries.resources.of_server(self.name)}
            same = len(found) == len(current) and all(item.uri in current for item in found)
            if same and await unchanged():
                found = await self._connected().resources(_SHORT_S)
            registries.resources.set_server(self.name, found)

    async def _refresh_prompts(self, unchanged: Callable[[], Awaitable[bool]]) -> None:
        found = await self._connected().prompts(_SHORT_S)
        for registries in list(self._registries):
            current = {item.name for item in registries.prompts.of_server(self.name)}
            same = len(found) == len(current) and all(item.name in current for item in found)
            if same and await unchanged():
                found = await self._connected().prompts(_SHORT_S)
            registries.prompts.remove_server(self.name)
            for prompt in found:
                registries.prompts.register(prompt)
