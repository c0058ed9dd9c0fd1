"""The clients that the model, remote agents and the web tools use: httpx, under `Terms`."""

from __future__ import annotations

import os
import ssl
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final

import httpx

from services.net.decoding import ACCEPTED
from services.net.guarding import guarded
from services.net.terms import Terms

__all__ = ["certificates_from_environment", "in_process_client", "open_client"]

_CERTIFICATES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def open_client(
    terms: Terms,
    *,
    timeout: httpx.Timeout | float | None,
    auth: httpx.Auth | None = None,
    from_environment: bool = False,
    transport: httpx.AsyncBaseTransport | None = None,
) -> httpx.AsyncClient:
    """A client whose requests and answers keep to `terms`; the caller closes it.

    It raises `NetError` where a request or an answer breaks the terms, and
    `services.confinement.Refused` where the session is confined. Like upstream's `fetch` it keeps
    no cookies, and it reads no `.netrc`.

    Args:
        terms: The limits.
        timeout: For each request that names none of its own, in seconds.
        auth: Adds credentials to requests.
        from_environment: Whether the process's environment may name proxies and certificates.
        transport: Replaces the network; for tests.
    """
    if transport is None:
        transport = _FromEnvironment() if from_environment else _direct()
    return httpx.AsyncClient(
        transport=guarded(httpx, transport, terms),
        auth=auth,
        timeout=timeout,
        follow_redirects=terms.follows,
        headers={"accept-encoding": ACCEPTED},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        trust_env=False,
    )


def in_process_client(transport: httpx.AsyncBaseTransport, url: str) -> httpx.AsyncClient:
    """A client of an application in this process, at `url`: no request leaves it."""
    return httpx.AsyncClient(transport=transport, base_url=url, trust_env=False)


def _direct() -> httpx.AsyncHTTPTransport:
    return httpx.AsyncHTTPTransport(verify=_certificates(), trust_env=False)


@cache
def _certificates() -> ssl.SSLContext:
    """The authorities that certificates are checked against; reading them takes milliseconds."""
    return httpx.create_ssl_context(trust_env=False)


def certificates_from_environment() -> ssl.SSLContext:
    """The authorities that the process's environment may name, the same object for all clients.

    Each takes half a megabyte, and forty milliseconds to read.
    """
    return _read_certificates(*(os.environ.get(name) for name in _CERTIFICATES))


@cache
def _read_certificates(*named: str | None) -> ssl.SSLContext:
    """The authorities in the files that `named`, or the environment, names."""
    return httpx.create_ssl_context(trust_env=True)


class _FromEnvironment(httpx.AsyncBaseTransport):
    """A transport through the proxies that the environment names; only a client reads them."""

    def __init__(self) -> None:
        self._client = httpx.AsyncClient(trust_env=True, verify=certificates_from_environment())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._client.send(request, stream=True, follow_redirects=False)

    async def aclose(self) -> None:
        await self._client.aclose()
