"""`WireTransport`: a `WireServer` in the place of the network of a client of httpx or httpx2."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

import httpx
import httpx2

from services.model.errors import NetworkError
from services.providers.wire.failures import library_failure
from services.providers.wire.server import WireAnswer, WireServer, WireStream

__all__ = ["WireTransport", "client_response"]

_NO_DRAINING: Final = {"http_version": b"HTTP/2"}
"""A client of HTTP/1.1 may read on after the end of a stream, to use the connection again."""


class WireTransport(httpx.AsyncBaseTransport, httpx2.AsyncBaseTransport):
    """Answers the requests of a client from a `WireServer`."""

    def __init__(self, server: WireServer) -> None:
        self._server = server

    async def handle_async_request(self, request: Any) -> Any:
        """Answer a request of httpx or httpx2, with a response of the same library.

        Raises:
            AbortError: the request was aborted.
            httpx.TransportError, httpx2.TransportError: the generator raised a `NetworkError`.
        """
        library = httpx if isinstance(request, httpx.Request) else httpx2
        body = await request.aread()
        try:
            answer = await self._server.answer(request.method, str(request.url), body)
        except NetworkError as error:
            failure = library_failure(library, error, answering=False)
            raise failure from failure.__cause__
        return client_response(library, answer)


def client_response(library: ModuleType, answer: WireAnswer) -> Any:
    """Return an answer as a response of httpx or httpx2."""
    whole = answer.stream is None
    stream = library.ByteStream(answer.body) if whole else _Body(library, answer.stream)
    return library.Response(
        answer.status, headers=dict(answer.headers), stream=stream, extensions=_NO_DRAINING
    )


class _Body(httpx.AsyncByteStream, httpx2.AsyncByteStream):
    """The pieces of an answer, for a client of either library."""

    def __init__(self, library: ModuleType, pieces: WireStream | None) -> None:
        assert pieces is not None
        self._library = library
        self._pieces = pieces

    def __aiter__(self) -> _Body:
        return self

    async def __anext__(self) -> bytes:
        try:
            return await anext(self._pieces)
        except NetworkError as error:
            failure = library_failure(self._library, error, answering=True)
            raise failure from failure.__cause__

    async def aclose(self) -> None:
        """Close the model's stream."""
        await self._pieces.aclose()
