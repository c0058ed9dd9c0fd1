"""`AuthProvider`: the headers that let us in, and new ones when they do not.

Source: core `agents/auth-provider/base-provider.ts`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Final

__all__ = ["DENIED", "AuthProvider"]

DENIED: Final = frozenset({401, 403})
"""The statuses that other headers may mend."""
_MAX_RETRIES: Final = 2
"""Until the agent lets us in once."""


class AuthProvider(ABC):
    """One agent's credentials, in memory for as long as its client."""

    def __init__(self) -> None:
        self._retries = 0

    @abstractmethod
    async def headers(self) -> Mapping[str, str]:
        """What to send with a request.

        Raises:
            RemoteAgentError: the credentials cannot be had.
        """

    async def headers_after(self, status: int) -> Mapping[str, str] | None:
        """What to send the same request with once more, after `status`; `None`: not again.

        Raises:
            RemoteAgentError: the credentials cannot be had any more.
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
        """Whether asking again can bring anything else."""
        return True

    @abstractmethod
    async def renew(self) -> None:
        """Get the credentials anew.

        Raises:
            RemoteAgentError: they cannot be had.
        """
