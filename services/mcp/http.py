"""The client library's HTTP transports, with headers, tokens and upstream's error messages.

Source: core `tools/mcp-client.ts` (`createUrlTransport`, `createTransportRequestInit`); the SDK's
`client/streamableHttp`, `client/sse`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from services.mcp.errors import HttpStatusError, McpConnectionError
from services.mcp.json_text import parse_json
from services.mcp.limits import MESSAGE_BYTES
from services.net.addresses import origin
from services.net.mcp_clients import RefusedRequest, open_mcp_client
from services.net.terms import Terms

__all__ = ["HttpFailures", "TokenSource", "http_transport"]


class TokenSource(Protocol):
    """The bearer tokens for one server."""

    async def current(self) -> str | None:
        """The token for the next request, if there is one."""
        ...

    async def renewed(self, rejected: str) -> str | None:
        """Another token than `rejected`, which the server has refused; `None` if there is none."""
        ...


_UNREACHABLE = "x-parity-unreachable"


class HttpFailures:
    """Refused requests, by request id."""

    def __init__(self) -> None:
        self._by_id: dict[str | int | None, McpConnectionError] = {}
        self.last: McpConnectionError | None = None

    def take(self, request_id: str | int) -> McpConnectionError | None:
        """Remove and return the failure of a request."""
        return self._by_id.pop(request_id, None)

    async def note(self, response: httpx2.Response) -> None:
        """Keep a response that refuses a posted message, until a retry succeeds."""
        if response.request.method != "POST":
            return
        if response.status_code < 400:
            self.last = None
            if self._by_id:
                self._by_id.pop(_request_id(response.request), None)
            return
        try:
            body = (await response.aread()).decode(errors="replace")
        except (httpx2.TransportError, httpx2.StreamError) as error:
            body = str(error)
        if _UNREACHABLE in response.headers:
            failure = McpConnectionError(body or "fetch failed")
        else:
            failure = HttpStatusError(
                response.status_code, body, challenge=response.headers.get("www-authenticate")
            )
        self.last = failure
        request_id = _request_id(response.request)
        if request_id is not None:
            self._by_id[request_id] = failure


def _request_id(request: httpx2.Request) -> str | int | None:
    """The id of the posted JSON-RPC request; `None` for any other message."""
    try:
        asked: Any = parse_json(request.content.decode())
    except ValueError:
        return None
    found = asked.get("id") if isinstance(asked, dict) else None
    return found if isinstance(found, (str, int)) else None


class _Tolerant(httpx2.AsyncBaseTransport):
    """Turns a network error into a failure of one request, not of the connection, like `fetch`."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            if request.method != "POST":
                raise
            return httpx2.Response(
                502,
                headers={_UNREACHABLE: type(error).__name__},
                text=str(error) if isinstance(error, RefusedRequest) else "",
                request=request,
            )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Bearer(httpx2.Auth):
    """Adds the token to each request; one that the server rejects is renewed once."""

    def __init__(self, tokens: TokenSource) -> None:
        self._tokens = tokens

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        token = await self._tokens.current()
        # A header of the configuration wins over the stored token.
        if token is None or "authorization" in request.headers:
            yield request
            return
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        fresh = await self._tokens.renewed(token) if response.status_code == 401 else None
        if fresh is not None:
            request.headers["Authorization"] = f"Bearer {fresh}"
            yield request


def _client(
    url: str, headers: Mapping[str, str], token: TokenSource | None, failures: HttpFailures
) -> httpx2.AsyncClient:
    """A client for the server at `url`; its headers and tokens go to that origin only."""
    private = bool(headers) or token is not None
    return open_mcp_client(
        Terms(
            answer_bytes=MESSAGE_BYTES,
            endless_events=True,
            private=private,
            only_origin=origin(url) if private else None,
        ),
        headers=headers,
        auth=None if token is None else _Bearer(token),
        # Each request has its own time limit; an idle stream has none.
        timeout=None,
        on_response=failures.note,
        wrapped=_Tolerant,
    )


@asynccontextmanager
async def http_transport(
    url: str,
    *,
    headers: Mapping[str, str],
    token: TokenSource | None,
    failures: HttpFailures,
    events: bool,
) -> AsyncIterator[Any]:
    """The pair of streams that a dispatcher takes, to the server at `url`.

    Args:
        url: the server's endpoint.
        headers: sent with each request.
        token: the source of bearer tokens, if there is one.
        failures: receives refused requests.
        events: use the older transport with server-sent events, not streamable HTTP.
    """

    def client(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return _client(url, headers or {}, token, failures)

    if events:
        async with sse_client(url, headers=dict(headers), httpx_client_factory=client) as streams:
            yield streams
        return
    async with (
        client(dict(headers)) as opened,
        streamable_http_client(
            url, http_client=opened, terminate_on_close=False, max_sse_event_size=MESSAGE_BYTES
        ) as streams,
    ):
        yield streams
