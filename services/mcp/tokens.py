"""Stored OAuth tokens of servers: read, refreshed when expired or rejected, removed when refused.

Source: core `mcp/oauth-provider.ts` (`getValidToken`), `mcp/stored-token-provider.ts`,
`utils/oauth-flow.ts` (`refreshAccessToken`). The published core (0.61.0) does not refresh a token
that the server rejects before it expires.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlsplit

import httpx2

from services.clock import Clock
from services.json_values import parse_json
from services.mcp.config import OAuthConfig
from services.mcp.endpoints import OAuthSecurityError, is_loopback_url, validated_endpoint
from services.mcp.token_files import Feedback, StoredEntry, TokenFiles, tokens_path
from services.net.mcp_clients import open_mcp_client
from services.net.terms import Terms
from services.wire import JsonObject

__all__ = [
    "ANSWER_BYTES",
    "TIMEOUT_S",
    "TokenError",
    "TokenStore",
    "expires_at",
    "refusal",
    "tokens_path",
]

logger = logging.getLogger(__name__)

_EARLY_MS: Final = 5 * 60 * 1000
"""A token that expires within five minutes counts as expired."""
TIMEOUT_S: Final = 30.0
"""Seconds for each request to an authorization server."""
_MOST_S: Final = 1e10
ANSWER_BYTES: Final = 1024 * 1024
"""The most bytes of an authorization server's answer."""


class TokenError(Exception):
    """The token endpoint refused; the message is its error."""


class TokenStore:
    """The tokens of one user."""

    def __init__(self, path: Path, clock: Clock, *, feedback: Feedback) -> None:
        """Open the store.

        Args:
            path: the plain file; the encrypted one is beside it.
            clock: decides which tokens have expired, and waits for token endpoints.
            feedback: receives problems.
        """
        self._files = TokenFiles(path, feedback=feedback)
        self._clock = clock
        self._feedback = feedback
        self._refreshing = asyncio.Lock()
        """Held for a refresh: a second one would present a refresh token that is used up."""

    def credentials(self, server: str) -> JsonObject | None:
        """The stored entry of `server`: `{serverName, token, clientId?, tokenUrl?, …}`."""
        found = self._files.entry(server)
        return None if found is None else found.values

    async def valid_token(self, server: str, oauth: OAuthConfig) -> str | None:
        """A valid token, refreshed if necessary, or `None`. A failed refresh removes the token."""
        async with self._refreshing:
            stored = self._files.entry(server)
            if stored is None:
                return None
            token: JsonObject = stored.values["token"]
            if not self._expired(token):
                return str(token["accessToken"])
            return await self._renew(stored, oauth)

    async def renewed_token(self, server: str, oauth: OAuthConfig, rejected: str) -> str | None:
        """Another token than `rejected`, which the server has refused; `None` if there is none.

        A refused refresh removes the stored token.
        """
        async with self._refreshing:
            stored = self._files.entry(server)
            if stored is None:
                return None
            current = str(stored.values["token"]["accessToken"])
            # Another request, or another process, may have refreshed it meanwhile.
            return current if current != rejected else await self._renew(stored, oauth)

    def keep(self, entry: JsonObject) -> str | None:
        """Store the entry of a new sign-in; returns why it could not be stored."""
        stamped = {**entry, "updatedAt": self._clock.now_ms()}
        return self._files.save(StoredEntry(stamped, sealed=True))

    async def _renew(self, stored: StoredEntry, oauth: OAuthConfig) -> str | None:
        values = stored.values
        server, token = str(values["serverName"]), values["token"]
        client_id = oauth.client_id or values.get("clientId")
        if not (token.get("refreshToken") and client_id and values.get("tokenUrl")):
            return None
        try:
            fresh = await self._refreshed(values, oauth, str(client_id))
        except (
            TokenError,
            OAuthSecurityError,
            httpx2.HTTPError,
            httpx2.StreamError,
            OSError,
        ) as error:
            logger.warning("refreshing the token of %s failed: %s", server, error)
            self._feedback("error", "Failed to refresh auth token.")
            self._files.delete(server)
            return None
        now = self._clock.now_ms()
        updated = {**values, "token": fresh, "clientId": client_id, "updatedAt": now}
        problem = self._files.save(replace(stored, values=updated))
        if problem is not None:
            # The token is valid nevertheless; the next session refreshes it again.
            self._feedback("error", f"Failed to save MCP OAuth token: {problem}")
        return str(fresh["accessToken"])

    def _expired(self, token: JsonObject) -> bool:
        expires = token.get("expiresAt")
        if not isinstance(expires, (int, float)) or not expires:
            return False
        return self._clock.now_ms() + _EARLY_MS >= expires

    async def _refreshed(
        self, stored: JsonObject, oauth: OAuthConfig, client_id: str
    ) -> JsonObject:
        old: JsonObject = stored["token"]
        form = {
            "grant_type": "refresh_token",
            "refresh_token": str(old["refreshToken"]),
            "client_id": client_id,
        }
        headers = {"Accept": "application/json, application/x-www-form-urlencoded"}
        _authenticate(form, headers, stored, oauth)
        if oauth.scopes:
            form["scope"] = " ".join(oauth.scopes)
        if oauth.audiences:
            form["audience"] = " ".join(oauth.audiences)
        resource = _resource(stored.get("mcpServerUrl"))
        if resource is not None:
            form["resource"] = resource
        token_url = str(stored["tokenUrl"])
        with self._clock.real_work():
            url = await validated_endpoint(
                token_url, allow_loopback=is_loopback_url(resource or token_url)
            )
            terms = Terms(answer_bytes=ANSWER_BYTES, private=True)
            async with open_mcp_client(terms, timeout=TIMEOUT_S) as client:
                response = await client.post(url, data=form, headers=headers)
        answer = _token_answer(response)
        fresh: JsonObject = {
            "accessToken": answer["access_token"],
            "tokenType": answer.get("token_type") or "Bearer",
            "refreshToken": answer.get("refresh_token") or old["refreshToken"],
        }
        scope = answer.get("scope") or old.get("scope")
        if scope:
            fresh["scope"] = scope
        expires = expires_at(answer.get("expires_in"), self._clock)
        return fresh if expires is None else {**fresh, "expiresAt": expires}


