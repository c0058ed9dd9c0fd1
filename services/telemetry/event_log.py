"""`EventLog`: logs a session's events as the published core does.

Records and attributes have the core's names, so that readers of the core's log read this one.
Source: core `telemetry/loggers.ts`, `telemetry/types.ts`,
`telemetry/telemetryAttributes.ts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from services.clock import Clock, iso_timestamp
from services.redaction import redacted, redacted_value
from services.state import CoreEvent, Logged
from services.telemetry.cleaning import cleaned
from services.telemetry.log_metrics import LogMetrics
from services.telemetry.outfile_json import LogRecord
from services.telemetry.recorder import current_scope, guarded
from services.wire import js_json, js_json_pretty

__all__ = ["EventLog"]

SCOPE: Final = "gemini-cli"


class EventLog:
    """Writes and counts the records of one session.

    Args:
        write: receives each record.
        metrics: counts records.
        clock: virtual in a replay.
        common: attributes of every record.
        content: whether to record the content of users, models and tools.
    """

    def __init__(
        self,
        write: Callable[[LogRecord], None],
        metrics: LogMetrics,
        clock: Clock,
        *,
        common: Mapping[str, Any],
        content: bool,
    ) -> None:
        self.content = content
        self._write = write
        self._metrics = metrics
        self._clock = clock
        self._common = dict(common)
        metrics.count_session(common)

    @guarded
    def notice(self, event: CoreEvent) -> None:
        """Log an event of the session, if it is a `Logged`."""
        if isinstance(event, Logged):
            self.record(event.name, event.body, event.attributes, event.spoken)

    @guarded
    def record(
        self,
        name: str,
        body: str,
        attributes: Mapping[str, Any],
        spoken: Mapping[str, Any] | None = None,
    ) -> None:
        """Write one record and count it.

        Args:
            name: the event's full name, such as `gemini_cli.tool_call`.
            body: the record's text.
            attributes: objects become JSON over several lines, lists JSON on one line; `None`
                values are left out.
            spoken: attributes with content, for a log that records it.
        """
        now_ms = self._clock.now_ms()
        shown = {
            **self._common,
            "event.name": name,
            "event.timestamp": iso_timestamp(now_ms),
            **attributes,
            **((spoken or {}) if self.content else {}),
        }
        scope = current_scope()
        span = None if scope is None or scope.span is None else scope.span.get_span_context()
        self._write(
            LogRecord(
                at_ms=now_ms,
                body=redacted(body.encode(errors="replace").decode()),
                attributes=cleaned(
                    {key: _attribute(value) for key, value in shown.items() if value is not None}
                ),
                scope=SCOPE,
                span=span,
            )
        )
        self._metrics.count(name, {**attributes, **self._common})


def _attribute(value: Any) -> Any:
    if isinstance(value, Mapping):
        return js_json_pretty(redacted_value(dict(value)))
    if isinstance(value, list):
        return js_json(redacted_value(value))
    return value
