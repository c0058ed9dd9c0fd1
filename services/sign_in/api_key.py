"""The user's API key, stored encrypted with the other credentials.

Source: core `core/apiKeyCredentialStorage.ts`. The published command line prefers the system's
keychain, and uses this file where there is none.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Final

from services.clock import Clock
from services.json_values import parse_json
from services.mcp.sealed_file import SealedFile, UnreadableSecrets
from services.wire import js_json

__all__ = ["ApiKeyStore"]

logger = logging.getLogger(__name__)

_SERVICE: Final = "gemini-cli-api-key"
_ENTRY: Final = "default-api-key"
_FILE: Final = "gemini-credentials.json"


class ApiKeyStore:
    """The key of one user.

    Args:
        home: the user's home.
    """

    def __init__(self, home: Path) -> None:
        self._sealed = SealedFile(home / ".gemini" / _FILE)

    def load(self) -> str | None:
        """The stored key; `None`: there is none that can be read."""
        if not self._sealed.path.exists():
            return None
        try:
            text = self._sealed.secrets(_SERVICE).get(_ENTRY)
            found: Any = None if text is None else parse_json(text)
            return None if found is None else str(found["token"]["accessToken"]) or None
        except (OSError, UnreadableSecrets, ValueError, TypeError, KeyError) as error:
            logger.warning("the stored API key cannot be read: %s", error)
            return None

    def save(self, key: str, clock: Clock) -> None:
        """Store a key; an empty one removes it.

        Raises:
            UnreadableSecrets: other secrets of the file cannot be read, and would be lost.
            OSError: the file cannot be written.
        """
        if not key.strip():
            self._sealed.remove(_SERVICE, _ENTRY)
            return
        entry = {
            "serverName": _ENTRY,
            "token": {"accessToken": key, "tokenType": "ApiKey"},
            "updatedAt": clock.now_ms(),
        }
        self._sealed.put(_SERVICE, _ENTRY, js_json(entry))
