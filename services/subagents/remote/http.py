"""The HTTP client for remote agents: credentials, limits, no redirects.

Source: core `agents/a2a-client-manager.ts`; the JavaScript SDK's
`createAuthenticatingFetchWithRetry`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from typing import Final

import httpx

from services.confinement import Refused
from services.net.clients import open_client
from services.net.errors import NetError
from services.net.terms import Terms
from services.subagents.remote.errors import RemoteAgentError
from services.subagents.remote.limits import Limits
from services.subagents.remote.providers import AuthProvider

__all__ = ["FAILURES", "ProviderAuth", "open_http", "transport_text"]

FAILURES: Final = (httpx.TransportError, NetError, OSError)
"""The errors of `open_http`'s client; `transport_text` has a message for each."""
_ANSWERED: Final = "parity_answered"
"""The key of a request's `extensions` once the head of its answer has come."""
_NOWHERE: Final = "no configured address"
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class ProviderAuth(httpx.Auth):
    """Sends a provider's headers, and once more with renewed ones after a refusal."""

    def __init__(self, provider: AuthProvider) -> None:
        self._provider = provider

    async def async_auth_flow(
        self, request: httpx.Request
    ) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Send a request, perhaps twice."""
        request.headers.update(_sendable(await self._provider.headers()))
        response = yield request
        again = await self._provider.headers_after(response.status_code)
        if again is not None:
            request.headers.update(_sendable(again))
            yield request


def open_http(limits: Limits, provider: AuthProvider | None, home: str | None) -> httpx.AsyncClient:
    """A client for one agent; the caller closes it.

    Args:
        limits: the limits of time and size.
        provider: the credentials, if any.
        home: the only origin that may receive the credentials.
    """
    terms = Terms(answer_bytes=limits.answer_bytes)
    if provider is not None:
        terms = replace(terms, private=True, only_origin=home or _NOWHERE)
    client = open_client(
        terms,
        auth=None if provider is None else ProviderAuth(provider),
        timeout=httpx.Timeout(
            connect=limits.connect_s, read=limits.silence_s, write=limits.silence_s, pool=None
        ),
    )
    client.event_hooks = {"response": [_note_answer]}
    return client


async def _note_answer(response: httpx.Response) -> None:
    response.request.extensions[_ANSWERED] = True


def _sendable(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Return valid `headers`; a library's error about invalid ones would contain them."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise RemoteAgentError(f"{name!r} cannot be the name of a header")
        if not (value.isascii() and value.isprintable()):
            raise RemoteAgentError(
                f"the credentials for the header {name} have characters that no header may have"
            )
    return headers


def transport_text(error: BaseException) -> str:
    """Return the message of `fetch` for a failure; for a limit of ours, its own message."""
    if isinstance(error, (NetError, Refused)):
        return str(error)
    return (
        "terminated" if isinstance(error, httpx.RequestError) and _began(error) else "fetch failed"
    )


def _began(error: httpx.RequestError) -> bool:
    """Whether the answer had begun when the connection failed."""
    try:
        return _ANSWERED in error.request.extensions
    except RuntimeError:  # it belongs to no request
        return False
