"""`GoogleCredentialsAuth`: the machine's Google account, for Google's hosts only.

Source: core `agents/auth-provider/google-credentials-provider.ts`.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from services.clock import Clock
from services.confinement import may_connect
from services.environment import Environment
from services.json_values import parse_json
from services.subagents.remote.errors import RemoteAgentError
from services.subagents.remote.providers import AuthProvider
from services.subagents.remote.secrets import Secrets
from services.wire import JsonObject

__all__ = ["AccountTokens", "GoogleAccount", "GoogleCredentialsAuth", "GoogleToken"]

_CLOUD_RUN: Final = re.compile(r"(.*\.)?run\.app")
_GOOGLE_APIS: Final = re.compile(r".+\.googleapis\.com")
_SCOPES: Final = ("https://www.googleapis.com/auth/cloud-platform",)
_EARLY_MS: Final = 5 * 60 * 1000
"""A token is renewed this long before it expires."""
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - the library's times are naive


@dataclass(frozen=True, slots=True)
class GoogleToken:
    """A token and its expiry in milliseconds since the epoch, if known."""

    text: str
    expires_ms: int | None


class AccountTokens(Protocol):
    """A source of Google tokens."""

    async def identity(self, audience: str) -> GoogleToken:
        """Return an identity token for `audience`.

        Raises:
            RemoteAgentError: there is no account, or it returns no token.
        """
        ...

    async def access(self, scopes: Sequence[str]) -> GoogleToken:
        """Return an access token for `scopes`.

        Raises:
            RemoteAgentError: there is no account, or it returns no token.
        """
        ...


class GoogleCredentialsAuth(AuthProvider):
    """A token of the machine's account, kept until five minutes before it expires."""

    def __init__(
        self,
        auth: JsonObject,
        target_url: str | None,
        *,
        tokens: AccountTokens,
        secrets: Secrets,
        clock: Clock,
    ) -> None:
        """Check the host that receives the tokens.

        Raises:
            RemoteAgentError: it is not a Google host over TLS.
        """
        super().__init__()
        if not target_url:
            raise RemoteAgentError(
                "targetUrl must be provided to GoogleCredentialsAuthProvider to determine "
                "token audience."
            )
        url = urlsplit(target_url)
        if url.scheme != "https":
            raise RemoteAgentError(
                f'Protocol "{url.scheme}:" is not secure. '
                "Google Credential provider requires HTTPS."
            )
        self._host = url.hostname or ""
        self._identity = _CLOUD_RUN.fullmatch(self._host) is not None
        if not self._identity and _GOOGLE_APIS.fullmatch(self._host) is None:
            raise RemoteAgentError(
                f'Host "{self._host}" is not an allowed host for Google Credential provider.'
            )
        self._scopes = tuple(auth.get("scopes") or _SCOPES)
        self._tokens = tokens
        self._secrets = secrets
        self._clock = clock
        self._kept: GoogleToken | None = None

    async def headers(self) -> Mapping[str, str]:
        """`Authorization: Bearer …` with the kept token, or a new one."""
        kept = self._kept
        if kept is None or self._clock.now_ms() >= (kept.expires_ms or 0) - _EARLY_MS:
            kept = await self._fetched()
            self._secrets.add(kept.text)
            # A token without a known expiry is not kept.
            self._kept = kept if kept.expires_ms is not None else None
        return {"Authorization": f"Bearer {kept.text}"}

    async def renew(self) -> None:
        """Drop the token; the next request fetches one."""
        self._kept = None

    async def _fetched(self) -> GoogleToken:
        if self._identity:
            return await self._tokens.identity(self._host)
        return await self._tokens.access(self._scopes)


class GoogleAccount:
    """The account that the session's environment names: a key file, gcloud's, or the machine's.

    The library's own search reads the process's environment, with which a replay would find the
    account of the machine.
    """

    def __init__(self, environment: Environment, home: Path, clock: Clock) -> None:
        self._environment = environment
        self._home = home
        self._clock = clock

    async def identity(self, audience: str) -> GoogleToken:
        """Return a token for `audience`; its expiry is read from the token.

        Raises:
            RemoteAgentError: there is no account, or it returns no token.
        """
        text = await self._off_loop("ID", lambda: self._fetch_identity(audience))
        return GoogleToken(text, _expiry_ms(text))

    async def access(self, scopes: Sequence[str]) -> GoogleToken:
        """Return a token for `scopes`.

        Raises:
            RemoteAgentError: there is no account, or it returns no token.
        """
        found = await self._off_loop("access", lambda: self._fetch_access(scopes))
        assert isinstance(found, GoogleToken)
        return found

    async def _off_loop(self, kind: str, fetch: Any) -> Any:
        # The library has blocking calls only.
        with self._clock.real_work():
            try:
                may_connect("the servers that issue Google's tokens")
                return await asyncio.to_thread(fetch)
            except (_library("exceptions").GoogleAuthError, OSError, ValueError) as error:
                # The library's message can contain the token server's response.
                raise RemoteAgentError(
                    f"Failed to get ADC {kind} token: {type(error).__name__}"
                ) from None

    def _fetch_identity(self, audience: str) -> str:
        request = _request()
        file = self._file()
        credentials: Any
        if file is None:
            credentials = _library("compute_engine").IDTokenCredentials(
                request, audience, use_metadata_identity_endpoint=True
            )
        else:
            from_file = _library(
                "service_account", of="google.oauth2"
            ).IDTokenCredentials.from_service_account_file
            credentials = from_file(str(file), target_audience=audience)
        credentials.refresh(request)
        return str(credentials.token)

    def _fetch_access(self, scopes: Sequence[str]) -> GoogleToken:
        file = self._file()
        credentials: Any
        if file is None:
            credentials = _library("compute_engine").Credentials(scopes=list(scopes))
        else:
            credentials, _ = _library().load_credentials_from_file(str(file), scopes=list(scopes))
        credentials.refresh(_request())
        expiry = credentials.expiry
        # The library's naive time is UTC.
        ends = None if expiry is None else int((expiry - _EPOCH).total_seconds() * 1000)
        return GoogleToken(str(credentials.token), ends)

    def _file(self) -> Path | None:
        named = self._environment.variables.get("GOOGLE_APPLICATION_CREDENTIALS")
        if named:
            return Path(named)
        gcloud = self._environment.variables.get("CLOUDSDK_CONFIG")
        folder = Path(gcloud) if gcloud else self._home / ".config" / "gcloud"
        own = folder / "application_default_credentials.json"
        return own if own.is_file() else None


def _request() -> Any:
    from services.net.google import GoogleRequest  # slow: it imports the Google library

    return GoogleRequest()


def _library(module: str | None = None, *, of: str = "google.auth") -> Any:
    """Import a module of the Google library, which is mostly untyped."""
    return importlib.import_module(of if module is None else f"{of}.{module}")


def _expiry_ms(token: str) -> int | None:
    """Return a token's expiry, if it has one."""
    try:
        body = token.split(".")[1]
        claims = parse_json(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        return int(claims["exp"]) * 1000
    except (IndexError, KeyError, TypeError, ValueError, RecursionError):
        return None
