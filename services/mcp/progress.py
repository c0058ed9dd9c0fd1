"""Progress of calls, from a server's notifications.

Source: core `tools/mcp-client.ts` (`ProgressNotificationSchema`, `McpCallableTool`),
`utils/events.ts` (`emitMcpProgress`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["McpProgress", "ProgressRoutes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpProgress:
    """The progress of an executing call. `total` and `message` are optional."""

    server_name: str
    call_id: str
    progress: float
    total: float | None = None
    message: str | None = None


class ProgressRoutes:
    """The progress tokens of a server's calls under way."""

    def __init__(self, server: str, emit: Callable[[McpProgress], None]) -> None:
        self._server = server
        self._emit = emit
        self._calls: dict[str, str] = {}

    def open(self, token: str, call_id: str) -> None:
        """Report progress with `token` as that of the call `call_id`."""
        self._calls[token] = call_id

    def close(self, token: str) -> None:
        """End the call; later notifications are dropped."""
        self._calls.pop(token, None)

    def take(self, params: Mapping[str, Any]) -> None:
        """Handle a notification's parameters; invalid ones are ignored."""
        token, progress = params.get("progressToken"), _number(params.get("progress"))
        call_id = self._calls.get(token) if isinstance(token, str) else None
        if not isinstance(token, str) or call_id is None or progress is None or progress < 0:
            return
        message = params.get("message")
        self._emit(
            McpProgress(
                server_name=self._server,
                call_id=call_id,
                progress=progress,
                total=_number(params.get("total")),
                message=message if isinstance(message, str) else None,
            )
        )


def _number(value: Any) -> float | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None
