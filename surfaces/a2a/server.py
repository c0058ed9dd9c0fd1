"""The HTTP side: routes, limits and who may call.

Source: `packages/a2a-server` `http/app.ts`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing
from email.utils import formatdate
from typing import Any, Final

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.wire import Json, JsonObject
from surfaces.a2a.access import Access
from surfaces.a2a.card import AgentCards
from surfaces.a2a.command_methods import CommandMethods
from surfaces.a2a.extension.negotiation import EXTENSION_HEADERS, asked_version
from surfaces.a2a.protocol.routes import (
    A2A_JSON_MEDIA_TYPE,
    VERSION_HEADER,
    CurrentRpc,
    handler_for,
    rest_routes,
)
from surfaces.a2a.push.delivery import Callbacks
from surfaces.a2a.push.signing import KEYS_PATH
from surfaces.a2a.responses import encoded, json_response
from surfaces.a2a.rest import RestRoutes
from surfaces.a2a.rpc import Events, RpcMethods
from surfaces.a2a.tasks import Tasks
from surfaces.a2a.wire import RpcError, invalid_params

__all__ = ["MOST_BYTES", "make_app"]

MOST_BYTES: Final = 10 * 1024 * 1024
"""The largest body of a request."""
_CARD: Final = "/.well-known/agent-card.json"
_CURRENT_CARD: Final = f"/1.0{_CARD}"
"""The card of 1.x, for clients that cannot name a version."""
_CARD_SECONDS: Final = 300
_OPEN_PATHS: Final = frozenset({_CARD, _CURRENT_CARD, KEYS_PATH})
"""What callers may read without a token."""
_VERSION_NOT_SUPPORTED: Final = -32009
_UNSUPPORTED_TYPE: Final = -32005
_STREAM: Final = {"cache-control": "no-cache"}


def make_app(
    tasks: Tasks, rest: RestRoutes, access: Access, cards: AgentCards, callbacks: Callbacks
) -> Starlette:
    """The application.

    Args:
        tasks: the tasks.
        rest: the routes of the published server beside JSON-RPC.
        access: who may call.
        cards: the agent cards.
        callbacks: the callbacks to clients.
    """
    rpc = RpcMethods(tasks, callbacks.hosts, CommandMethods(tasks))
    handler = handler_for(tasks, callbacks.hosts, cards)
    current = CurrentRpc(handler)

    started = formatdate(tasks.machine.clock.now_ms() / 1000, usegmt=True)

    async def show_card(request: Request) -> Response:
        version = "1.0" if request.url.path != _CARD else request.headers.get(VERSION_HEADER)
        return _cached(request, encoded(cards.for_version(version)), started)

    async def show_keys(_: Request) -> Response:
        return json_response(callbacks.signer.keys())

    async def answer(request: Request) -> Response:
        return await _answer(rpc, current, request)

    routes = [
        Route(_CARD, show_card, methods=["GET"]),
        Route(_CURRENT_CARD, show_card, methods=["GET"]),
        Route(KEYS_PATH, show_keys, methods=["GET"]),
        Route("/", answer, methods=["POST"]),
        *rest.routes(),
        *rest_routes(handler),
    ]
    return Starlette(routes=routes, middleware=[Middleware(_Guard, access=access)])


class _Guard:
    """Serves only requests that may be served, and whose body is small enough."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        refusal = self._access.refusal(request, is_open=request.url.path in _OPEN_PATHS)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        body = None if _is_too_large(request) else await _body(receive)
        if body is None:
            await _too_large()(scope, receive, send)
            return
        read = [body]

        async def replay() -> Message:
            if read:
                return {"type": "http.request", "body": read.pop(), "more_body": False}
            return await receive()

        await self._app(scope, replay, _activating(scope, send))


def _is_too_large(request: Request) -> bool:
    """Whether the client says that the body is too large."""
    length = request.headers.get("content-length", "")
    return length.isascii() and length.isdecimal() and int(length) > MOST_BYTES


