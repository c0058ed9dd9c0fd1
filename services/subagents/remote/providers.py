"""`AuthProvider`: the headers with credentials, and renewed ones after a refusal.

Source: core `agents/auth-provider/base-provider.ts`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Final

__all__ = ["DENIED", "AuthProvider"]

DENIED: Final = frozenset({401, 403})
"""The statuses after which renewed headers may help."""
_MAX_RETRIES: Final = 2
"""The limit on retries without a success between them."""


class AuthProvider(ABC):
    """One agent's credentials, in memory."""

    def __init__(self) -> None:
        self._retries = 0

    @abstractmethod
    async def headers(self) -> Mapping[str, str]:
        """Return the headers for a request.

        Raises:
            RemoteAgentError: the credentials are not available.
        """

    async def headers_after(self, status: int) -> Mapping[str, str] | None:
        """Return the headers for a retry after `status`; `None`: no retry.

        Raises:
            RemoteAgentError: the credentials are not available.
        """
        if status not in DENIED:
            self._retries = 0
            return None
        if not self.renewable or self._retries >= _MAX_RETRIES:
            return None
        self._retries += 1
        await self.renew()
        return await self.headers()

    @property
    def renewable(self) -> bool:
        """Whether renewed credentials can differ."""
        return True

    @abstractmethod
    async def renew(self) -> None:
        """Renew the credentials.

        Raises:
            RemoteAgentError: they are not available.
        """
