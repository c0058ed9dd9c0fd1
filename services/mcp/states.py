"""The states of servers. Source: core `tools/mcp-client.ts`."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["McpServerStatus"]


class McpServerStatus(StrEnum):
    """The state of a server."""

    DISCONNECTED = "disconnected"
    DISCONNECTING = "disconnecting"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    BLOCKED = "blocked"
    DISABLED = "disabled"
