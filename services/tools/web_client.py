"""The network for web tools: public addresses only, with limits of time and size.

A host is resolved once, its address is checked, and the connection goes to that address. So a name
cannot have one address when it is checked and another when it is used.

Source: core `utils/fetch.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final
from urllib.parse import urljoin

import httpx

from services.abort import AbortSignal, until_aborted
from services.model.errors import ModelError, NetworkError
from services.net.addresses import resolved
from services.net.clients import open_client
from services.net.errors import AnswerTooLarge, NetError
from services.net.terms import RECEIVED_HEADERS, Terms
from services.tools.web_access import Page
from services.tools.web_addresses import is_internal_name, is_private_address
from services.tools.web_urls import InvalidUrl, WebUrl, parse_url

__all__ = ["HttpPages"]

_HEAD_TIMEOUT_S: Final = 10.0
_BODY_TIMEOUT_S: Final = 300.0
_MAX_BODY: Final = 10 * 1024 * 1024
_MAX_REDIRECTS: Final = 20
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class HttpPages:
    """The `PageSource` of the product."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        """`transport` carries requests; the network unless given."""
        self._transport = transport

    async def addresses(self, host: str) -> list[str]:
        """The addresses that `host` resolves to."""
        return await resolved(host)

    async def get(self, url: str, headers: Mapping[str, str], signal: AbortSignal) -> Page:
        """Fetch `url`, within ten seconds to the first byte."""
        return await until_aborted(self._follow(url, dict(headers)), signal)

    async def _follow(self, url: str, headers: dict[str, str]) -> Page:
        async with open_client(
            Terms(answer_bytes=_MAX_BODY), timeout=_BODY_TIMEOUT_S, transport=self._transport
        ) as client:
            for _ in range(_MAX_REDIRECTS + 1):
                page, target = await self._once(client, url, headers)
                if page is not None:
                    return page
                url = urljoin(url, target)
        raise _fetch_failed()

    async def _once(
        self, client: httpx.AsyncClient, text: str, headers: dict[str, str]
    ) -> tuple[Page | None, str]:
        """One response: the page, or the target of its redirect."""
        try:
            url = parse_url(text)
        except InvalidUrl:
            url = None
        if url is None:
            raise _fetch_failed()
        address = await self._public_address(url)
        request = client.build_request(
            "GET",
            httpx.URL(url.href).copy_with(host=address, fragment=None),
            headers={**headers, "Host": url.host + (f":{url.port}" if url.port else "")},
            extensions={"sni_hostname": url.host.strip("[]")},
        )
        try:
            async with asyncio.timeout(_HEAD_TIMEOUT_S):
                response = await client.send(request, stream=True)
        except (TimeoutError, httpx.TimeoutException) as error:
            limit = int(_HEAD_TIMEOUT_S * 1000)
            raise NetworkError(
                f"Request timed out after {limit}ms", name="FetchError", code="ETIMEDOUT"
            ) from error
        except (httpx.HTTPError, OSError) as error:
            raise _fetch_failed() from error
        except NetError as error:
            raise ModelError(f"{url.host}: {error}") from error
        try:
            if response.status_code in _REDIRECTS and "location" in response.headers:
                return None, response.headers["location"]
            return await _page(response), ""
        finally:
            await response.aclose()

    async def _public_address(self, url: WebUrl) -> str:
        host = url.host
        if is_internal_name(host):
            raise ModelError(f"Access to internal host {host} is blocked")
        if url.is_address:
            if is_private_address(host):
                raise ModelError(f"Access to private IP {host.strip('[]')} is blocked")
            return host.strip("[]")
        try:
            found = await self.addresses(host)
        except (OSError, UnicodeError) as error:
            raise _fetch_failed() from error
        for address in found:
            if is_private_address(address):
                raise ModelError(
                    f"Access to private IP {address} (resolved from {host}) is blocked"
                )
        if not found:
            raise _fetch_failed()
        return found[0]


async def _page(response: httpx.Response) -> Page:
    too_large = ModelError(f"Content exceeds size limit of {_MAX_BODY} bytes")
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > _MAX_BODY:
        raise too_large
    body = bytearray()
    try:
        async for piece in response.aiter_bytes():
            body += piece
    except AnswerTooLarge:
        raise too_large from None
    except NetError as error:
        raise ModelError(f"The page cannot be read: {error}") from error
    except httpx.HTTPError as error:
        raise NetworkError("terminated", name="TypeError") from error
    return Page(
        status=response.status_code,
        reason=response.reason_phrase,
        headers=dict(sorted(response.extensions[RECEIVED_HEADERS].items())),
        body=bytes(body),
    )


def _fetch_failed() -> NetworkError:
    return NetworkError("fetch failed", name="FetchError")
