"""All servers of a session.

Source: core `tools/mcp-client-manager.ts`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from services.mcp.client import McpClient
from services.mcp.config import McpServerConfig, merge_configs
from services.mcp.context import McpContext, Registries
from services.mcp.enablement import ServerEnablement
from services.mcp.errors import is_authentication_error
from services.mcp.registries import McpPrompt, McpResource
from services.mcp.sign_in import SignInError
from services.mcp.states import McpServerStatus, SignedIn
from services.wire import JsonObject

__all__ = ["McpManager", "UnknownServer"]

logger = logging.getLogger(__name__)

_MOMENT_MS: Final = 0.001


class UnknownServer(Exception):
    """No server of that name is configured."""


@dataclass(eq=False, slots=True)
class _Discovery:
    """A discovery in progress."""

    client: McpClient
    first: bool
    """Whether the client was made for it."""
    over: asyncio.Event = field(default_factory=asyncio.Event)


class McpManager:
    """The servers of one session, and what they offer to the main agent.

    Made by `services.mcp.session.open_mcp`.
    """

    def __init__(
        self,
        configs: Mapping[str, McpServerConfig],
        context: McpContext,
        main: Registries,
        enablement: ServerEnablement,
    ) -> None:
        self._configured = dict(configs)
        self._context = context
        self.enablement = enablement
        """The servers that the user has switched off."""
        self.main = main
        """The main agent's registries."""
        self._clients: dict[str, McpClient] = {}
        self._known: dict[str, McpServerConfig] = {}
        self._beside: list[McpClient] = []
        """Clients that another client of the same server has replaced in the table."""
        self._under_way: list[_Discovery] = []
        self.diagnostics = context.diagnostics
        self.errors: dict[str, str] = {}
        """Why the servers that could not be reached last time could not."""
        self.unauthorized: set[str] = set()
        """The servers that wanted a sign-in last time."""
        self.blocked: list[str] = []
        """Servers that the settings forbid."""

    @property
    def names(self) -> tuple[str, ...]:
        """The configured servers, and those that agents brought along."""
        return tuple(dict.fromkeys((*self._configured, *self._known)))

    async def start(self) -> None:
        """Connect to all configured servers at once, and discover what they offer.

        Returns when each discovery has ended; errors become diagnostics. Called once, before the
        first request to the model.
        """
        if not self._context.trusted():
            return
        await self._all(self.discover(name, config) for name, config in self._configured.items())

    async def discover(
        self, name: str, config: McpServerConfig, registries: Registries | None = None
    ) -> None:
        """Connect to one server and register what it offers; errors become diagnostics.

        Returns when the discoveries that were in progress have ended, too.

        Args:
            name: the server's name.
            config: merged with the known configuration of that name.
            registries: a subagent's; `None`: the main agent's.
        """
        known = self._known.get(name)
        if known is not None and _rivals(known, config):
            logger.warning('Skipping MCP config for server with name "%s".', name)
            return
        final = config
        if known is not None and known != config:
            from_extension = config.extension is not None and known.extension is None
            final = merge_configs(config, known) if from_extension else merge_configs(known, config)
        self._known[name] = final
        key = final.key(name)
        if registries is None:
            await self._end_others(name, key)
        if not final.reachable or self._is_blocked(name):
            return
        if self.enablement.is_off(name):
            await self._all(client.disconnect() for client in self._taken(name))
            return
        if not self._context.trusted():
            return
        client = self._clients.get(key)
        first = client is None or (registries is not None and self._is_anothers(client))
        if client is None or first:
            self._beside += [] if client is None else [client]
            client = self._clients[key] = McpClient(name, final, self._context)
        before, mine = list(self._under_way), _Discovery(client, first)
        with self._counted(mine):
            await self._reach(client, registries or self.main)
            for other in before:
                await other.over.wait()
            if registries is not None and self._under_way[-1] is not mine:
                # Virtual time stands still until the later discoveries have ended as well: so in a
                # replay the callers continue in the order of their calls.
                await self._context.session.clock.sleep(_MOMENT_MS)

    async def restart_server(self, name: str) -> None:
        """End one server and start it again.

        Raises:
            UnknownServer: no server has that name.
        """
        config = self._known.get(name)
        if config is None:
            raise UnknownServer(f'No MCP server registered with the name "{name}"')
        await self._all(client.disconnect() for client in self._taken(name))
        await self.discover(name, config)

    async def restart(self) -> None:
        """End every server, and start those that the user has not switched off."""
        await self._all(client.disconnect() for client in self._taken(None))
        known = {**self._configured, **self._known}
        await self._all(self.discover(name, config) for name, config in known.items())

    async def start_extension(self, configs: Mapping[str, McpServerConfig]) -> None:
        """Start the servers of an extension."""
        await self._all(self.discover(name, config) for name, config in configs.items())

    async def stop_extension(self, extension: str) -> None:
        """End the servers of an extension, and forget them."""
        for name, config in list(self._known.items()):
            if config.extension == extension:
                await self._all(client.disconnect() for client in self._taken(name))
                self._known.pop(name, None)
                if name in self.blocked:
                    self.blocked.remove(name)
                if name in self._configured:
                    await self.discover(name, self._configured[name])

    def config(self, name: str) -> McpServerConfig | None:
        """How the server called `name` is configured."""
        return self._known.get(name) or self._configured.get(name)

    async def sign_in(self, name: str) -> None:
        """Sign in to a server in the user's browser, and start it again.

        Raises:
            UnknownServer: no server has that name.
            SignInError: the sign-in failed, or no user can sign in here.
        """
        config = self.config(name)
        if config is None:
            raise UnknownServer(f"MCP server '{name}' not found.")
        if self._context.sign_in is None:
            raise SignInError("no browser can be opened here; use `parity mcp auth`")
        if config.endpoint is None:
            raise SignInError("it is a program, which has no address to sign in to")
        await self._context.sign_in.run(name, config.endpoint, config.oauth)
        await self.restart_server(name)

    def signed_in(self, name: str) -> SignedIn:
        """Whether the user has signed in to the server called `name`."""
        stored = self._context.tokens.credentials(name)
        if stored is None:
            wanted = name in self.wanting_sign_in()
            return SignedIn.NO if wanted else SignedIn.NOT_NEEDED
        expires = stored["token"].get("expiresAt")
        expired = (
            isinstance(expires, (int, float)) and expires < self._context.session.clock.now_ms()
        )
        return SignedIn.EXPIRED if expired else SignedIn.YES

    def wanting_sign_in(self) -> list[str]:
        """The servers to which a user can or must sign in."""
        found = []
        for name in self.names:
            config = self.config(name)
            enabled = config is not None and config.oauth.enabled
            if enabled or name in self.unauthorized:
                found.append(name)
        return found

    async def stop(self) -> None:
        """End every server. Safe to call twice."""
        beside, self._beside = self._beside, []
        await self._all(client.disconnect() for client in [*self._taken(None), *beside])

    async def settled(self) -> None:
        """Return when no server's list is being refreshed.

        A call may change its server's tools: a caller waits here so that the next request to the
        model declares them in every run.
        """
        for client in self._all_clients():
            await client.settled()

    def client(self, name: str) -> McpClient | None:
        """The client of the server called `name`."""
        return next((item for item in self._clients.values() if item.name == name), None)

    def status(self, name: str) -> McpServerStatus:
        """The status of the server called `name`."""
        if name in self.blocked:
            return McpServerStatus.BLOCKED
        client = self.client(name)
        return McpServerStatus.DISCONNECTED if client is None else client.status

    def instructions(self) -> str:
        """The servers' instructions for the model, for the system instruction."""
        return "\n\n".join(
            f"The following are instructions provided by the tool server '{client.name}':\n"
            f"---[start of server instructions]---\n{client.instructions}\n"
            "---[end of server instructions]---"
            for client in self._clients.values()
            if client.instructions
        )

    def prompts(self) -> list[McpPrompt]:
        """The prompts of all servers, for `prompt_commands`: by server as configured, by name."""
        return [each for name in self._known for each in self.main.prompts.of_server(name)]

    def all_resources(self) -> list[McpResource]:
        """Every resource, in order of discovery."""
        return self.main.resources.all()

    def find_resource(self, uri: str) -> McpResource | None:
        """The resource called `<server>:<uri>`, or the first with that URI."""
        return self.main.resources.find(uri)

    async def read_resource(self, resource: McpResource) -> JsonObject | None:
        """Read `resource`; `None` when its server is no longer connected.

        Raises:
            McpConnectionError, McpError, ShapeError: it could not be read.
        """
        client = self.client(resource.server_name)
        return None if client is None else await client.read_resource(resource.uri)

    def remove_registries(self, registries: Registries) -> None:
        """Stop keeping a subagent's registries up to date."""
        for client in self._all_clients():
            client.remove_registries(registries)

    def _all_clients(self) -> list[McpClient]:
        return [*self._clients.values(), *self._beside]

    def _is_anothers(self, client: McpClient) -> bool:
        """Whether another agent is starting `client`, so that the caller gets one of its own.

        Agents of one turn that run directly all look for a client before any of them has made one;
        as sessions they look one after the other.
        """
        if self._context.session.settings.adk.agent_session_subagent_enabled:
            return False
        if client.status is not McpServerStatus.CONNECTING:
            return False
        return any(each.first and each.client is client for each in self._under_way)

    @contextmanager
    def _counted(self, discovery: _Discovery) -> Iterator[None]:
        self._under_way.append(discovery)
        try:
            yield
        finally:
            self._under_way.remove(discovery)
            discovery.over.set()

    async def _reach(self, client: McpClient, registries: Registries) -> None:
        try:
            if client.status is McpServerStatus.DISCONNECTED:
                await client.connect()
            await client.discover_into(registries)
            self.errors.pop(client.name, None)
            self.unauthorized.discard(client.name)
        except Exception as error:  # noqa: BLE001 - an error of one server must not end the session
            self.errors[client.name] = str(error)
            if is_authentication_error(error):
                self.unauthorized.add(client.name)
            else:
                self.diagnostics.emit(
                    "error", f"Error during discovery for MCP server '{client.name}': {error}"
                )

    async def _end_others(self, name: str, key: str) -> None:
        """End servers of this name with another configuration."""
        for other, client in list(self._clients.items()):
            if client.name == name and other != key:
                del self._clients[other]
                await client.disconnect()

    def _is_blocked(self, name: str) -> bool:
        settings = self._context.session.settings
        allowed, forbidden = settings.allowed_mcp_servers, settings.blocked_mcp_servers
        blocked = bool(allowed and name not in allowed) or name in forbidden
        if blocked and name not in self.blocked:
            self.blocked.append(name)
        return blocked

    def _taken(self, name: str | None) -> list[McpClient]:
        """Remove the clients of `name`, or all, from the table and return them."""
        taken = [item for item in self._clients.values() if name in (None, item.name)]
        self._clients = {key: item for key, item in self._clients.items() if item not in taken}
        return taken

    async def _all(self, works: Iterable[Coroutine[Any, Any, None]]) -> None:
        """Run everything at once."""
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)


def _rivals(one: McpServerConfig, other: McpServerConfig) -> bool:
    """True for servers of one name from two extensions."""
    return None not in (one.extension, other.extension) and one.extension != other.extension
