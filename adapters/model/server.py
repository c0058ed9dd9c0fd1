"""The model seam as a server on this machine, for agents in other programs.

`variables` has the environment that leads the clients of the known providers to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from typing import Any, Final, Protocol

import h11

from adapters.model.seam import ModelSeam
from services.model.errors import NetworkError
from services.net.loopback import LoopbackRequest, next_request, serving
from services.providers.wire.server import WireAnswer

__all__ = ["ModelServer", "open_model_server"]

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
            while (request := await next_request(connection, reader)) is not None:
                with self._waits.model():
                    await self._answer(request, connection, writer)
                if connection.our_state is not h11.DONE:
                    return
                if connection.their_state is not h11.DONE:
                    return
                connection.start_next_cycle()

    async def _answer(
        self, request: LoopbackRequest, connection: h11.Connection, writer: asyncio.StreamWriter
    ) -> None:
        try:
            await _write(
                await self._seam.server.answer(request.method, request.target, request.body),
                connection,
                writer,
            )
        except NetworkError:
            # As a network does where a connection fails: the client gets no answer.
            writer.transport.abort()
            raise ConnectionError from None


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
    async with serving(made.serve) as port:
        made.url = f"http://127.0.0.1:{port}"
        yield made
