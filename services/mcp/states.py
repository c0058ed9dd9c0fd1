"""Where servers stand. Source: core `tools/mcp-client.ts`."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["McpDiscoveryState", "McpServerStatus"]


class McpServerStatus(StrEnum):
    """Where a server stands."""

    DISCONNECTED = "disconnected"
    DISCONNECTING = "disconnecting"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    BLOCKED = "blocked"
    DISABLED = "disabled"


class McpDiscoveryState(StrEnum):
    """Whether the servers' offers are known yet."""

    NOT_STARTED = "not_started"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