def _authenticate(
    form: dict[str, str], headers: dict[str, str], stored: JsonObject, oauth: OAuthConfig
) -> None:
    """Add the client's secret as it was agreed at the sign-in; upstream always posts it."""
    secret = oauth.client_secret or stored.get("clientSecret")
    if not secret:
        return
    if stored.get("tokenAuthMethod") == "client_secret_basic":
        pair = f"{quote(form['client_id'], safe='')}:{quote(str(secret), safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form["client_secret"] = str(secret)


def _resource(url: Any) -> str | None:
    """The server's URL without query and fragment, as the protocol's `resource`."""
    if not isinstance(url, str):
        return None
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        return None
    return f"{parts.scheme}://{parts.netloc}{parts.path or '/'}"


def expires_at(seconds: Any, clock: Clock) -> int | None:
    """When a token expires that is valid for `seconds`, in ms; `None` for what is no duration."""
    try:
        duration = float(seconds)
    except (TypeError, ValueError):
        return None
    return clock.now_ms() + int(duration * 1000) if 0 < duration < _MOST_S else None


def refusal(response: httpx2.Response) -> str:
    """What a refusing endpoint reports: `error - description`, or its status alone.

    The rest of the answer may repeat what was sent to the endpoint, so it is left out.
    """
    text = response.text
    try:
        answer: Any = parse_json(text)
    except ValueError:
        answer = {key: values[0] for key, values in parse_qs(text).items()}
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, str):
        return f"HTTP {response.status_code}"
    description = answer.get("error_description")
    return f"{error} - {description if isinstance(description, str) else 'No description'}"


def _token_answer(response: httpx2.Response) -> JsonObject:
    if not response.is_success:
        raise TokenError(f"Token refresh failed: {refusal(response)}")
    text = response.text
    try:
        answer: Any = parse_json(text)
    except ValueError:
        answer = {key: values[0] for key, values in parse_qs(text).items()}
    if not isinstance(answer, dict) or not isinstance(answer.get("access_token"), str):
        raise TokenError("Token refresh failed: no access token in the answer")
    return answer