def _activating(scope: Scope, send: Send) -> Send:
    """`send`, with the headers that depend on the request.

    The response names the extension that is used (A2A, "Extensions"), and has the media type of the
    request: clients of protocol 0.3, and some of 1.x, know `application/json` only.
    """
    asked = Headers(scope=scope)
    added: dict[str, str] = {}
    try:
        extension = asked_version(
            value for name in EXTENSION_HEADERS for value in asked.getlist(name)
        )
    except RpcError:
        extension = None
    if extension is not None:
        added = dict.fromkeys(EXTENSION_HEADERS, extension)
    plain = asked.get("content-type", "").startswith("application/json")

    async def sends(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(added)
            if plain and headers.get("content-type") == A2A_JSON_MEDIA_TYPE:
                headers["content-type"] = "application/json"
        await send(message)

    return sends


async def _body(receive: Receive) -> bytes | None:
    """The body of a request; `None` if it is too large, which is known before it has come."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b"".join(chunks)
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > MOST_BYTES:
            return None
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)


async def _answer(rpc: RpcMethods, current: CurrentRpc, request: Request) -> Response:
    """Answer a JSON-RPC request."""
    try:
        asked: Json = json.loads(await request.body())
    except (ValueError, RecursionError):
        kind = request.headers.get("content-type", "application/json")
        error = RpcError(-32700, "Invalid JSON payload.")
        if "json" not in kind.lower():
            error = RpcError(_UNSUPPORTED_TYPE, f"The content type {kind} is not supported.")
        return json_response(error.shown(None), status=400)
    request_id = _id_of(asked)
    method = asked.get("method") if isinstance(asked, dict) else None
    if (
        not isinstance(asked, dict)
        or asked.get("jsonrpc") != "2.0"
        or not isinstance(method, str)
        or request_id != asked.get("id")
    ):
        return json_response(RpcError(-32600, "Invalid JSON-RPC Request.").shown(request_id))
    if current.serves(method):
        return await current.answer(request, asked)
    params = asked.get("params", {})
    try:
        if rpc.serves(method):
            _check_version(request.headers.get(VERSION_HEADER))
        extension = asked_version(
            value for name in EXTENSION_HEADERS for value in request.headers.getlist(name)
        )
    except RpcError as error:
        return json_response(error.shown(request_id))
    return await _result(rpc, request, method, params, request_id, extension)


def _check_version(version: str | None) -> None:
    """Check that the client does not ask for a version in which the method is missing.

    Raises:
        RpcError: it does.
    """
    if version and not version.startswith("0.3"):
        raise RpcError(
            _VERSION_NOT_SUPPORTED,
            f"The method is one of A2A 0.3, and {VERSION_HEADER} is {version}; write 0.3",
        )


async def _result(
    rpc: RpcMethods,
    request: Request,
    method: str,
    params: Json,
    request_id: Json,
    extension: str | None,
) -> Response:
    """The response to a request in the dialect of `extension`."""
    try:
        if not isinstance(params, dict):
            raise invalid_params("params must be an object")
        events = rpc.stream(method, params, extension)
        if events is not None:
            lines = _lines(events, request_id)
            return StreamingResponse(lines, media_type="text/event-stream", headers=_STREAM)
        result = await _unless_gone(rpc.call(method, params, extension), request)
    except RpcError as error:
        return json_response(error.shown(request_id))
    return json_response({"jsonrpc": "2.0", "id": request_id, "result": result})


async def _unless_gone(call: Coroutine[Any, Any, Json], request: Request) -> Json:
    """The result of `call`, which ends when the client is gone.

    Raises:
        RpcError: the call failed, or the client is gone.
    """
    answering = asyncio.create_task(call, name="A2A request")
    watching = asyncio.create_task(_gone(request), name="A2A client")
    try:
        await asyncio.wait([answering, watching], return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            return answering.result()
        raise RpcError(-32603, "The client is gone.")
    finally:
        for each in (answering, watching):
            each.cancel()
        await asyncio.wait([answering, watching])


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _lines(events: Events, request_id: Json) -> AsyncIterator[bytes]:
    """Server-sent events: the results, or the error that ends them."""
    try:
        async with aclosing(events):
            async for event in events:
                yield _data({"jsonrpc": "2.0", "id": request_id, "result": event})
    except RpcError as error:
        yield b"event: error\n" + _data(error.shown(request_id))


def _data(document: JsonObject) -> bytes:
    return b"data: " + encoded(document) + b"\n\n"


def _id_of(asked: Json) -> Json:
    """The id of a request, where it can be one: a text, or a number."""
    found = asked.get("id") if isinstance(asked, dict) else None
    usable = isinstance(found, str | int | float) and not isinstance(found, bool)
    return found if usable else None


def _cached(request: Request, body: bytes, modified: str) -> Response:
    """A document that clients may keep for five minutes, and then ask whether it has changed."""
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {
        "cache-control": f"public, max-age={_CARD_SECONDS}",
        "content-type": "application/json; charset=utf-8",
        "etag": tag,
        "last-modified": modified,
        "vary": VERSION_HEADER,
    }
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers)


def _too_large() -> Response:
    return _error(413, f"The body has more than {MOST_BYTES} bytes.")


def _error(status: int, message: str) -> Response:
    return json_response({"error": message}, status=status)
