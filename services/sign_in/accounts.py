"""The accounts that a session can use, each a source of access tokens.

Source: core `code_assist/oauth2.ts` (`initOauthClient`); google-auth-library (`OAuth2Client`,
`Compute`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

import httpx

from services.clock import Clock
from services.json_values import parse_json
from services.model.errors import FatalAuthenticationError
from services.net.clients import open_client
from services.net.errors import NetError
from services.net.terms import Terms
from services.sign_in.store import AccountStore, StoredAccount
from services.sign_in.token_server import SIGN_IN_AGAIN, Tokens, TokenServer

__all__ = ["Account", "FixedAccount", "KeyFileAccount", "MetadataAccount", "UserAccount"]

_EARLY_MS: Final = 5 * 60 * 1000
"""A token that expires within five minutes counts as expired."""
_METADATA_PATH: Final = "/computeMetadata/v1/instance/service-accounts/default/token"
_FLAVOR: Final = {"Metadata-Flavor": "Google"}
_METADATA_BYTES: Final = 64 * 1024
_METADATA_TIMEOUT_S: Final = 5.0


class Account(Protocol):
    """Issues access tokens."""

    async def token(self) -> str:
        """A token that is valid as far as is known.

        Raises:
            FatalAuthenticationError: there is none; the message says what the user can do.
        """
        ...

    async def renewed(self, rejected: str) -> str:
        """Another token than `rejected`, which a server has refused.

        Raises:
            FatalAuthenticationError: there is none; the message says what the user can do.
        """
        ...


class FixedAccount:
    """The token of a variable of the environment, which nothing renews."""

    def __init__(self, token: str, variable: str) -> None:
        self._token = token
        self._variable = variable

    async def token(self) -> str:
        """That token."""
        return self._token

    async def renewed(self, rejected: str) -> str:
        """Raise, since there is no other token.

        Raises:
            FatalAuthenticationError: always.
        """
        raise FatalAuthenticationError(
            f"The token in {self._variable} has expired or was revoked: set a new one"
        )


class _Renewing:
    """An account whose tokens expire; one refresh at a time."""

    def __init__(self, clock: Clock, tokens: Tokens | None = None) -> None:
        self._clock = clock
        self._tokens = tokens
        self._renewing = asyncio.Lock()

    async def token(self) -> str:
        """The kept token, or a new one shortly before it expires."""
        async with self._renewing:
            kept = self._tokens
            if kept is None or self._expires_soon(kept):
                kept = self._tokens = await self._fresh()
            return kept.access

    async def renewed(self, rejected: str) -> str:
        """A new token, unless another request has fetched one since."""
        async with self._renewing:
            kept = self._tokens
            if kept is None or kept.access == rejected:
                kept = self._tokens = await self._fresh()
            return kept.access

    def _expires_soon(self, tokens: Tokens) -> bool:
        expires = tokens.expires_ms
        return expires is not None and self._clock.now_ms() + _EARLY_MS >= expires

    async def _fresh(self) -> Tokens:
        raise NotImplementedError


class UserAccount(_Renewing):
    """The account that the user signed in with.

    Args:
        stored: its tokens.
        server: refreshes them.
        store: receives refreshed tokens.
        clock: decides which tokens have expired.
    """

    def __init__(
        self, stored: StoredAccount, server: TokenServer, store: AccountStore, clock: Clock
    ) -> None:
        super().__init__(clock, stored.tokens)
        self._stored = stored
        self._server = server
        self._store = store

    async def check(self) -> None:
        """Find out whether the tokens are still valid, and were issued to this application.

        Raises:
            FatalAuthenticationError: they are not, and cannot be refreshed.
        """
        access = await self.token()
        audience = await self._server.audience(access)
        if audience is None:
            access = await self.renewed(access)
            audience = await self._server.audience(access)
        expected = self._stored.client_id
        if audience is None:
            raise FatalAuthenticationError(
                f"Google does not accept the token that it has just issued; {SIGN_IN_AGAIN}"
            )
        if expected is not None and audience != expected:
            raise FatalAuthenticationError(
                f"The stored token was issued to another application; {SIGN_IN_AGAIN}"
            )

    async def _fresh(self) -> Tokens:
        tokens, client = self._stored.tokens, self._server.client
        if tokens.refresh is None:
            raise FatalAuthenticationError(
                f"The Google sign-in has expired and cannot be refreshed; {SIGN_IN_AGAIN}"
            )
        issued_to = self._stored.client_id
        if client is not None and issued_to not in (None, client.client_id):
            raise FatalAuthenticationError(
                f"The stored sign-in belongs to another OAuth client; {SIGN_IN_AGAIN}"
            )
        fresh = await self._server.refresh(tokens.refresh)
        self._stored = replace(
            self._stored, tokens=fresh, client_id=self._server.required_client().client_id
        )
        self._store.write(self._stored)
        return fresh


class MetadataAccount(_Renewing):
    """The account of a machine of Compute Engine or Cloud Shell.

    Its metadata server is asked over plain HTTP, as there is no other way, without credentials.
    `GCE_METADATA_HOST` replaces its address.
    """

    def __init__(self, variables: Mapping[str, str], clock: Clock) -> None:
        super().__init__(clock)
        named = variables.get("GCE_METADATA_HOST") or variables.get("GCE_METADATA_IP")
        self._host = named or "metadata.google.internal"

    async def _fresh(self) -> Tokens:
        terms = Terms(answer_bytes=_METADATA_BYTES)
        try:
            with self._clock.real_work():
                async with open_client(terms, timeout=_METADATA_TIMEOUT_S) as http:
                    url = f"http://{self._host}{_METADATA_PATH}"
                    response = await http.get(url, headers=_FLAVOR)
            said = parse_json(response.content) if response.is_success else {}
        except (httpx.HTTPError, NetError, ValueError, RecursionError) as error:
            raise _no_metadata(str(error) or type(error).__name__) from error
        access = said.get("access_token") if isinstance(said, dict) else None
        if not response.is_success:
            raise _no_metadata(f"it answers with HTTP {response.status_code}")
        if response.headers.get("metadata-flavor") != "Google" or not isinstance(access, str):
            raise _no_metadata("the answer is not that of a metadata server")
        assert isinstance(said, dict)
        seconds: Any = said.get("expires_in")
        lasts = int(seconds * 1000) if isinstance(seconds, int | float) else 0
        return Tokens(access=access, expires_ms=self._clock.now_ms() + lasts)


class KeyFileAccount(_Renewing):
    """The account of a credentials file: a service account, a federated or a user account.

    Args:
        file: the file that `GOOGLE_APPLICATION_CREDENTIALS` names.
        scopes: what its tokens are for.
        clock: decides which tokens have expired.
    """

    def __init__(self, file: Path, scopes: tuple[str, ...], clock: Clock) -> None:
        super().__init__(clock)
        self._file = file
        self._scopes = scopes

    async def _fresh(self) -> Tokens:
        # The library takes long to import, and few sessions need it.
        from services.sign_in.key_files import fetched_token

        with self._clock.real_work():
            return await asyncio.to_thread(fetched_token, self._file, self._scopes)


def _no_metadata(reason: str) -> FatalAuthenticationError:
    return FatalAuthenticationError(
        "Could not authenticate using metadata server application default credentials. Please "
        "select a different authentication method or ensure you are in a properly configured "
        f"environment. Error: {reason}"
    )
