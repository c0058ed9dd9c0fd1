"""The states of servers. Source: core `tools/mcp-client.ts`."""

from __future__ import annotations

from enum import Enum, StrEnum, auto

__all__ = ["McpServerStatus", "SignedIn"]


class McpServerStatus(StrEnum):
    """The state of a server."""

    DISCONNECTED = "disconnected"
    DISCONNECTING = "disconnecting"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    BLOCKED = "blocked"
    DISABLED = "disabled"


class SignedIn(Enum):
    """Whether the user has signed in to a server."""

    NOT_NEEDED = auto()
    YES = auto()
    NO = auto()
    EXPIRED = auto()
