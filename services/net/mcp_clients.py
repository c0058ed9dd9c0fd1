"""The clients for MCP servers and their token endpoints: httpx2, under `Terms`.

The MCP library takes httpx2's clients only. A breach of the terms raises errors of httpx2,
since the library would end the whole connection for any other.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import httpx2

from services.confinement import Refused
from services.net.decoding import ACCEPTED, AnswerDecoder
from services.net.errors import NetError
from services.net.terms import Terms

__all__ = ["RefusedRequest", "open_mcp_client"]


class RefusedRequest(httpx2.TransportError):
    """The terms, or the session's confinement, do not allow the request or its answer."""


class _BrokenOff(httpx2.SSEError, httpx2.StreamError):
    """The answer breaks the terms. The library reports the text of either base class."""


def open_mcp_client(
    terms: Terms,
    *,
    timeout: float | None,
    headers: Mapping[str, str] | None = None,
    auth: httpx2.Auth | None = None,
    on_response: Callable[[httpx2.Response], Any] | None = None,
    wrapped: Callable[[httpx2.AsyncBaseTransport], httpx2.AsyncBaseTransport] | None = None,
) -> httpx2.AsyncClient:
    """A client whose requests and answers keep to `terms`; the caller closes it.

    It raises `RefusedRequest` where a request, and httpx2's errors where an answer breaks them.

    Args:
        terms: The limits.
        timeout: For each request, in seconds; `None`: without limit.
        headers: Sent with each request.
        auth: Adds credentials to requests.
        on_response: A coroutine function that each response is passed to.
        wrapped: Wraps the transport that enforces the terms.
    """
    transport: httpx2.AsyncBaseTransport = _Guarded(httpx2.AsyncHTTPTransport(), terms)
    return httpx2.AsyncClient(
        transport=transport if wrapped is None else wrapped(transport),
        auth=auth,
        timeout=timeout,
        headers={"accept-encoding": ACCEPTED, **(headers or {})},
        event_hooks={} if on_response is None else {"response": [on_response]},
        follow_redirects=False,
        trust_env=False,
    )


class _Guarded(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncBaseTransport, terms: Terms) -> None:
        self._inner = inner
        self._terms = terms

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            self._terms.check_request(str(request.url))
        except (NetError, Refused) as error:
            raise RefusedRequest(str(error)) from error
        response = await self._inner.handle_async_request(request)
        try:
            return self._bounded(request, response)
        except NetError as error:
            await response.aclose()
            raise RefusedRequest(str(error)) from error

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _bounded(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        headers = response.headers.copy()
        decoder = self._terms.decoder_of(request.method, response.status_code, headers)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        return httpx2.Response(
            response.status_code,
            headers=headers,
            stream=_Decoded(response.stream, decoder),
            extensions=response.extensions,
        )


class _Decoded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, decoder: AnswerDecoder) -> None:
        self._inner = inner
        self._decoder = decoder

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._inner:
                for piece in self._decoder.pieces(data):
                    yield piece
        except NetError as error:
            raise _BrokenOff(str(error)) from error

    async def aclose(self) -> None:
        await self._inner.aclose()
