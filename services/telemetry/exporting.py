"""Destinations of spans, metrics and records. A failed export is reported once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, Protocol

from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from services.clock import Clock
from services.exhaustion import notice
from services.private_files import open_private
from services.telemetry.contract import TelemetryError
from services.telemetry.outfile_json import (
    LogRecord,
    metrics_object,
    record_object,
    span_object,
)
from services.wire import JsonObject, js_json_pretty

__all__ = ["Destination", "Outfile"]

_NS_PER_MS = 1_000_000


class Destination(Protocol):
    """Receives the measurements of a session."""

    @property
    def spans(self) -> SpanProcessor:
        """The processor of every span."""
        ...

    @property
    def metrics(self) -> MetricReader:
        """The reader of the metrics."""
        ...

    def log(self, record: LogRecord) -> None:
        """Receive a record of the log."""
        ...

    def export_metrics(self) -> None:
        """Write the metrics as they are now, unless something else sends them from time to time."""
        ...

    def finish(self) -> None:
        """Write or send the rest, metrics included, at the session's end."""
        ...


class Outfile(SpanProcessor):
    """A file as the published CLI writes it: records at once, spans at their end, metrics as asked.

    Args:
        file: appended to.
        resource: part of every record.
        clock: the session's clock, for the metrics' times.
        warn: called once when writing fails.

    Raises:
        TelemetryError: the file cannot be opened.
    """

    def __init__(
        self, file: Path, resource: Resource, clock: Clock, warn: Callable[[str], None]
    ) -> None:
        self._resource = resource
        self.metrics = InMemoryMetricReader()
        self._file = file
        self._clock = clock
        self._warn = warn
        self._began_ms = clock.now_ms()
        self._exported: object = None
        """The metrics that the file has."""
        try:
            # Unbuffered: after a kill the file has whole objects.
            self._stream: IO[bytes] | None = open_private(file, "ab", buffering=0)
        except OSError as error:
            raise TelemetryError(
                f"{file}: cannot be written: {error.strerror}; name another file with "
                "telemetry.outfile or --telemetry-outfile"
            ) from error

    @property
    def spans(self) -> SpanProcessor:
        """This processor."""
        return self

    def on_end(self, span: ReadableSpan) -> None:
        """Write a span that has ended."""
        self._write(span_object(span))

    def log(self, record: LogRecord) -> None:
        """Write a record of the log."""
        self._write(record_object(record, self._resource))

    def export_metrics(self) -> None:
        """Write the metrics, if they have changed."""
        data = self.metrics.get_metrics_data()
        if data is None or not data.resource_metrics:
            return
        began_ns = self._began_ms * _NS_PER_MS
        timeless = metrics_object(data, began_ns=began_ns, now_ns=began_ns)
        if timeless == self._exported:
            return
        self._exported = timeless
        now_ns = self._clock.now_ms() * _NS_PER_MS
        self._write(metrics_object(data, began_ns=began_ns, now_ns=now_ns))

    def finish(self) -> None:
        """Write the metrics, and close the file."""
        self.export_metrics()
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _write(self, entry: JsonObject) -> None:
        if self._stream is None:
            return
        rest = f"{js_json_pretty(entry)}\n".encode(errors="replace")
        try:
            while rest:
                rest = rest[self._stream.write(rest) :]
        except OSError as error:
            notice(error, self._file)
            self._stream.close()
            self._stream = None
            self._warn(f"Telemetry stopped: {self._file} cannot be written: {error.strerror}")
