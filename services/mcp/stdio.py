"""The stdio transport: JSON-RPC messages as lines of a child process.

Unlike the client library's transport, it gives a child exactly the configured environment, ends the
child with the session, and accepts messages with half a surrogate pair.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from services.mcp.child import ChildProcess
from services.mcp.errors import McpConnectionError
from services.mcp.json_text import parse_json
from services.wire import js_json

__all__ = ["Incoming", "stdio_transport"]

Incoming = SessionMessage | Exception
"""A message, or the error of an invalid one."""


@asynccontextmanager
async def stdio_transport(
    process: ChildProcess,
) -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]
]:
    """Exchange messages with `process`; leaving ends it.

    An invalid message, or a response without a request, arrives as an exception.
    """
    incoming, received = anyio.create_memory_object_stream[Incoming](0)
    sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    asked: set[str | int] = set()
    async with anyio.create_task_group() as group:
        group.start_soon(_read, process, incoming, asked)
        group.start_soon(_write, process, outgoing, asked, group)
        try:
            yield received, sent
        finally:
            with anyio.CancelScope(shield=True):
                await process.end()
            group.cancel_scope.cancel()
    for stream in (incoming, received, sent, outgoing):
        stream.close()


async def _read(
    process: ChildProcess, incoming: MemoryObjectSendStream[Incoming], asked: set[str | int]
) -> None:
    async with incoming:
        while (line := await process.read_line()) is not None:
            try:
                await incoming.send(_message(line, asked))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return


async def _write(
    process: ChildProcess,
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    asked: set[str | int],
    group: TaskGroup,
) -> None:
    async with outgoing:
        async for item in outgoing:
            message = item.message
            if isinstance(message, JSONRPCRequest):
                asked.add(message.id)
            elif isinstance(message, JSONRPCNotification) and message.method.endswith("/cancelled"):
                asked.discard((message.params or {}).get("requestId", ""))
            wire = message.model_dump(by_alias=True, mode="python", exclude_unset=True)
            try:
                process.write(f"{js_json(wire)}\n".encode(errors="replace"))
            except McpConnectionError:
                return


def _message(line: bytes, asked: set[str | int]) -> Incoming:
    text = line.decode(errors="replace").removesuffix("\r")
    try:
        message = jsonrpc_message_adapter.validate_python(parse_json(text), by_name=False)
    except (ValueError, ValidationError) as error:
        return ValueError(str(error)[:500])
    if isinstance(message, (JSONRPCResponse, JSONRPCError)):
        if message.id is None or message.id not in asked:
            return ValueError(f"Received a response for an unknown message ID: {text[:200]}")
        asked.discard(message.id)
    return SessionMessage(message)
