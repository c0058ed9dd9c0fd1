"""The requests of a sign-in: which addresses they may go to, and what a failure means.

Source: core `mcp/oauth-utils.ts` (`validateOAuthEndpointUrl`, `discoverOAuthFromWWWAuthenticate`).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

import httpx2
from mcp.client.auth.utils import extract_resource_metadata_from_www_auth
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from services.mcp.config import OAuthConfig
from services.mcp.endpoints import OAuthSecurityError, is_loopback_url, validated_endpoint
from services.mcp.tokens import ANSWER_BYTES, TIMEOUT_S, refusal
from services.net.addresses import origin
from services.net.decoding import ACCEPTED
from services.net.mcp_clients import open_mcp_client
from services.net.terms import Terms
from services.redaction import redacted

__all__ = ["SignInMemory", "SignInRequests", "first_request"]

_RESOURCE: Final = "/.well-known/oauth-protected-resource"
_CHALLENGE: Final = "www-authenticate"


class SignInMemory:
    """Keeps what the library wants stored, until the sign-in has succeeded."""

    def __init__(self, client: OAuthClientInformationFull | None) -> None:
        self.tokens: OAuthToken | None = None
        self._client = client

    async def get_tokens(self) -> OAuthToken | None:
        """No tokens: this is a new sign-in."""
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep the tokens."""
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The client of the settings, if they name one."""
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a registered client."""
        self._client = client_info


def first_request(url: str, version: str) -> httpx2.Request:
    """A message that the server refuses with its challenge, and that has no other effect."""
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": version,
    }
    message = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
    return httpx2.Request("POST", url, json=message, headers=headers)


class SignInRequests:
    """Sends the library's requests for one server."""

    def __init__(self, server_url: str, oauth: OAuthConfig) -> None:
        self._server_url = server_url
        self._oauth = oauth
        self._local = is_loopback_url(server_url)
        self._client: httpx2.AsyncClient | None = None
        self._last: httpx2.Response | None = None
        self._asked = server_url
        self.token_endpoint: str | None = None
        """Where the code was exchanged."""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Hold the client that sends them."""
        terms = Terms(answer_bytes=ANSWER_BYTES, private=True)
        async with open_mcp_client(terms, timeout=TIMEOUT_S) as client:
            self._client = client
            yield

    async def refused(self, request: httpx2.Request, challenge: str | None) -> httpx2.Response:
        """The server's refusal of the first request; a server that accepts it refuses here too.

        Args:
            request: the first request.
            challenge: the header of an earlier refusal; `None`: the server is asked.

        Raises:
            OAuthSecurityError: the challenge leads to another host.
            httpx2.HTTPError: the server cannot be reached.
        """
        if challenge is None and self._oauth.authorization_url is None:
            response = await self._sent(request)
            challenge = response.headers.get(_CHALLENGE) if response.status_code == 401 else None
        headers = {} if challenge is None else {_CHALLENGE: challenge}
        refusing = httpx2.Response(401, headers=headers, request=request)
        named = extract_resource_metadata_from_www_auth(refusing)
        if named is not None:
            whole = urljoin(self._server_url, named)
            if origin(whole) != origin(self._server_url):
                raise OAuthSecurityError(
                    f'OAuth endpoint origin "{origin(whole)}" does not match expected origin '
                    f'"{origin(self._server_url)}".'
                )
            refusing.headers[_CHALLENGE] = (challenge or "").replace(named, whole)
        return refusing

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request of the library, or answer it from the settings.

        Raises:
            OAuthSecurityError: its address may not be used.
            httpx2.HTTPError: the server cannot be reached.
        """
        configured = self._configured(request)
        if configured is not None:
            return configured
        await validated_endpoint(str(request.url), allow_loopback=self._local)
        if request.method == "POST" and _is_form(request):
            self.token_endpoint = str(request.url)
            request = self._with_audience(request)
        return await self._sent(request)

    def authorization_address(self, address: str) -> str:
        """The library's address for the browser, with what the settings say in place of its own."""
        # The library appends its query even where the endpoint has one.
        endpoint, _, rest = address.partition("?")
        parts = urlsplit(f"{endpoint}?{rest.replace('?', '&')}")
        query = dict(parse_qsl(parts.query))
        if self._oauth.scopes:
            query["scope"] = " ".join(self._oauth.scopes)
        if self._oauth.audiences:
            query["audience"] = " ".join(self._oauth.audiences)
        return urlunsplit(parts._replace(query=urlencode(query)))

    def sentence(self, error: Exception) -> str:
        """What went wrong, from the last answer where it is a refusal."""
        response, where = self._last, origin(self._asked)
        exchange = response is not None and _is_form(response.request)
        if response is not None and response.is_success and exchange:
            return f"Token exchange failed at {where}: no access token in the answer"
        if response is None or response.is_success or response.request.method != "POST":
            return redacted(str(error)).partition("\n")[0]
        what = f"{'Token exchange' if exchange else 'Client registration'} failed at {where}"
        if response.is_redirect:
            return f"{what}: it redirects to another host"
        mend = "" if exchange else "; set oauth.clientId to a client that the server knows"
        return f"{what}: {redacted(refusal(response))}{mend}"

    def unreachable(self, error: Exception) -> str:
        """What went wrong with a request that has no answer."""
        return f"{origin(self._asked)} cannot be reached: {redacted(str(error)) or 'no answer'}"

    async def _sent(self, request: httpx2.Request) -> httpx2.Response:
        if self._client is None:
            raise RuntimeError("not opened")
        request.headers.setdefault("accept-encoding", ACCEPTED)
        self._asked = str(request.url)
        self._last = await self._client.send(request)
        return self._last

    def _configured(self, request: httpx2.Request) -> httpx2.Response | None:
        """The answer to a request for metadata, where the settings name the endpoints."""
        oauth = self._oauth
        if oauth.authorization_url is None or oauth.token_url is None or request.method != "GET":
            return None
        issuer = oauth.issuer or origin(self._server_url)
        document: dict[str, object] = {
            "issuer": issuer,
            "authorization_endpoint": oauth.authorization_url,
            "token_endpoint": oauth.token_url,
        }
        if oauth.registration_url is not None:
            document["registration_endpoint"] = oauth.registration_url
        if request.url.path.startswith(_RESOURCE):
            document = {"resource": self._server_url, "authorization_servers": [issuer]}
        return httpx2.Response(200, content=json.dumps(document).encode(), request=request)

    def _with_audience(self, request: httpx2.Request) -> httpx2.Request:
        if not self._oauth.audiences:
            return request
        form = [*parse_qsl(request.content.decode()), ("audience", " ".join(self._oauth.audiences))]
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in ("content-length", "host")
        }
        return httpx2.Request("POST", request.url, data=dict(form), headers=headers)


def _is_form(request: httpx2.Request) -> bool:
    kind: str = request.headers.get("content-type", "")
    return kind.startswith("application/x-www-form-urlencoded")
