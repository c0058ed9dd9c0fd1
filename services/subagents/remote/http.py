"""HTTP as remote agents are spoken to: our credentials, our limits, no redirects.

Source: core `agents/a2a-client-manager.ts`; the JavaScript SDK's
`createAuthenticatingFetchWithRetry`.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from functools import cache
from typing import Final

import httpx

from services.subagents.remote.errors import RemoteAgentError
from services.subagents.remote.limits import Limits
from services.subagents.remote.providers import AuthProvider

__all__ = ["AnswerTooLarge", "ProviderAuth", "failure_text", "open_http"]

_ESTABLISHING: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class AnswerTooLarge(RemoteAgentError):
    """A server sent more than anybody wants to keep."""


class ProviderAuth(httpx.Auth):
    """Sends a provider's headers, and others once more where it is not let in."""

    def __init__(self, provider: AuthProvider) -> None:
        self._provider = provider

    async def async_auth_flow(
        self, request: httpx.Request
    ) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """One try, and perhaps a second."""
        request.headers.update(_sendable(await self._provider.headers()))
        response = yield request
        again = await self._provider.headers_after(response.status_code)
        if again is not None:
            request.headers.update(_sendable(again))
            yield request


def open_http(limits: Limits, provider: AuthProvider | None) -> httpx.AsyncClient:
    """A client for one agent; whoever opens it closes it."""
    return httpx.AsyncClient(
        transport=_Bounded(limits.answer_bytes),
        auth=None if provider is None else ProviderAuth(provider),
        timeout=httpx.Timeout(
            connect=limits.connect_s, read=limits.silence_s, write=limits.silence_s, pool=None
        ),
        follow_redirects=False,
        trust_env=False,
    )


def _sendable(headers: Mapping[str, str]) -> Mapping[str, str]:
    """`headers`, if they can be sent; what libraries say otherwise repeats them."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise RemoteAgentError(f"{name!r} cannot be the name of a header")
        if not (value.isascii() and value.isprintable()):
            raise RemoteAgentError(
                f"the credentials for the header {name} have characters that no header may have"
            )
    return headers


@cache
def _trusted() -> ssl.SSLContext:
    """Whom we trust; reading that takes longer than a short answer."""
    return httpx.create_ssl_context(trust_env=False)


def failure_text(error: httpx.TransportError) -> str:
    """What `fetch` would say: nothing came, or it broke off."""
    if isinstance(error, _ESTABLISHING):
        return "fetch failed"
    began = isinstance(error, (httpx.ReadError, httpx.RemoteProtocolError, httpx.ReadTimeout))
    return "terminated" if began else "fetch failed"


class _Bounded(httpx.AsyncHTTPTransport):
    """Breaks answers off that go on for ever."""

    def __init__(self, most: int) -> None:
        super().__init__(verify=_trusted())
        self._most = most

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _Counted(response.stream, self._most)
        return response


class _Counted(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, most: int) -> None:
        self._inner = inner
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most
        async for piece in self._inner:
            left -= len(piece)
            if left < 0:
                raise AnswerTooLarge(f"the answer is larger than {self._most} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
