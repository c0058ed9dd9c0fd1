from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExporter, MetricExportResult, MetricsData
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from services.telemetry.otlp import Collector


class Spans(SpanExporter):
    def __init__(self, result: SpanExportResult | Exception) -> None:
        self.result = result
        self.taken: list[str] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.taken += [span.name for span in spans]
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


class Metrics(MetricExporter):
    def __init__(self, result: MetricExportResult) -> None:
        super().__init__()
        self.result = result
        self.taken = 0

    def export(
        self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any
    ) -> MetricExportResult:
        self.taken += 1
        return self.result

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        return True

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:
        pass


def measured(collector: Collector) -> None:
    resource = Resource({})
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    tracers.add_span_processor(collector.spans)
    meters = MeterProvider([collector.metrics], resource, shutdown_on_exit=False)
    for name in ("one", "two"):
        tracers.get_tracer("t").start_span(name).end()
    meters.get_meter("t").create_counter("c").add(1)
    collector.finish()
    meters.shutdown()
    tracers.shutdown()


def test_everything_is_sent_by_the_end() -> None:
    warnings: list[str] = []
    spans, metrics = Spans(SpanExportResult.SUCCESS), Metrics(MetricExportResult.SUCCESS)
    measured(Collector(spans, metrics, warnings.append))
    assert (spans.taken, metrics.taken, warnings) == (["one", "two"], 1, [])


@pytest.mark.parametrize("result", [SpanExportResult.FAILURE, OSError("unreachable")])
def test_failed_exports_are_reported_once(result: Any) -> None:
    warnings: list[str] = []
    measured(Collector(Spans(result), Metrics(MetricExportResult.FAILURE), warnings.append))
    assert warnings == ["Telemetry is not complete: the collector did not take all of it"]
