"""Connecting to a configured server.

Source: core `tools/mcp-client.ts` (`connectToMcpServer`, `createTransport`).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NoReturn

from services.mcp.child import ChildProcess
from services.mcp.config import McpServerConfig, OAuthConfig
from services.mcp.connection import ClientFacts, Connection, ConnectionEvents, Streams
from services.mcp.context import McpContext
from services.mcp.environment import expand_variables, sanitized, server_environment
from services.mcp.errors import (
    HttpStatusError,
    McpConnectionError,
    UnauthorizedError,
    is_authentication_error,
)
from services.mcp.http import HttpFailures, TokenSource, http_transport
from services.mcp.sign_in import SignInError
from services.mcp.stdio import stdio_transport
from services.mcp.tokens import TokenStore
from services.net.addresses import require_encrypted_or_local
from services.net.errors import AddressRefused

__all__ = ["connect_to_server"]

logger = logging.getLogger(__name__)


async def connect_to_server(
    name: str, config: McpServerConfig, context: McpContext, events: ConnectionEvents
) -> Connection:
    """Reach the server: as a child process, over streamable HTTP, or by server-sent events.

    Raises:
        UnauthorizedError: it needs a login; the message says how.
        McpConnectionError, McpError, ShapeError: it cannot be reached, or answers wrongly.
    """
    opener = _Opener(name, config, context, events)
    if config.endpoint is not None:
        return await opener.network()
    if config.command is None:
        raise McpConnectionError(
            "Invalid configuration: missing httpUrl (for Streamable HTTP), url (for SSE), and "
            "command (for stdio)."
        )
    if not context.trusted():
        raise McpConnectionError(
            f"MCP server '{name}' uses stdio transport but current folder is not trusted. "
            "Use 'gemini trust' to enable it."
        )
    return await opener.open(_child(name, config.command, config, context))


class _StoredTokens:
    """The stored tokens of one server, as its requests take them."""

    def __init__(self, server: str, oauth: OAuthConfig, store: TokenStore) -> None:
        self._server = server
        self._oauth = oauth if oauth.enabled else OAuthConfig()
        self._store = store

    async def current(self) -> str | None:
        return await self._store.valid_token(self._server, self._oauth)

    async def renewed(self, rejected: str) -> str | None:
        return await self._store.renewed_token(self._server, self._oauth, rejected)


class _Opener:
    def __init__(
        self,
        name: str,
        config: McpServerConfig,
        context: McpContext,
        events: ConnectionEvents,
    ) -> None:
        self._name = name
        self._config = config
        self._context = context
        self._events = events

    async def open(self, transport: Streams, failures: HttpFailures | None = None) -> Connection:
        return await Connection.open(
            transport,
            self._events,
            name=self._name,
            client=ClientFacts(version=self._context.version),
            clock=self._context.session.clock,
            tasks=self._context.tasks,
            timeout_s=self._config.timeout_s,
            failures=failures,
        )

    async def network(self) -> Connection:
        config, context = self._config, self._context
        if config.auth_provider_type not in (None, "dynamic_discovery"):
            raise McpConnectionError(
                f"MCP server '{self._name}': authProviderType '{config.auth_provider_type}' is not "
                "supported; use a stored login or a header instead."
            )
        stored = context.tokens.credentials(self._name) is not None
        if not stored and config.oauth.enabled:
            self._info(
                f"MCP server '{self._name}' requires authentication using: /mcp auth {self._name}"
            )
        if config.headers or stored:
            try:
                require_encrypted_or_local(config.endpoint or "")
            except AddressRefused as error:
                raise McpConnectionError(f"MCP server '{self._name}': {error}") from error
        try:
            return await self._reach(stored=stored)
        except Exception as error:
            if not is_authentication_error(error):
                raise
            challenge = error.challenge if isinstance(error, HttpStatusError) else None
        if not config.oauth.enabled or context.sign_in is None:
            await self._raise_login()
        await self._sign_in(challenge)
        return await self._reach(stored=True)

    async def _reach(self, *, stored: bool) -> Connection:
        """Connect by the configured transports, with the stored token if there is one."""
        config, context = self._config, self._context
        token = _StoredTokens(self._name, config.oauth, context.tokens) if stored else None
        try:
            events = config.http_url is None and config.type == "sse"
            return await self._connect(_expanded(config, context), token, events=events)
        except Exception as error:  # noqa: BLE001 - after any error the older transport may work
            problem = error
        if not is_authentication_error(problem) and self._may_fall_back():
            logger.info("MCP server '%s': HTTP failed, trying SSE: %s", self._name, problem)
            try:
                # The core does not expand the headers of its second attempt either.
                return await self._connect(config.headers, token, events=True)
            except Exception as error:  # noqa: BLE001 - the first problem is the one to report
                if not is_authentication_error(error):
                    raise problem from None
                problem = error
        raise problem

    async def _sign_in(self, challenge: str | None) -> None:
        """Sign in, as the server's settings allow it.

        Raises:
            McpConnectionError: it failed, which the user has read.
        """
        context, config = self._context, self._config
        if context.sign_in is None:
            raise RuntimeError("no user can sign in")
        try:
            await context.sign_in.run(
                self._name, config.endpoint or "", config.oauth, challenge=challenge
            )
        except SignInError as error:
            problem = f"Failed to handle automatic OAuth for server '{self._name}'"
            context.diagnostics.emit("error", f"{problem}: {error}")
            raise McpConnectionError(problem) from error

    async def _connect(
        self, headers: Mapping[str, str], token: TokenSource | None, *, events: bool
    ) -> Connection:
        failures = HttpFailures()
        transport = http_transport(
            self._config.endpoint or "",
            headers=headers,
            token=token,
            failures=failures,
            events=events,
        )
        return await self.open(transport, failures)

    def _may_fall_back(self) -> bool:
        config = self._config
        return config.http_url is None and config.url is not None and config.type is None

    async def _raise_login(self) -> NoReturn:
        name = self._name
        stored = _StoredTokens(name, self._config.oauth, self._context.tokens)
        rejected = await stored.current() is not None
        message = (
            f"MCP server '{name}' rejected stored OAuth token. "
            f"Please re-authenticate using: /mcp auth {name}"
            if rejected
            else f"MCP server '{name}' requires authentication using: /mcp auth {name}"
        )
        self._info(message)
        raise UnauthorizedError(message)

    def _info(self, message: str) -> None:
        self._context.diagnostics.emit("info", message)


@asynccontextmanager
async def _child(
    name: str, command: str, config: McpServerConfig, context: McpContext
) -> AsyncIterator[Any]:
    settings = context.session.settings
    process = await ChildProcess.start(
        name,
        command,
        config.args,
        folder=context.session.workspace.root / (config.cwd or ""),
        environment=server_environment(
            context.session.environment.child_variables,
            config.env,
            allowed=settings.allowed_environment_variables,
            blocked=settings.blocked_environment_variables,
            extension=config.extension_variables,
        ),
    )
    async with stdio_transport(process) as streams:
        yield streams


def _expanded(config: McpServerConfig, context: McpContext) -> dict[str, str]:
    """The headers of a server, with variables filled in."""
    settings = context.session.settings
    known = sanitized(
        context.session.environment.variables,
        allowed=settings.allowed_environment_variables,
        blocked=settings.blocked_environment_variables,
    )
    known |= config.extension_variables
    return {key: expand_variables(value, known) for key, value in config.headers.items()}
