"""A small HTTP server on the loopback address, for programs that a run starts or asks.

`serving` accepts connections, and `next_request` reads the requests of one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from typing import Final

import h11

from services.net.listening import listening_socket

__all__ = ["Handle", "LoopbackRequest", "next_request", "serving", "until_closed"]

_HOST: Final = "127.0.0.1"
_MOST_BYTES: Final = 64 * 1024 * 1024
_READ_BYTES: Final = 64 * 1024

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Answers the requests of one connection, which is closed then."""


@dataclass(frozen=True, slots=True)
class LoopbackRequest:
    """One request."""

    method: str
    target: str
    """Path and query of the address."""
    headers: Mapping[str, str]
    """By lower-case names."""
    body: bytes


@asynccontextmanager
async def serving(handle: Handle) -> AsyncIterator[int]:
    """Accept connections on a port that the system chooses, and return the port.

    Leaving ends the server and its connections.
    """
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        task.add_done_callback(connections.discard)
        # Only the end of the server cancels this; asyncio's streams would report a failure.
        with suppress(asyncio.CancelledError), closing(writer):
            await handle(reader, writer)

    listener = listening_socket(_HOST, 0)
    server = await asyncio.start_server(connected, sock=listener)
    try:
        yield listener.getsockname()[1]
    finally:
        server.close()
        remaining = list(connections)
        for task in remaining:
            task.cancel()
        if remaining:
            await asyncio.wait(remaining)
        await server.wait_closed()


async def next_request(
    connection: h11.Connection, reader: asyncio.StreamReader
) -> LoopbackRequest | None:
    """Read one request; `None` at the end of the connection.

    Raises:
        h11.ProtocolError: It is not HTTP.
        ConnectionError: It is too long, or the client left.
    """
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_READ_BYTES))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > _MOST_BYTES:
                raise ConnectionError("the request is too long")
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
            method, target = head.method.decode("latin-1"), head.target.decode("latin-1")
            return LoopbackRequest(method, target, headers, bytes(body))
        else:
            return None


async def until_closed(reader: asyncio.StreamReader) -> None:
    """Return when the client has closed its side; what it still sends is dropped."""
    while await reader.read(_READ_BYTES):
        pass
