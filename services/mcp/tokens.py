"""Stored OAuth tokens of servers: read, refreshed when expired, removed when refused.

The file is shared with the published command line tool: `<home>/.gemini/mcp-oauth-tokens.json`,
a list with one entry per server. There is no login here.

Source: core `mcp/oauth-token-storage.ts`, `mcp/oauth-provider.ts` (`getValidToken`),
`utils/oauth-flow.ts` (`refreshAccessToken`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx2

from services.clock import Clock
from services.json_values import parse_json
from services.mcp.config import OAuthConfig
from services.mcp.endpoints import OAuthSecurityError, is_loopback_url, validated_endpoint
from services.net.mcp_clients import open_mcp_client
from services.net.terms import Terms
from services.node_errors import node_error_message
from services.private_files import make_private_folder, write_private
from services.regular_files import MOST_TEXT, read_regular
from services.wire import JsonObject, js_json_pretty

__all__ = ["TokenError", "TokenStore", "tokens_path"]

logger = logging.getLogger(__name__)

_EARLY_MS: Final = 5 * 60 * 1000
"""A token that expires within five minutes counts as expired."""
_TIMEOUT_S: Final = 30.0
_ANSWER_BYTES: Final = 1024 * 1024

Feedback = Callable[[str, str], None]
"""Receives errors: severity and text."""


class TokenError(Exception):
    """A refresh failed; the message is the endpoint's."""


def tokens_path(home: Path) -> Path:
    """Where the tokens of a user are."""
    return home / ".gemini" / "mcp-oauth-tokens.json"


class TokenStore:
    """The tokens of one user. Each call reads the file, as another process may have logged in."""

    def __init__(self, path: Path, clock: Clock, *, feedback: Feedback) -> None:
        self._path = path
        self._clock = clock
        self._feedback = feedback

    def credentials(self, server: str) -> JsonObject | None:
        """What is stored for `server`: `{serverName, token, clientId?, tokenUrl?, …}`."""
        return self._all().get(server)

    async def valid_token(self, server: str, oauth: OAuthConfig) -> str | None:
        """A valid token, refreshed if necessary, or `None`. A failed refresh removes the token."""
        stored = self.credentials(server)
        if stored is None:
            return None
        token: JsonObject = stored["token"]
        if not self._expired(token):
            return str(token["accessToken"])
        client_id = oauth.client_id or stored.get("clientId")
        if not (token.get("refreshToken") and client_id and stored.get("tokenUrl")):
            return None
        try:
            fresh = await self._refreshed(stored, oauth, str(client_id))
        except (
            TokenError,
            OAuthSecurityError,
            httpx2.HTTPError,
            httpx2.StreamError,
            OSError,
        ) as error:
            logger.warning("refreshing the token of %s failed: %s", server, error)
            self._feedback("error", "Failed to refresh auth token.")
            self._delete(server)
            return None
        self._save({**stored, "token": fresh, "clientId": client_id})
        return str(fresh["accessToken"])

    def _expired(self, token: JsonObject) -> bool:
        expires = token.get("expiresAt")
        return bool(expires) and self._clock.now_ms() + _EARLY_MS >= float(expires or 0)

    async def _refreshed(
        self, stored: JsonObject, oauth: OAuthConfig, client_id: str
    ) -> JsonObject:
        old: JsonObject = stored["token"]
        form = {
            "grant_type": "refresh_token",
            "refresh_token": str(old["refreshToken"]),
            "client_id": client_id,
        }
        if oauth.client_secret:
            form["client_secret"] = oauth.client_secret
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
            terms = Terms(answer_bytes=_ANSWER_BYTES, private=True)
            async with open_mcp_client(terms, timeout=_TIMEOUT_S) as client:
                response = await client.post(
                    url,
                    data=form,
                    headers={"Accept": "application/json, application/x-www-form-urlencoded"},
                )
        answer = _token_answer(response)
        fresh: JsonObject = {
            "accessToken": answer["access_token"],
            "tokenType": answer.get("token_type") or "Bearer",
            "refreshToken": answer.get("refresh_token") or old["refreshToken"],
        }
        scope = answer.get("scope") or old.get("scope")
        if scope:
            fresh["scope"] = scope
        if answer.get("expires_in"):
            fresh["expiresAt"] = self._clock.now_ms() + int(float(answer["expires_in"]) * 1000)
        return fresh

    def _all(self) -> dict[str, JsonObject]:
        try:
            listed: Any = parse_json(read_regular(self._path, MOST_TEXT))
            return {
                entry["serverName"]: entry
                for entry in listed
                if isinstance(entry.get("token"), dict) and entry["token"].get("accessToken")
            }
        except FileNotFoundError:
            return {}
        except OSError as error:
            problem = node_error_message(error, "open", self._path)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            problem = f"{self._path} is no list of tokens: {error}"
        self._feedback("error", f"Failed to load MCP OAuth tokens: {problem}")
        return {}

    def _save(self, credential: JsonObject) -> None:
        tokens = self._all()
        name = credential["serverName"]
        tokens[name] = {**credential, "updatedAt": self._clock.now_ms()}
        try:
            self._write(list(tokens.values()))
        except OSError as error:
            # The token is valid nevertheless; the next session refreshes it again.
            self._feedback("error", f"Failed to save MCP OAuth token: {error.strerror}")

    def _delete(self, server: str) -> None:
        tokens = self._all()
        if tokens.pop(server, None) is None:
            return
        try:
            if tokens:
                self._write(list(tokens.values()))
            else:
                self._path.unlink()
        except OSError as error:
            self._feedback("error", f"Failed to remove MCP OAuth token: {error.strerror}")

    def _write(self, tokens: list[JsonObject]) -> None:
        make_private_folder(self._path.parent)
        text = js_json_pretty(tokens).encode("utf-8", "replace")
        scratch = self._path.with_name(f".{self._path.name}.new")
        # Through a file of its own: a crash in between must not lose tokens.
        write_private(scratch, text, draft=True)
        scratch.replace(self._path)


def _resource(url: Any) -> str | None:
    """The server's URL without query and fragment, as the protocol's `resource`."""
    if not isinstance(url, str):
        return None
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        return None
    return f"{parts.scheme}://{parts.netloc}{parts.path or '/'}"


def _token_answer(response: httpx2.Response) -> JsonObject:
    text = response.text
    if not response.is_success:
        form = parse_qs(text)
        if "error" in form:
            description = form.get("error_description", ["No description"])[0]
            raise TokenError(f"Token refresh failed: {form['error'][0]} - {description}")
        raise TokenError(f"Token refresh failed: {response.status_code} - {text}")
    try:
        answer: Any = parse_json(text)
    except ValueError:
        answer = {key: values[0] for key, values in parse_qs(text).items()}
    if not isinstance(answer, dict) or not isinstance(answer.get("access_token"), str):
        raise TokenError("Token refresh failed: no access token in the answer")
    return answer
