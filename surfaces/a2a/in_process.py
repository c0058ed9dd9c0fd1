"""`InProcess`: HTTP between a client and an application in the same event loop.

A response streams, as over a socket: httpx's own `ASGITransport` gives it when it is complete.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import httpx
from starlette.types import ASGIApp, Message, Scope

__all__ = ["InProcess"]

_DISCONNECT: Final[Message] = {"type": "http.disconnect"}


class InProcess(httpx.AsyncBaseTransport):
    """Calls an ASGI application.

    Args:
        app: the application.
        group: the requests are served in it.
    """

    def __init__(self, app: ASGIApp, group: asyncio.TaskGroup) -> None:
        self._app = app
        self._group = group

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response when it begins; its body arrives as the application sends it."""
        assert isinstance(request.stream, httpx.AsyncByteStream)
        body = b"".join([chunk async for chunk in request.stream])
        exchange = _Exchange(body)
        exchange.serving = self._group.create_task(
            exchange.serve(self._app, _scope(request)), name=f"served {request.url.path}"
        )
        try:
            started = await exchange.sent.get()
        except asyncio.CancelledError:
            await exchange.aclose()
            raise
        return httpx.Response(started["status"], headers=started["headers"], stream=exchange)


class _Exchange(httpx.AsyncByteStream):
    """One request and its response. It is its own iterator, which a reader may leave early."""

    def __init__(self, body: bytes) -> None:
        self.sent: asyncio.Queue[Message] = asyncio.Queue()
        self.serving: asyncio.Task[None] | None = None
        self._body: bytes | None = body
        self._gone = asyncio.Event()
        self._more = True

    async def serve(self, app: ASGIApp, scope: Scope) -> None:
        await app(scope, self._receive, self._send)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._more:
            raise StopAsyncIteration
        message = await self.sent.get()
        self._more = message.get("more_body", False)
        body: bytes = message.get("body", b"")
        return body

    async def aclose(self) -> None:
        """End the connection, and wait until the application has noticed."""
        self._gone.set()
        if self.serving is not None:
            await asyncio.wait([self.serving])

    async def _receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._gone.wait()
        return dict(_DISCONNECT)

    async def _send(self, message: Message) -> None:
        self.sent.put_nowait(message)


def _scope(request: httpx.Request) -> dict[str, Any]:
    url = request.url
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "scheme": url.scheme,
        "path": url.path,
        "raw_path": url.raw_path.partition(b"?")[0],
        "query_string": url.query,
        "server": (url.host, url.port),
        "client": ("127.0.0.1", 1),
        "root_path": "",
    }
