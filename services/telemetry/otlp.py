"""Sends spans and metrics to a collector over OTLP/HTTP: the optional extra `otlp`."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final

from opentelemetry.sdk.metrics.export import (
    MetricExporter,
    MetricExportResult,
    MetricsData,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from services.telemetry.contract import TelemetryError
from services.telemetry.outfile_json import LogRecord

__all__ = ["Collector", "checked_exporters"]

_PACKAGE: Final = "opentelemetry.exporter.otlp.proto.http"
_TIMEOUT_S: Final = 2
"""For one request with its retries, so that an exit is not delayed."""


def checked_exporters(endpoint: str) -> tuple[SpanExporter, MetricExporter]:
    """Return the exporters to `endpoint`.

    Raises:
        TelemetryError: they are not installed.
    """
    try:
        traces: Any = importlib.import_module(f"{_PACKAGE}.trace_exporter")
        metrics: Any = importlib.import_module(f"{_PACKAGE}.metric_exporter")
    except ImportError as error:
        raise TelemetryError(
            "telemetry.otlpEndpoint: sending to a collector needs the extra `otlp`; install "
            "parity[otlp], or name a file with telemetry.outfile or --telemetry-outfile"
        ) from error
    from services.net.collector import collector_session  # needs what the extra brings

    base = endpoint.rstrip("/")
    return (
        traces.OTLPSpanExporter(
            endpoint=f"{base}/v1/traces", timeout=_TIMEOUT_S, session=collector_session()
        ),
        metrics.OTLPMetricExporter(
            endpoint=f"{base}/v1/metrics", timeout=_TIMEOUT_S, session=collector_session()
        ),
    )


class Collector:
    """A collector, to which the SDK's threads send.

    Args:
        spans: sends spans.
        metrics: sends metrics.
        warn: called once when an export fails.
    """

    def __init__(
        self, spans: SpanExporter, metrics: MetricExporter, warn: Callable[[str], None]
    ) -> None:
        # The exporters log every failure; the user sees only the first one.
        logging.getLogger("opentelemetry.exporter").addHandler(logging.NullHandler())
        once = _Once(warn)
        self.spans = BatchSpanProcessor(_Spans(spans, once))
        self.metrics = PeriodicExportingMetricReader(_Metrics(metrics, once))

    def log(self, record: LogRecord) -> None:
        """Drop the record: only files receive records."""

    def export_metrics(self) -> None:
        """Do nothing: the reader sends the metrics from time to time."""

    def finish(self) -> None:
        """Send the remaining spans; the shutdown of their provider sends the metrics."""
        self.spans.force_flush(_TIMEOUT_S * 1000)


class _Once:
    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._warned = False

    def failed(self) -> None:
        if not self._warned:
            self._warned = True
            self._warn("Telemetry is not complete: the collector did not take all of it")


class _Spans(SpanExporter):
    def __init__(self, inner: SpanExporter, once: _Once) -> None:
        self._inner = inner
        self._once = once

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        try:
            result = self._inner.export(spans)
        except Exception:  # noqa: BLE001 - no failure of an export may end the run
            result = SpanExportResult.FAILURE
        if result is not SpanExportResult.SUCCESS:
            self._once.failed()
        return result

    def shutdown(self) -> None:
        self._inner.shutdown()


class _Metrics(MetricExporter):
    def __init__(self, inner: MetricExporter, once: _Once) -> None:
        super().__init__()
        self._inner = inner
        self._once = once

    def export(
        self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any
    ) -> MetricExportResult:
        try:
            result = self._inner.export(metrics_data, timeout_millis, **kwargs)
        except Exception:  # noqa: BLE001 - as above
            result = MetricExportResult.FAILURE
        if result is not MetricExportResult.SUCCESS:
            self._once.failed()
        return result

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        return self._inner.force_flush(timeout_millis)

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:
        self._inner.shutdown(timeout_millis, **kwargs)
