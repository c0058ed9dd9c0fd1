"""A connection with one server, in a task of its own.

The same task must open and close the client library's streams and scopes, so a connection is a
task: `open` starts it and returns when the server has answered `initialize`, `close` ends it.
Requests may come from any task.

Source: the MCP TypeScript SDK's `shared/protocol` and `client/index`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import anyio
import anyio.abc
from mcp.shared.dispatcher import CallOptions, DispatchContext
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext

from services.background import BackgroundTasks
from services.clock import Clock
from services.mcp.errors import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    REQUEST_TIMEOUT,
    McpConnectionError,
    McpError,
    from_library,
    innermost,
)
from services.mcp.http import HttpFailures
from services.mcp.results import INITIALIZE, PROTOCOL_VERSION, SUPPORTED_VERSIONS, checked
from services.wire import Json, JsonObject
from services.zod import Shape

__all__ = ["ClientFacts", "Connection", "ConnectionEvents", "Streams"]

Streams = AbstractAsyncContextManager[Any]
"""A transport, not yet opened: a pair of streams for a dispatcher."""

_VERSION_HEADER: Final = "mcp-protocol-version"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFacts:
    """What a client says of itself in `initialize`."""

    name: str = "gemini-cli-mcp-client"
    version: str
    capabilities: JsonObject = field(default_factory=lambda: {"roots": {"listChanged": True}})


class ConnectionEvents(Protocol):
    """Receives what a server sends on its own, synchronously and in order of arrival."""

    def roots(self) -> list[JsonObject]:
        """The folders that the server may know."""
        ...

    def notified(self, method: str, params: Mapping[str, Any]) -> None:
        """A notification."""
        ...

    def failed(self, error: Exception) -> None:
        """An invalid message, or a response without a request."""
        ...


class Connection:
    """An initialized connection with a server. Made by `open`."""

    def __init__(
        self,
        events: ConnectionEvents,
        clock: Clock,
        *,
        timeout_s: float,
        failures: HttpFailures | None,
    ) -> None:
        self._events = events
        self._clock = clock
        self._timeout_s = timeout_s
        self._failures = failures
        self._next_id = 0
        self._dispatcher: JSONRPCDispatcher[TransportContext] | None = None
        self._headers: dict[str, str] = {}
        self._requests: anyio.abc.TaskGroup | None = None
        loop = asyncio.get_running_loop()
        self._introduced: asyncio.Future[None] = loop.create_future()
        self._ended: asyncio.Future[None] = loop.create_future()
        self._leave = anyio.Event()
        self._life = anyio.CancelScope()
        self.closed = False
        """True when no more requests can be made."""
        self.capabilities: JsonObject = {}
        self.instructions: str | None = None

    @classmethod
    async def open(
        cls,
        transport: Streams,
        events: ConnectionEvents,
        *,
        name: str,
        client: ClientFacts,
        clock: Clock,
        tasks: BackgroundTasks,
        timeout_s: float,
        failures: HttpFailures | None = None,
    ) -> Connection:
        """Open `transport` and send `initialize`.

        Args:
            transport: opened and closed by the connection's own task.
            events: receives notifications, and returns the roots.
            name: the server's name, for the task.
            client: what the server learns of this program.
            clock: stands still during a wait for the server.
            tasks: where the connection's task runs.
            timeout_s: seconds for each request.
            failures: the refusals of an HTTP transport.

        Raises:
            McpError: the server refused, or did not answer in time.
            McpConnectionError: it cannot be reached.
            ShapeError: its answer has another shape.
        """
        connection = cls(events, clock, timeout_s=timeout_s, failures=failures)
        tasks.start(connection._run(transport, client), name=f"mcp-{name}")
        try:
            with clock.real_work():
                await asyncio.wait([connection._introduced], timeout=timeout_s)
            if not connection._introduced.done():
                raise McpError(REQUEST_TIMEOUT, "Request timed out")
            connection._introduced.result()
        except BaseException:
            await connection.close()
            raise
        return connection

    async def close(self) -> None:
        """End the connection and its task. Safe to call twice."""
        self.closed = True
        self._leave.set()
        if not self._introduced.done() or self._introduced.exception() is not None:
            self._life.cancel()
        with self._clock.real_work():
            await asyncio.shield(self._ended)

    async def ended(self) -> None:
        """Return when the connection's task has ended."""
        await asyncio.shield(self._ended)

    async def request(
        self,
        method: str,
        params: JsonObject,
        shape: Shape,
        *,
        timeout_s: float | None = None,
        adjust: Callable[[JsonObject], JsonObject] | None = None,
    ) -> Json:
        """Send a request and return its result. Cancelling the caller cancels the request.

        Args:
            method: the protocol's method.
            params: its parameters.
            shape: the shape of the result.
            timeout_s: seconds; the connection's where it is `None`.
            adjust: changes the result before its shape is checked.

        Raises:
            McpError: the server returned an error, did not answer in time, or ended.
            McpConnectionError: there is no connection, or HTTP refused the request.
            ShapeError: the answer has another shape.
        """
        if self.closed or self._requests is None:
            raise McpConnectionError("Not connected")
        answer: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        asking = anyio.CancelScope()
        limit_s = timeout_s or self._timeout_s
        self._requests.start_soon(self._ask, asking, method, params, limit_s, answer)
        try:
            with self._clock.real_work():
                raw = await asyncio.shield(answer)
        except asyncio.CancelledError:
            # Upstream keeps waiting for the answer until the time limit.
            asking.cancel()
            raise
        return checked(shape, raw if adjust is None else adjust(raw))

    async def _ask(
        self,
        asking: anyio.CancelScope,
        method: str,
        params: JsonObject,
        timeout_s: float,
        answer: asyncio.Future[JsonObject],
    ) -> None:
        if self._dispatcher is None:
            raise RuntimeError("not connected yet")
        request_id, self._next_id = self._next_id, self._next_id + 1
        options: CallOptions = {
            "request_id": request_id,
            "timeout": timeout_s,
            "headers": self._headers,
            "cancel_on_abandon": method != "initialize",
        }
        failure: Exception = McpError(CONNECTION_CLOSED, "Connection closed")
        try:
            with asking:
                answer.set_result(await self._dispatcher.send_raw_request(method, params, options))
        except MCPError as error:
            refused = self._failures.take(request_id) if self._failures is not None else None
            failure = refused or from_library(error)
        except OSError as error:
            failure = McpConnectionError(str(error))
        finally:
            if not answer.done():
                answer.set_exception(failure)
                # The caller may have stopped waiting.
                answer.exception()

    async def _run(self, transport: Streams, client: ClientFacts) -> None:
        """The connection's task. Waiting callers get its error; it raises only a cancellation."""
        problem: BaseException | None = None
        try:
            with self._life:
                await self._converse(transport, client)
        except asyncio.CancelledError as error:
            problem = error
            raise
        except BaseException as error:  # noqa: BLE001 - a task's border; callers get it
            problem = innermost(error)
        finally:
            self.closed = True
            self._requests = None
            if not self._introduced.done():
                self._introduced.set_exception(_failure(problem, self._failures))
                self._introduced.exception()
            if not self._ended.done():
                self._ended.set_result(None)

    async def _converse(self, transport: Streams, client: ClientFacts) -> None:
        async with transport as (incoming, outgoing):
            self._dispatcher = JSONRPCDispatcher(
                incoming, outgoing, on_stream_exception=self._broken_message
            )
            async with anyio.create_task_group() as group:
                self._requests = group
                listening = await group.start(self._listen, self._dispatcher)
                await self._introduce(client)
                self._introduced.set_result(None)
                await self._leave.wait()
                listening.cancel()

    async def _listen(
        self,
        dispatcher: JSONRPCDispatcher[TransportContext],
        *,
        task_status: anyio.abc.TaskStatus[anyio.CancelScope],
    ) -> None:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                await group.start(dispatcher.run, self._asked, _notified_later, self._notified)
                task_status.started(scope)
        # Either side has closed: the waiting callers have the error.
        self.closed = True
        self._leave.set()

    async def _introduce(self, client: ClientFacts) -> None:
        result = await self.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "capabilities": client.capabilities,
                "clientInfo": {"name": client.name, "version": client.version},
            },
            INITIALIZE,
        )
        spoken = result["protocolVersion"]
        if spoken not in SUPPORTED_VERSIONS:
            raise McpConnectionError(f"Server's protocol version is not supported: {spoken}")
        self.capabilities = result["capabilities"]
        self.instructions = result.get("instructions")
        self._headers = {_VERSION_HEADER: spoken}
        await self._notify("notifications/initialized")

    async def _notify(self, method: str) -> None:
        if self._dispatcher is not None:
            await self._dispatcher.notify(method, None, {"headers": self._headers})

    async def _asked(
        self,
        context: DispatchContext[TransportContext],
        method: str,
        params: Mapping[str, Any] | None,
    ) -> JsonObject:
        if method == "ping":
            return {}
        if method == "roots/list":
            return {"roots": self._events.roots()}
        raise MCPError(code=METHOD_NOT_FOUND, message="Method not found")

    def _notified(self, method: str, params: Mapping[str, Any] | None) -> bool:
        self._events.notified(method, params or {})
        return True

    async def _broken_message(self, error: Exception) -> None:
        self._events.failed(error)


async def _notified_later(
    context: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
) -> None:
    """Unused: `_notified` takes every notification in order of arrival."""


def _failure(problem: BaseException | None, failures: HttpFailures | None) -> Exception:
    if isinstance(problem, Exception):
        return problem
    if failures is not None and failures.last is not None:
        return failures.last
    return McpConnectionError("Not connected")
