"""Puts the model seam under the HTTP clients of this process, for the tasks of an agent alone.

Clients for models use httpx, httpx2 (google-genai) or aiohttp. The transports of httpx and httpx2
are wrapped once in a process: in the context of an agent they ask its seam, everywhere else they do
what they did. google-genai then does without aiohttp, as it does where aiohttp is not installed.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import importlib.util
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import ModuleType
from typing import Any, Final, NamedTuple

from adapters.model.seam import ModelSeam
from services.clock import foreign_clock
from services.model.errors import NetworkError
from services.providers.wire.failures import library_failure
from services.providers.wire.server import WireAnswer, WireServer
from services.providers.wire.transport import WireTransport, client_response

__all__ = ["behind_clients"]

_CLIENTS: Final = ("httpx", "httpx2")
_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class _Behind(NamedTuple):
    seam: ModelSeam
    transport: WireTransport
    loop: asyncio.AbstractEventLoop


_BEHIND: ContextVar[_Behind | None] = ContextVar("model_seam", default=None)


@contextmanager
def behind_clients(seam: ModelSeam) -> Iterator[None]:
    """Let the clients in this context, and in the tasks and threads of it, ask `seam`."""
    _install()
    transport = WireTransport(seam.server)
    token = _BEHIND.set(_Behind(seam, transport, asyncio.get_running_loop()))
    try:
        yield
    finally:
        _BEHIND.reset(token)


@cache
def _install() -> None:
    """Wrap the transports of the installed clients, once in a process."""
    for name in _CLIENTS:
        client = importlib.import_module(name)
        _wrap(client.AsyncHTTPTransport, "handle_async_request", client, _asynchronous)
        _wrap(client.HTTPTransport, "handle_request", client, _synchronous)
    if importlib.util.find_spec("aiohttp") is not None:
        base = importlib.import_module("google.genai._api_client").BaseApiClient
        uses_aiohttp = base._use_aiohttp
        base._use_aiohttp = lambda self: _BEHIND.get() is None and uses_aiohttp(self)


def _wrap(
    kind: Any, name: str, client: ModuleType, handle: Callable[[ModuleType, Any], Any]
) -> None:
    """Replace a method of a transport; in the context of an agent, `handle` comes first."""
    original = getattr(kind, name)
    setattr(kind, name, functools.wraps(original)(handle(client, original)))


def _asynchronous(client: ModuleType, original: Any) -> Any:
    async def handle(self: Any, request: Any) -> Any:
        found = _BEHIND.get()
        if found is None or not WireServer.serves(request.method, str(request.url)):
            _refuse_others(client, request)
            return await original(self, request)
        return await found.transport.handle_async_request(request)

    return handle


def _synchronous(client: ModuleType, original: Any) -> Any:
    def handle(self: Any, request: Any) -> Any:
        found = _BEHIND.get()
        if found is None or not WireServer.serves(request.method, str(request.url)):
            _refuse_others(client, request)
            return original(self, request)
        asked = (request.method, str(request.url), request.read())
        try:
            return client_response(client, _blocking(found, *asked))
        except NetworkError as error:
            failure = library_failure(client, error, answering=False)
            raise failure from failure.__cause__

    return handle


def _blocking(behind: _Behind, method: str, url: str, body: bytes) -> WireAnswer:
    """Answer in a function that is not asynchronous.

    In a thread of its own, the event loop works meanwhile. In the loop's thread nothing else can
    happen.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        whole = _without_hold(_collected(behind.seam.server, method, url, body))
        return asyncio.run_coroutine_threadsafe(whole, behind.loop).result()
    return behind.seam.answer_now(method, url, body)


async def _collected(server: WireServer, method: str, url: str, body: bytes) -> WireAnswer:
    """Answer a request, with the whole body."""
    return await (await server.answer(method, url, body)).collected()


async def _without_hold(work: Coroutine[Any, Any, WireAnswer]) -> WireAnswer:
    """Await `work` while virtual time may pass: the thread that asks for it waits for it."""
    clock = foreign_clock()
    if clock is None:
        return await work
    with clock.no_real_work():
        return await work


def _refuse_others(client: ModuleType, request: Any) -> None:
    """Refuse what would leave this machine: a replay must not depend on the network."""
    host = request.url.host
    if foreign_clock() is not None and host not in _HERE:
        says = f"a replay connects to no other machine: {request.method} {host}{request.url.path}"
        raise client.ConnectError(says, request=request)
