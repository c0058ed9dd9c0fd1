"""`AccountStore`: where the tokens of the user's Google account are stored.

They are written to the encrypted file that the published tool uses with
`GEMINI_FORCE_ENCRYPTED_FILE_STORAGE=true`. Its default, the plain file `oauth_creds.json`, is read
as well.

Source: core `code_assist/oauth-credential-storage.ts`, `code_assist/oauth2.ts`
(`fetchCachedCredentialsList`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from services.clock import Clock
from services.json_values import parse_json
from services.mcp.sealed_file import SealedFile, UnreadableSecrets
from services.model.errors import FatalAuthenticationError
from services.regular_files import MOST_TEXT, read_regular
from services.sign_in.token_server import Tokens
from services.wire import JsonObject, js_json

__all__ = ["AccountStore", "StoredAccount"]

_SERVICE: Final = "gemini-cli-oauth"
_ACCOUNT: Final = "main-account"
_SEALED: Final = "gemini-credentials.json"
_PLAIN: Final = "oauth_creds.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAccount:
    """A stored account."""

    tokens: Tokens
    client_id: str | None = None
    """The OAuth client that the tokens were issued to; the published tool does not store it."""


class AccountStore:
    """The account of one user.

    Args:
        home: the user's home folder.
        clock: dates the entry.
        warn: receives the problem of a file that cannot be read.
    """

    def __init__(self, home: Path, clock: Clock, warn: Callable[[str], None]) -> None:
        folder = home / ".gemini"
        self._sealed = SealedFile(folder / _SEALED)
        self._plain = folder / _PLAIN
        self._clock = clock
        self._warn = warn

    def read(self) -> StoredAccount | None:
        """The stored account, of two the one whose token expires later."""
        found = [each for each in (self._from_sealed(), self._from_plain()) if each is not None]
        return max(found, key=lambda each: each.tokens.expires_ms or 0, default=None)

    def write(self, account: StoredAccount) -> None:
        """Store an account in the encrypted file.

        Raises:
            FatalAuthenticationError: the file cannot be written.
        """
        tokens = account.tokens
        token: JsonObject = {
            "accessToken": tokens.access,
            "refreshToken": tokens.refresh,
            "tokenType": "Bearer",
            "expiresAt": tokens.expires_ms,
        }
        entry = {
            "serverName": _ACCOUNT,
            "token": {name: value for name, value in token.items() if value is not None},
            "clientId": account.client_id,
            "updatedAt": self._clock.now_ms(),
        }
        try:
            self._sealed.put(_SERVICE, _ACCOUNT, js_json(entry))
        except (OSError, UnreadableSecrets) as error:
            raise FatalAuthenticationError(f"The sign-in cannot be stored: {error}") from error

    def clear(self) -> None:
        """Remove the account from both files.

        Raises:
            FatalAuthenticationError: a file cannot be changed.
        """
        try:
            self._sealed.remove(_SERVICE, _ACCOUNT)
            self._plain.unlink(missing_ok=True)
        except (OSError, UnreadableSecrets) as error:
            raise FatalAuthenticationError(f"The sign-in cannot be removed: {error}") from error

    def _from_sealed(self) -> StoredAccount | None:
        try:
            text = self._sealed.secrets(_SERVICE).get(_ACCOUNT)
            entry: Any = None if text is None else parse_json(text)
        except (OSError, UnreadableSecrets, ValueError) as error:
            self._warn(f"The stored Google sign-in cannot be read: {error}")
            return None
        token = entry.get("token") if isinstance(entry, dict) else None
        if not isinstance(token, dict):
            return None
        client_id = entry.get("clientId")
        return _account(
            token.get("accessToken"), token.get("refreshToken"), token.get("expiresAt"), client_id
        )

    def _from_plain(self) -> StoredAccount | None:
        try:
            said: Any = parse_json(read_regular(self._plain, MOST_TEXT))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            self._warn(f"{self._plain} cannot be read: {type(error).__name__}")
            return None
        if not isinstance(said, dict):
            self._warn(f"{self._plain} holds no sign-in")
            return None
        return _account(
            said.get("access_token"), said.get("refresh_token"), said.get("expiry_date"), None
        )


def _account(access: Any, refresh: Any, expires: Any, client_id: Any) -> StoredAccount | None:
    if not isinstance(access, str) or not access:
        return None
    return StoredAccount(
        tokens=Tokens(
            access=access,
            refresh=refresh if isinstance(refresh, str) and refresh else None,
            expires_ms=int(expires) if isinstance(expires, int | float) else None,
        ),
        client_id=client_id if isinstance(client_id, str) else None,
    )
