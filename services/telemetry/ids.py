"""Span and trace ids from the session's own `IdSource`: counted in a replay, random otherwise."""

from __future__ import annotations

from opentelemetry.sdk.trace.id_generator import IdGenerator

from services.ids import IdSource

__all__ = ["SeamIdGenerator"]


class SeamIdGenerator(IdGenerator):
    """Ids of scopes that nobody else uses, so that a run's own ids are the same without it."""

    def __init__(self, ids: IdSource) -> None:
        self._ids = ids

    def generate_span_id(self) -> int:
        """64 bits, never 0."""
        return int(self._ids.uuid("telemetry span").replace("-", "")[:16], 16)

    def generate_trace_id(self) -> int:
        """128 bits, never 0."""
        return int(self._ids.uuid("telemetry trace").replace("-", ""), 16)
