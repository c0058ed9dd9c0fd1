"""The events of one stream that every kind of agent has: numbered, begun, ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_protocol.events import AgentEnd, AgentStart, ErrorEvent
from services.clock import Clock, iso_timestamp
from services.presentation.errors import ErrorFields

__all__ = ["NumberedEvents"]


class NumberedEvents:
    """Numbers one stream's events."""

    def __init__(self, stream_id: str, *, clock: Clock) -> None:
        self._stream_id = stream_id
        self._clock = clock
        self._count = 0

    def fields(self) -> dict[str, Any]:
        """Id, stream and time of the stream's next event."""
        number = self._count
        self._count += 1
        return {
            "id": f"{self._stream_id}-{number}",
            "stream_id": self._stream_id,
            "timestamp": iso_timestamp(self._clock.now_ms()),
        }

    def start(self) -> AgentStart:
        """The stream's `agent_start`."""
        return AgentStart(**self.fields())

    def end(self, reason: str, data: Mapping[str, Any] | None = None) -> AgentEnd:
        """The stream's `agent_end`."""
        return AgentEnd(**self.fields(), reason=reason, data=data)

    def error(self, data: ErrorFields) -> ErrorEvent:
        """An `error` event."""
        return ErrorEvent(
            **self.fields(),
            status=data.status,
            message=data.message,
            fatal=data.fatal,
            meta=data.meta,
        )
