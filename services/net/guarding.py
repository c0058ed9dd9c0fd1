"""A transport that enforces `Terms`, for httpx and for httpx2, whose classes are alike.

Neither library is imported here: the caller gives the one that its client is of.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from functools import cache
from types import ModuleType
from typing import Any, NoReturn

from services.confinement import Refused
from services.net.decoding import AnswerDecoder
from services.net.errors import AddressRefused, NetError
from services.net.terms import RECEIVED_HEADERS, Terms

__all__ = ["guarded"]

Translation = Callable[[NetError | Refused], Exception]


def _unchanged(error: NetError | Refused) -> Exception:
    return error


def guarded(
    library: ModuleType,
    inner: Any,
    terms: Terms,
    *,
    refused: Translation = _unchanged,
    broken: Translation = _unchanged,
) -> Any:
    """Return a transport of `library` around `inner`.

    Args:
        library: httpx or httpx2.
        inner: Its transport that sends the requests.
        terms: The limits.
        refused: Makes the error for a request, or the head of an answer, that breaks the terms.
        broken: Makes the error for a body that does.
    """
    return _transport_class(library)(inner, terms, refused, broken)


@cache
def _transport_class(library: ModuleType) -> Any:
    body_class = _body_class(library)

    class Guarded(library.AsyncBaseTransport):  # type: ignore[name-defined, misc]
        """Checks each request, and bounds and decodes each answer."""

        def __init__(
            self, inner: Any, terms: Terms, refused: Translation, broken: Translation
        ) -> None:
            self._inner = inner
            self._terms = terms
            self._refused = refused
            self._broken = broken

        async def handle_async_request(self, request: Any) -> Any:
            """Send a request that keeps to the terms."""
            try:
                self._terms.check_request(str(request.url))
            except (NetError, Refused) as error:
                _raise(error, self._refused)
            response = await self._inner.handle_async_request(request)
            try:
                return self._bounded(request, response)
            except NetError as error:
                await response.aclose()
                _raise(error, self._refused)

        async def aclose(self) -> None:
            """Close the connections."""
            await self._inner.aclose()

        def _bounded(self, request: Any, response: Any) -> Any:
            if response.has_redirect_location:
                self._terms.check_redirect(str(request.url), _target(library, request, response))
            headers = response.headers.copy()
            decoder = self._terms.decoder_of(request.method, response.status_code, headers)
            assert isinstance(response.stream, library.AsyncByteStream)
            return library.Response(
                response.status_code,
                headers=headers,
                stream=body_class(response.stream, decoder, self._broken),
                extensions={**response.extensions, RECEIVED_HEADERS: response.headers},
            )

    return Guarded


def _body_class(library: ModuleType) -> Any:
    class Decoded(library.AsyncByteStream):  # type: ignore[name-defined, misc]
        """The decoded body of an answer."""

        def __init__(self, inner: Any, decoder: AnswerDecoder, broken: Translation) -> None:
            self._inner = inner
            self._decoder = decoder
            self._broken = broken
            self._reading: Any = None

        def __aiter__(self) -> AsyncIterator[bytes]:
            pieces = self._reading = self._pieces()
            return pieces

        async def _pieces(self) -> AsyncGenerator[bytes, None]:
            try:
                async for data in self._inner:
                    for piece in self._decoder.pieces(data):
                        yield piece
            except NetError as error:
                _raise(error, self._broken)

        async def aclose(self) -> None:
            # A reader that stopped early, as the A2A library does, has left it suspended.
            if self._reading is not None and not self._reading.ag_running:
                await self._reading.aclose()
            await self._inner.aclose()

    return Decoded


def _raise(error: NetError | Refused, translation: Translation) -> NoReturn:
    translated = translation(error)
    if translated is error:
        raise error
    raise translated from error


def _target(library: ModuleType, request: Any, response: Any) -> str:
    try:
        return str(request.url.join(response.headers["location"]))
    except (library.InvalidURL, ValueError) as error:
        raise AddressRefused("the answer redirects to something that is no address") from error
