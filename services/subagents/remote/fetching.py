"""Fetches a card, without credentials first, within limits.

Some servers refuse credentials in requests for a public card, and credentials are not sent without
need. Source: core `agents/a2a-client-manager.ts` (`loadAgent`); the
JavaScript SDK's `DefaultAgentCardResolver`, including its messages.
"""

from __future__ import annotations

import asyncio
from typing import Final

import httpx

from services.mcp.json_text import parse_json
from services.net.addresses import origin
from services.subagents.remote.cards import checked_url
from services.subagents.remote.errors import RemoteAgentError
from services.subagents.remote.http import FAILURES, transport_text
from services.subagents.remote.limits import Limits
from services.subagents.remote.providers import DENIED
from services.wire import Json

__all__ = ["fetch_card"]

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


async def fetch_card(url: str, http: httpx.AsyncClient, limits: Limits) -> Json:
    """Fetch the card at `url`, inside the clock's `real_work`.

    Args:
        url: the card's full address.
        http: the agent's client; its credentials are sent only if the server requires them.
        limits: the limits of time and size.

    Raises:
        RemoteAgentError: there is no card, or a limit is exceeded.
    """
    checked_url(url)
    try:
        async with asyncio.timeout(limits.card_s):
            body = await _Fetch(http, limits, url).body()
    except TimeoutError:
        raise RemoteAgentError(
            f"Fetching the agent card from {url} took longer than {limits.card_s:g} seconds"
        ) from None
    except FAILURES as error:
        raise RemoteAgentError(transport_text(error)) from error
    try:
        return parse_json(body.decode(errors="replace").removeprefix("\ufeff"))
    except ValueError as error:
        raise RemoteAgentError(f"The agent card at {url} is not JSON: {error}") from error


class _Fetch:
    def __init__(self, http: httpx.AsyncClient, limits: Limits, url: str) -> None:
        self._http = http
        self._limits = limits
        self._asked = url
        self._origin = origin(url)

    async def body(self) -> bytes:
        """Return the card's bytes, following redirects."""
        url = httpx.URL(self._asked)
        for _ in range(self._limits.card_redirects + 1):
            response = await self._response(url)
            try:
                if response.status_code not in _REDIRECTS:
                    return await self._read(response)
                url = self._next(url, response)
            finally:
                await response.aclose()
        raise RemoteAgentError(
            f"The agent card at {self._asked} is redirected more than "
            f"{self._limits.card_redirects} times"
        )

    async def _response(self, url: httpx.URL) -> httpx.Response:
        request = self._http.build_request("GET", url, headers={"Accept": "application/json"})
        response = await self._http.send(request, auth=None, stream=True)
        if response.status_code in DENIED:
            # As upstream, also where there are no credentials to add.
            await response.aclose()
            request = self._http.build_request("GET", url, headers={"Accept": "application/json"})
            response = await self._http.send(request, stream=True)
        return response

    def _next(self, url: httpx.URL, response: httpx.Response) -> httpx.URL:
        try:
            target = url.join(response.headers.get("location", ""))
        except (httpx.InvalidURL, ValueError):
            target = None
        if (
            target is None
            or "location" not in response.headers
            or origin(str(target)) != self._origin
        ):
            # Another server could ask for the credentials and send any card.
            raise RemoteAgentError(
                f"The agent card at {self._asked} is redirected to another origin; "
                "give its real address as agent_card_url"
            )
        return target

    async def _read(self, response: httpx.Response) -> bytes:
        if not response.is_success:
            raise RemoteAgentError(
                f"Failed to fetch Agent Card from {self._asked}: {response.status_code}"
            )
        body = bytearray()
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > self._limits.card_bytes:
                raise RemoteAgentError(
                    f"The agent card at {self._asked} is larger than "
                    f"{self._limits.card_bytes} bytes"
                )
        return bytes(body)
