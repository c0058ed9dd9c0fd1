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
from typing import Any, Final

from adapters.model.formats import Call, HttpRequest
from adapters.model.seam import Answer, CannotAnswer, ModelSeam, Stream
from services.clock import foreign_clock

__all__ = ["behind_clients"]

_CLIENTS: Final = ("httpx", "httpx2")
_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_SEAM: ContextVar[tuple[ModelSeam, asyncio.AbstractEventLoop] | None] = ContextVar(
    "model_seam", default=None
)


@contextmanager
def behind_clients(seam: ModelSeam) -> Iterator[None]:
    """Let the clients in this context, and in the tasks and threads of it, ask `seam`."""
    _install()
    token = _SEAM.set((seam, asyncio.get_running_loop()))
    try:
        yield
    finally:
        _SEAM.reset(token)


@cache
def _install() -> None:
    """Wrap the transports of the installed clients, once in a process."""
    for name in _CLIENTS:
        if importlib.util.find_spec(name) is not None:
            client = importlib.import_module(name)
            _wrap(client.AsyncHTTPTransport, "handle_async_request", client, _asynchronous)
            _wrap(client.HTTPTransport, "handle_request", client, _synchronous)
    if importlib.util.find_spec("aiohttp") is not None:
        base = importlib.import_module("google.genai._api_client").BaseApiClient
        uses_aiohttp = base._use_aiohttp
        base._use_aiohttp = lambda self: _SEAM.get() is None and uses_aiohttp(self)


def _wrap(
    kind: Any, name: str, client: ModuleType, handle: Callable[[ModuleType, Any], Any]
) -> None:
    """Replace a method of a transport; in the context of an agent, `handle` comes first."""
    original = getattr(kind, name)
    setattr(kind, name, functools.wraps(original)(handle(client, original)))


def _asynchronous(client: ModuleType, original: Any) -> Any:
    async def handle(self: Any, request: Any) -> Any:
        found = _SEAM.get()
        if found is None:
            return await original(self, request)
        seam, _ = found
        with _failing(client, request):
            call = seam.call(_read(request, await request.aread()))
            if call is not None:
                return _response(client, await seam.answer(call))
        _refuse_others(client, request)
        return await original(self, request)

    return handle


def _synchronous(client: ModuleType, original: Any) -> Any:
    def handle(self: Any, request: Any) -> Any:
        found = _SEAM.get()
        if found is None:
            return original(self, request)
        seam, loop = found
        with _failing(client, request):
            call = seam.call(_read(request, request.read()))
            if call is not None:
                answer = _blocking(seam, call, loop)
                headers = {"content-type": answer.content_type}
                return client.Response(answer.status, headers=headers, content=answer.body)
        _refuse_others(client, request)
        return original(self, request)

    return handle


def _blocking(seam: ModelSeam, call: Call, loop: asyncio.AbstractEventLoop) -> Answer:
    """Answer in a function that is not asynchronous.

    In a thread of its own, the event loop works meanwhile. In the loop's thread nothing else can
    happen.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        whole = _without_hold(_collected(seam, call))
        return asyncio.run_coroutine_threadsafe(whole, loop).result()
    return seam.answer_now(call)


async def _collected(seam: ModelSeam, call: Call) -> Answer:
    """Answer a call, with the whole body."""
    answer = await seam.answer(call)
    if answer.stream is not None:
        answer.body = b"".join([piece async for piece in answer.stream])
    return answer


async def _without_hold(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Await `work` while virtual time may pass: the thread that asks for it waits for it."""
    clock = foreign_clock()
    if clock is None:
        return await work
    with clock.no_real_work():
        return await work


def _read(request: Any, body: bytes) -> HttpRequest:
    url = request.url
    return HttpRequest(request.method, url.host, url.path, url.query.decode("ascii"), body)


def _refuse_others(client: ModuleType, request: Any) -> None:
    """Refuse what would leave this machine: a replay must not depend on the network."""
    host = request.url.host
    if foreign_clock() is not None and host not in _HERE:
        says = f"a replay connects to no other machine: {request.method} {host}{request.url.path}"
        raise client.ConnectError(says, request=request)


@contextmanager
def _failing(client: ModuleType, request: Any) -> Iterator[None]:
    """Turn a failed connection into the client's own error."""
    try:
        yield
    except CannotAnswer as error:
        raise client.ConnectError(str(error), request=request) from error


def _response(client: ModuleType, answer: Answer) -> Any:
    headers = {"content-type": answer.content_type}
    if answer.stream is None:
        return client.Response(answer.status, headers=headers, content=answer.body)
    stream = _stream_class(client)(answer.stream)
    return client.Response(answer.status, headers=headers, stream=stream)


@cache
def _stream_class(client: ModuleType) -> Any:
    """Return the class of response streams for one of the clients."""

    class SeamStream(client.AsyncByteStream):  # type: ignore[name-defined,misc]
        """The bytes of an answer; closing it closes the answer."""

        def __init__(self, pieces: Stream) -> None:
            self._pieces = pieces

        def __aiter__(self) -> SeamStream:
            return self

        async def __anext__(self) -> bytes:
            try:
                return await anext(self._pieces)
            except CannotAnswer as error:
                raise client.ReadError(str(error)) from error

        async def aclose(self) -> None:
            """End the answer."""
            await self._pieces.aclose()

    return SeamStream
