"""The clients for the SDKs of OpenAI and Anthropic: httpx2, under `Terms`."""

from __future__ import annotations

from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx2

from services.net.decoding import ACCEPTED
from services.net.guarding import guarded
from services.net.terms import Terms

__all__ = ["open_provider_client"]


def open_provider_client(terms: Terms, *, timeout: httpx2.Timeout) -> httpx2.AsyncClient:
    """A client whose requests and answers keep to `terms`; the caller closes it.

    The process's environment may name proxies and certificates. It raises `NetError` where a
    request or an answer breaks the terms, and `services.confinement.Refused` where the session is
    confined. It keeps no cookies.
    """
    return httpx2.AsyncClient(
        transport=guarded(httpx2, _FromEnvironment(), terms),
        timeout=timeout,
        follow_redirects=terms.follows,
        headers={"accept-encoding": ACCEPTED},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        trust_env=False,
    )


class _FromEnvironment(httpx2.AsyncBaseTransport):
    """A transport through the proxies that the environment names; only a client reads them."""

    def __init__(self) -> None:
        self._client = httpx2.AsyncClient(trust_env=True)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await self._client.send(request, stream=True, follow_redirects=False)

    async def aclose(self) -> None:
        await self._client.aclose()
