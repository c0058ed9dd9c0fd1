"""The seam between a connection and whoever has a server's messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from services.wire import JsonObject

__all__ = ["ConnectionEvents"]


class ConnectionEvents(Protocol):
    """Who is told what a server says unasked. Called synchronously, in order of arrival."""

    def roots(self) -> list[JsonObject]:
        """The folders that the server may know of."""
        ...

    def notified(self, method: str, params: Mapping[str, Any]) -> None:
        """A notification."""
        ...

    def failed(self, error: Exception) -> None:
        """Something came in that is no message, or answers nothing."""
        ...
