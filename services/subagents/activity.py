"""The activities that a subagent reports while it runs.

Source: core `agents/types.ts` (`SubagentActivityEvent`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from services.wire import JsonObject

__all__ = [
    "CANCELLED_MESSAGE",
    "REJECTED_PREFIX",
    "ActivityErrorType",
    "ActivityType",
    "OnActivity",
    "SubagentActivity",
]

REJECTED_PREFIX: Final = "User rejected this operation."
CANCELLED_MESSAGE: Final = "Request cancelled."


class ActivityType(StrEnum):
    """The kind of activity."""

    TOOL_CALL_START = "TOOL_CALL_START"
    TOOL_CALL_END = "TOOL_CALL_END"
    THOUGHT_CHUNK = "THOUGHT_CHUNK"
    ERROR = "ERROR"


class ActivityErrorType(StrEnum):
    """The kind of an ERROR."""

    REJECTED = "REJECTED"
    CANCELLED = "CANCELLED"
    GENERIC = "GENERIC"


@dataclass(frozen=True, slots=True)
class SubagentActivity:
    """One activity; `data` has the wire's keys (`text`; `name`, `args`, `callId`; `error` …)."""

    type: ActivityType
    data: JsonObject


OnActivity = Callable[[SubagentActivity], None]
