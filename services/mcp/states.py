"""Where servers stand. Source: core `tools/mcp-client.ts`."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["McpServerStatus"]


class McpServerStatus(StrEnum):
    """Where a server stands."""

    DISCONNECTED = "disconnected"
    DISCONNECTING = "disconnecting"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    BLOCKED = "blocked"
    DISABLED = "disabled"
