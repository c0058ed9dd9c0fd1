"""The clients for MCP servers and their token endpoints: httpx2, under `Terms`.

The MCP library takes httpx2's clients only. A breach of the terms raises errors of httpx2,
since the library would end the whole connection for any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import httpx2

from services.net.decoding import ACCEPTED
from services.net.guarding import guarded
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
    transport: httpx2.AsyncBaseTransport = guarded(
        httpx2, httpx2.AsyncHTTPTransport(), terms, refused=_as_refused, broken=_as_broken
    )
    return httpx2.AsyncClient(
        transport=transport if wrapped is None else wrapped(transport),
        auth=auth,
        timeout=timeout,
        headers={"accept-encoding": ACCEPTED, **(headers or {})},
        event_hooks={} if on_response is None else {"response": [on_response]},
        follow_redirects=False,
        trust_env=False,
    )


def _as_refused(error: Exception) -> Exception:
    return RefusedRequest(str(error))


def _as_broken(error: Exception) -> Exception:
    return _BrokenOff(str(error))
