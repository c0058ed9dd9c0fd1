"""Providers of credentials for `auth` blocks.

Source: core `agents/auth-provider/` (`factory.ts`, `api-key-provider.ts`, `http-provider.ts`).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from services.clock import Clock
from services.subagents.remote.errors import RemoteAgentError
from services.subagents.remote.google import AccountTokens, GoogleCredentialsAuth
from services.subagents.remote.providers import AuthProvider
from services.subagents.remote.secrets import Secrets
from services.subagents.remote.values import ValueResolver, is_command
from services.wire import JsonObject

__all__ = ["ApiKeyAuth", "AuthSeams", "HttpAuth", "make_provider"]

_DEFAULT_HEADER: Final = "X-API-Key"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthSeams:
    """The seams of the providers."""

    values: ValueResolver
    secrets: Secrets
    clock: Clock
    google: AccountTokens


async def make_provider(
    auth: JsonObject, *, agent: str, target_url: str | None, seams: AuthSeams
) -> AuthProvider:
    """Make the provider for an `auth` block and resolve its values.

    Raises:
        RemoteAgentError: a value cannot be resolved, or the block's type is not supported.
    """
    match auth.get("type"):
        case "apiKey":
            provider: AuthProvider = ApiKeyAuth(auth, seams)
        case "http":
            provider = HttpAuth(auth, seams)
        case "google-credentials":
            return GoogleCredentialsAuth(
                auth, target_url, tokens=seams.google, secrets=seams.secrets, clock=seams.clock
            )
        case "oauth2":
            raise RemoteAgentError(
                f'OAuth2 authentication for agent "{agent}" needs a person at a browser, which '
                "sessions without a terminal do not have. Use apiKey, http or google-credentials "
                "in the agent's auth block."
            )
        case "openIdConnect":
            raise RemoteAgentError("openIdConnect auth provider not yet implemented")
        case other:
            raise RemoteAgentError(f"Unknown auth type: {other}")
    await provider.renew()
    return provider


class ApiKeyAuth(AuthProvider):
    """A key in a header. A key can change only if a command prints it."""

    def __init__(self, auth: JsonObject, seams: AuthSeams) -> None:
        super().__init__()
        self._key = str(auth["key"])
        self._header = str(auth.get("name") or _DEFAULT_HEADER)
        self._seams = seams
        self._resolved = ""

    @property
    def renewable(self) -> bool:
        """Whether the key comes from a command."""
        return is_command(self._key)

    async def renew(self) -> None:
        """Resolve the key."""
        self._resolved = await self._seams.values.resolve(self._key)
        self._seams.secrets.add(self._resolved)

    async def headers(self) -> Mapping[str, str]:
        """`X-API-Key`, or the header that the block names."""
        return {self._header: self._resolved}


class HttpAuth(AuthProvider):
    """`Authorization` with a bearer token, a name and password, or another scheme's value."""

    def __init__(self, auth: JsonObject, seams: AuthSeams) -> None:
        super().__init__()
        self._auth = auth
        self._seams = seams
        self._line = ""

    async def renew(self) -> None:
        """Resolve the block's values."""
        if "token" in self._auth:
            self._line = f"Bearer {await self._resolved('token')}"
        elif "username" in self._auth:
            user = await self._seams.values.resolve(str(self._auth["username"]))
            pair = f"{user}:{await self._resolved('password')}".encode()
            encoded = base64.b64encode(pair).decode()
            self._seams.secrets.add(encoded)
            self._line = f"Basic {encoded}"
        else:
            self._line = f"{self._auth.get('scheme')} {await self._resolved('value')}"

    async def headers(self) -> Mapping[str, str]:
        """The `Authorization` header."""
        return {"Authorization": self._line}

    async def _resolved(self, key: str) -> str:
        value = await self._seams.values.resolve(str(self._auth.get(key, "")))
        self._seams.secrets.add(value)
        return value
