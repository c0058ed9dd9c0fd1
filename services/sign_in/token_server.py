"""`TokenServer`: requests to Google's authorization server, and its refusals as sentences.

Source: google-auth-library (`OAuth2Client.getToken`, `refreshToken`, `getTokenInfo`,
`revokeToken`); RFC 6749, 7009, 7636.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import parse_qsl

import httpx

from services.clock import Clock
from services.json_values import parse_json
from services.model.errors import FatalAuthenticationError
from services.net.clients import open_client
from services.net.errors import NetError
from services.net.terms import Terms
from services.redaction import redacted
from services.sign_in.endpoints import CLIENT_VARIABLE, GoogleEndpoints, OAuthClient
from services.wire import JsonObject

__all__ = ["SIGN_IN_AGAIN", "TokenServer", "Tokens"]

SIGN_IN_AGAIN: Final = "sign in again with `parity auth login`"
_ANSWER_BYTES: Final = 1024 * 1024
_TIMEOUT_S: Final = 30.0
_SKEW_MS: Final = 5 * 60 * 1000
"""A clock that is off by more than this is named as the likely cause of a refusal."""
_LONGEST_S: Final = 1e10
_PUBLIC: Final = frozenset({"grant_type", "client_id", "redirect_uri"})
"""The fields of a request that are no secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """An account's tokens. `repr` shows neither."""

    access: str = field(repr=False)
    refresh: str | None = field(default=None, repr=False)
    expires_ms: int | None = None
    """When `access` expires, in ms since the epoch; `None`: unknown."""


class TokenServer:
    """Google's authorization server.

    Args:
        endpoints: its addresses.
        client: the OAuth client; `None`: no token can be issued or refreshed.
        clock: dates tokens; stands still during a request.
    """

    def __init__(self, endpoints: GoogleEndpoints, client: OAuthClient | None, clock: Clock):
        self.endpoints = endpoints
        self.client = client
        self._clock = clock

    def required_client(self) -> OAuthClient:
        """The OAuth client.

        Raises:
            FatalAuthenticationError: the environment names none.
        """
        if self.client is None:
            raise FatalAuthenticationError(
                f"Google login needs an OAuth client: set {CLIENT_VARIABLE} (and "
                "PARITY_OAUTH_CLIENT_SECRET) to a client of the type for desktop applications, "
                "or use GEMINI_API_KEY"
            )
        return self.client

    async def exchange(self, code: str, verifier: str, redirect: str) -> Tokens:
        """Exchange an authorization code.

        Args:
            code: the code.
            verifier: PKCE's verifier, which the request's challenge was made from.
            redirect: the redirect address of that request.

        Raises:
            FatalAuthenticationError: the server refuses, or cannot be reached.
        """
        return await self._issued(
            {
                "grant_type": "authorization_code",
                "code": code,
                "code_verifier": verifier,
                "redirect_uri": redirect,
            },
            self.required_client(),
        )

    async def refresh(self, refresh: str, client: OAuthClient | None = None) -> Tokens:
        """A new access token, with the same refresh token unless the server sends another.

        Args:
            refresh: the refresh token.
            client: the client that it was issued to; by default this server's.

        Raises:
            FatalAuthenticationError: the server refuses, or cannot be reached.
        """
        form = {"grant_type": "refresh_token", "refresh_token": refresh}
        fresh = await self._issued(form, client or self.required_client())
        return Tokens(
            access=fresh.access,
            refresh=fresh.refresh or refresh,
            expires_ms=fresh.expires_ms,
        )

    async def audience(self, access: str) -> str | None:
        """The client that an access token was issued to; `None`: the token is not valid.

        Raises:
            FatalAuthenticationError: the server cannot be reached.
        """
        response = await self._post(self.endpoints.token_info, {"access_token": access})
        if not response.is_success:
            return None
        said = _document(response)
        found = said.get("aud") or said.get("azp")
        return found if isinstance(found, str) else None

    async def revoke(self, token: str) -> None:
        """Revoke a token, and with it the user's consent. One that is not valid is no error.

        Raises:
            FatalAuthenticationError: the server fails, or cannot be reached.
        """
        response = await self._post(self.endpoints.revoke, {"token": token})
        if response.is_success or _document(response).get("error") == "invalid_token":
            return
        raise FatalAuthenticationError(f"The sign-in could not be revoked: {_said(response)}")

    async def _issued(self, form: dict[str, str], client: OAuthClient) -> Tokens:
        form["client_id"] = client.client_id
        if client.secret is not None:
            form["client_secret"] = client.secret
        response = await self._post(self.endpoints.token, form)
        if not response.is_success:
            raise FatalAuthenticationError(self._refusal(response))
        said = _document(response)
        access = said.get("access_token")
        if not isinstance(access, str) or not access:
            raise FatalAuthenticationError(
                "Google's token server sent no access token; try again later"
            )
        refresh = said.get("refresh_token")
        return Tokens(
            access=access,
            refresh=refresh if isinstance(refresh, str) and refresh else None,
            expires_ms=self._expires_ms(said.get("expires_in")),
        )

    async def _post(self, url: str, form: Mapping[str, str]) -> httpx.Response:
        terms = Terms(answer_bytes=_ANSWER_BYTES, private=True)
        try:
            with self._clock.real_work():
                async with open_client(terms, timeout=_TIMEOUT_S, from_environment=True) as http:
                    return await http.post(url, data=dict(form))
        except (httpx.HTTPError, NetError) as error:
            # The text of an error cannot hold the form.
            raise FatalAuthenticationError(
                f"Google's token server cannot be reached: {str(error) or type(error).__name__}"
            ) from error

    def _refusal(self, response: httpx.Response) -> str:
        code = _document(response).get("error")
        if code == "invalid_grant":
            text = f"The Google sign-in has expired or was revoked; {SIGN_IN_AGAIN}"
        elif code in ("invalid_client", "unauthorized_client"):
            text = (
                f"Google refuses the OAuth client ({code}): set {CLIENT_VARIABLE} to the client "
                f"that the sign-in belongs to, or {SIGN_IN_AGAIN}"
            )
        else:
            text = f"Google's token server refused the request: {_said(response)}"
        off = self._off_ms(response)
        if abs(off) <= _SKEW_MS:
            return text
        direction = "ahead of" if off > 0 else "behind"
        return (
            f"{text}. The clock of this machine is {abs(off) // 60_000} minutes {direction} "
            "the server's: correct it first"
        )

    def _off_ms(self, response: httpx.Response) -> int:
        """How far this clock is ahead of the server's, in ms; 0 where its answer has no date."""
        try:
            theirs = parsedate_to_datetime(response.headers["date"])
        except (KeyError, ValueError):
            return 0
        return self._clock.now_ms() - int(theirs.timestamp() * 1000)

    def _expires_ms(self, seconds: Any) -> int | None:
        valid = isinstance(seconds, int | float) and 0 < seconds < _LONGEST_S
        return self._clock.now_ms() + int(seconds * 1000) if valid else None


def _document(response: httpx.Response) -> JsonObject:
    try:
        said = parse_json(response.content)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _said(response: httpx.Response) -> str:
    """The error that an answer names, without the secrets of the request that it may repeat."""
    said = _document(response)
    words = [said.get("error"), said.get("error_description")]
    named = " - ".join(redacted(word) for word in words if isinstance(word, str))
    for name, value in parse_qsl(response.request.content.decode()):
        if name not in _PUBLIC:
            named = named.replace(value, "***")
    return named or f"HTTP {response.status_code}"
