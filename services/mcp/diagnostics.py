"""Messages about servers for the user.

Until the user uses MCP, only one hint is emitted; afterwards each message, once.

Source: core `tools/mcp-client-manager.ts` (`emitDiagnostic`).
"""

from __future__ import annotations

import logging
from typing import Final

from services.state import CoreEvents, UserFeedback

__all__ = ["McpDiagnostics"]

logger = logging.getLogger(__name__)

_HINT: Final = "MCP issues detected. Run /mcp list for status."


class McpDiagnostics:
    """The diagnostics of one session."""

    def __init__(self, events: CoreEvents) -> None:
        self._events = events
        self._shown: dict[tuple[str, str], bool] = {}
        self._hinted = False
        self._interacted = False

    def user_interacted(self) -> None:
        """Emit messages from now on: the user called a server's tool or a command about servers."""
        self._interacted = True

    def emit(self, severity: str, message: str) -> None:
        """Report a message.

        Args:
            severity: `info`, `warning` or `error`.
            message: what the user reads.
        """
        key = (severity, message)
        shown = self._shown.get(key)
        if self._interacted:
            if shown:
                return
            self._shown[key] = True
            self._events.emit(UserFeedback(severity=severity, message=message))
            return
        if shown is not None:
            return
        self._shown[key] = False
        logger.info("[MCP %s] %s", severity, message)
        if severity in ("error", "warning") and not self._hinted:
            self._hinted = True
            self._events.emit(UserFeedback(severity="info", message=_HINT))
