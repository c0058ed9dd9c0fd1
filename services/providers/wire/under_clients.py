"""`under_clients`: puts a transport under the clients of a program, without a change of its code.

The two methods through which every default client of httpx and httpx2 reaches the network are
replaced while any transport is in place, as recorders of HTTP traffic do. A transport holds for the
tasks that start inside its `with` block; where only one is in place, it holds for all others, too.
google-genai prefers aiohttp where that is installed; meanwhile it uses httpx.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any, Final

import httpx
import httpx2

from services.providers.wire.transport import WireTransport

__all__ = ["SynchronousCall", "under_clients"]

_PREFERRED: Final = "aiohttp"
"""What google-genai prefers to httpx. It is neither imported nor used here."""
_CURRENT: Final[ContextVar[WireTransport | None]] = ContextVar("wire_transport", default=None)


class SynchronousCall(RuntimeError):
    """A program calls its model with a client that blocks, and no answer could be computed."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"a synchronous client calls the model at {url}; parity plays asynchronous ones only, "
            "such as Client.aio of google-genai, AsyncOpenAI and AsyncAnthropic"
        )


@contextmanager
def under_clients(transport: WireTransport) -> Iterator[WireTransport]:
    """Answer the model calls of every client of httpx and httpx2 from `transport`.

    Other requests reach the network. A client with a transport of its own is not affected.

    Raises:
        SynchronousCall: inside the block, from a synchronous client that calls a model.
    """
    token = _CURRENT.set(transport)
    _METHODS.put(transport)
    try:
        yield transport
    finally:
        _METHODS.remove(transport)
        _CURRENT.reset(token)


class _Methods:
    """The replaced methods, while any transport is in place."""

    def __init__(self) -> None:
        self.transports: list[WireTransport] = []
        self._replaced = ExitStack()

    def put(self, transport: WireTransport) -> None:
        """Put a transport in place."""
        if not self.transports:
            self._replaced.enter_context(_replaced_methods())
        self.transports.append(transport)

    def remove(self, transport: WireTransport) -> None:
        """Take a transport away."""
        self.transports.remove(transport)
        if not self.transports:
            self._replaced.close()


_METHODS: Final = _Methods()


@contextmanager
def _replaced_methods() -> Iterator[None]:
    with ExitStack() as stack:
        for library in (httpx, httpx2):
            for owner, name, made in (
                (library.AsyncHTTPTransport, "handle_async_request", _answered),
                (library.HTTPTransport, "handle_request", _refused),
            ):
                stack.enter_context(_replaced(owner, name, made))
        if find_spec(_PREFERRED) is not None and find_spec("google.genai") is not None:
            client = sys.modules.get("google.genai._api_client") or _genai()
            stack.enter_context(
                _replaced(client.BaseApiClient, "_use_aiohttp", lambda _: lambda _self: False)
            )
        yield


def _genai() -> Any:
    from importlib import import_module

    return import_module("google.genai._api_client")


@contextmanager
def _replaced(owner: Any, name: str, made: Callable[[Any], Any]) -> Iterator[None]:
    original = getattr(owner, name)
    setattr(owner, name, made(original))
    try:
        yield
    finally:
        setattr(owner, name, original)


def _transport() -> WireTransport | None:
    only = _METHODS.transports[0] if len(_METHODS.transports) == 1 else None
    return _CURRENT.get() or only


def _answered(original: Callable[..., Any]) -> Callable[..., Any]:
    async def handle_async_request(self: Any, request: Any) -> Any:
        transport = _transport()
        if transport is not None and transport.serves(request.method, str(request.url)):
            return await transport.handle_async_request(request)
        return await original(self, request)

    return handle_async_request


def _refused(original: Callable[..., Any]) -> Callable[..., Any]:
    def handle_request(self: Any, request: Any) -> Any:
        if _transport() is not None and WireTransport.serves(request.method, str(request.url)):
            raise SynchronousCall(f"{request.url.scheme}://{request.url.host}{request.url.path}")
        return original(self, request)

    return handle_request
