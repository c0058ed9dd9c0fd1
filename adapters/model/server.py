"""The model seam as a server on this machine, for agents in other programs.

`variables` has the environment that leads the clients of the known providers to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from typing import Any, Final, NamedTuple, Protocol

import h11

from adapters.model.seam import ModelSeam
from services.model.errors import NetworkError
from services.providers.wire.server import WireAnswer

__all__ = ["ModelServer", "open_model_server"]

_PIECE: Final = 1 << 16
_LARGEST: Final = 64 * 1024 * 1024
_KEY: Final = "replayed"
_PATHS: Final = {
    "GOOGLE_GEMINI_BASE_URL": "",
    "OPENAI_BASE_URL": "/v1",
    "ANTHROPIC_BASE_URL": "",
}
"""Variable → the path that a client appends its own paths to."""
_KEYS: Final = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")


class Waits(Protocol):
    """Marks the spans in which a program waits for an answer."""

    def model(self) -> AbstractContextManager[None]:
        """Mark one."""
        ...


class _Request(NamedTuple):
    method: str
    target: str
    body: bytes


class ModelServer:
    """A server of one conversation. It is reachable from this machine only."""

    def __init__(self, seam: ModelSeam, waits: Waits) -> None:
        self._seam = seam
        self._waits = waits
        self.url = ""

    @property
    def variables(self) -> Mapping[str, str]:
        """The variables for the program whose requests are to arrive here."""
        urls = {name: f"{self.url}{path}" for name, path in _PATHS.items()}
        return {**urls, **dict.fromkeys(_KEYS, _KEY)}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until either side closes it."""
        connection = h11.Connection(h11.SERVER)
        with suppress(ConnectionError, h11.RemoteProtocolError):
            while (request := await _read(connection, reader)) is not None:
                with self._waits.model():
                    await self._answer(request, connection, writer)
                if connection.our_state is not h11.DONE:
                    return
                if connection.their_state is not h11.DONE:
                    return
                connection.start_next_cycle()

    async def _answer(
        self, request: _Request, connection: h11.Connection, writer: asyncio.StreamWriter
    ) -> None:
        try:
            await _write(await self._seam.server.answer(*request), connection, writer)
        except NetworkError:
            # As a network does where a connection fails: the client gets no answer.
            writer.transport.abort()
            raise ConnectionError from None


async def _read(connection: h11.Connection, reader: asyncio.StreamReader) -> _Request | None:
    """Read the next request; `None` at the end of the connection."""
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_PIECE))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > _LARGEST:
                raise ConnectionError("request too long")
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            target, method = head.target.decode("latin-1"), head.method.decode("latin-1")
            return _Request(method, target, bytes(body))
        else:
            return None


async def _write(
    answer: WireAnswer, connection: h11.Connection, writer: asyncio.StreamWriter
) -> None:
    headers = list(answer.headers.items())
    if answer.stream is None:
        headers.append(("content-length", str(len(answer.body))))
    parts: list[Any] = [h11.Response(status_code=answer.status, headers=headers)]
    if answer.stream is None:
        parts += [h11.Data(data=answer.body), h11.EndOfMessage()]
    for part in parts:
        writer.write(connection.send(part) or b"")
    await writer.drain()
    if answer.stream is not None:
        try:
            async for piece in answer.stream:
                writer.write(connection.send(h11.Data(data=piece)) or b"")
                await writer.drain()
        finally:
            await answer.stream.aclose()
        writer.write(connection.send(h11.EndOfMessage()) or b"")
        await writer.drain()


@asynccontextmanager
async def open_model_server(seam: ModelSeam, waits: Waits) -> AsyncIterator[ModelServer]:
    """Open the server on a free port; leaving ends it and its connections."""
    made = ModelServer(seam, waits)
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        try:
            # Only the end of the server cancels this; asyncio's streams would report a failure.
            with suppress(asyncio.CancelledError):
                await made.serve(reader, writer)
        finally:
            connections.discard(task)
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()
        for task in (left := list(connections)):
            task.cancel()
        if left:
            await asyncio.wait(left)
        await server.wait_closed()
