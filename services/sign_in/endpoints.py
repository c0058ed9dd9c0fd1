"""The addresses of Google's authorization server, and the OAuth client that signs in there.

Source: google-auth-library (`OAuth2Client`), as core `code_assist/oauth2.ts` uses it. The published
core has its client in the source; here the environment names the client, because it identifies the
application that the user admits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from services.model.errors import FatalAuthenticationError
from services.net.addresses import is_encrypted_or_local

__all__ = ["CLIENT_VARIABLE", "SCOPES", "GoogleEndpoints", "OAuthClient"]

SCOPES: Final = (
    "https://www.googleapis.com/auth/cloud-platform",
    "https://www.googleapis.com/auth/userinfo.email",
    "https://www.googleapis.com/auth/userinfo.profile",
)
CLIENT_VARIABLE: Final = "PARITY_OAUTH_CLIENT_ID"
_SECRET_VARIABLE: Final = "PARITY_OAUTH_CLIENT_SECRET"  # noqa: S105 - the name of a variable
_ELSEWHERE: Final = "PARITY_OAUTH_URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """An OAuth client of the type for desktop applications. `repr` shows no secret."""

    client_id: str
    secret: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> OAuthClient | None:
        """The client that the environment names, if it names one."""
        client_id = variables.get(CLIENT_VARIABLE)
        if not client_id:
            return None
        return cls(client_id=client_id, secret=variables.get(_SECRET_VARIABLE) or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoogleEndpoints:
    """Where each request of a sign-in goes."""

    authorize: str = "https://accounts.google.com/o/oauth2/v2/auth"
    token: str = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
    token_info: str = "https://oauth2.googleapis.com/tokeninfo"  # noqa: S105 - an address
    revoke: str = "https://oauth2.googleapis.com/revoke"

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> GoogleEndpoints:
        """Google's, or those below `PARITY_OAUTH_URL`.

        Raises:
            FatalAuthenticationError: that address is neither encrypted nor on this machine.
        """
        base = variables.get(_ELSEWHERE, "").rstrip("/")
        if not base:
            return cls()
        if not is_encrypted_or_local(base):
            raise FatalAuthenticationError(
                f"{_ELSEWHERE} must be an https:// address or a loopback address, because tokens "
                "are sent there"
            )
        return cls(
            authorize=f"{base}/auth",
            token=f"{base}/token",
            token_info=f"{base}/tokeninfo",
            revoke=f"{base}/revoke",
        )
