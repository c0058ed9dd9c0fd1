"""Records, spans and metrics as the published CLI writes them into `telemetry.outfile`.

Each is a JSON object over several lines. Readers recognise a record by an `event.name` in its
`attributes`, metrics by `scopeMetrics` and a span by `_spanContext`. Names with an underscore are
fields of the JavaScript SDK's objects.

Source: core `telemetry/file-exporters.ts`, and what `@google/gemini-cli` 0.61.0 writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.sdk.metrics.export import (
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind

from services.telemetry.cleaning import Attributes
from services.wire import JsonObject

__all__ = ["LogRecord", "metrics_object", "record_object", "span_object"]

_KINDS: Final = {SpanKind.INTERNAL: 0, SpanKind.CLIENT: 2}
_CUMULATIVE: Final = 1
_HISTOGRAM: Final = 0
_SUM: Final = 3
_VALUE_TYPES: Final = {int: 0, float: 1}
_NS_PER_S: Final = 1_000_000_000
_NS_PER_MS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """One record of the log. `at_ms` is milliseconds since the Unix epoch."""

    at_ms: int
    body: str
    attributes: Attributes
    scope: str
    """The name of the instrumentation scope."""
    span: SpanContext | None = None
    """The running span."""


def record_object(record: LogRecord, resource: Resource) -> JsonObject:
    """One record of the log."""
    time = _time(record.at_ms * _NS_PER_MS)
    shown: JsonObject = {"hrTime": time, "hrTimeObserved": time}
    if record.span is not None:
        shown["spanContext"] = _span_context(record.span)
    return {
        **shown,
        "resource": _resource(resource),
        "instrumentationScope": {"name": record.scope},
        "attributes": _attributes(record.attributes),
        "_body": record.body,
        "_attributesCount": len(record.attributes),
        "_droppedAttributesCount": 0,
    }


def span_object(span: ReadableSpan) -> JsonObject:
    """One span that has ended."""
    assert span.context is not None
    assert span.start_time is not None
    assert span.end_time is not None
    shown: JsonObject = {"_spanContext": _span_context(span.context)}
    if span.parent is not None:
        shown["parentSpanContext"] = _span_context(span.parent)
    return {
        **shown,
        "kind": _KINDS[span.kind],
        "attributes": _attributes(span.attributes),
        "links": [],
        "events": [
            {
                "name": event.name,
                "attributes": _attributes(event.attributes),
                "time": _time(event.timestamp),
                "droppedAttributesCount": 0,
            }
            for event in span.events
        ],
        "startTime": _time(span.start_time),
        "resource": _resource(span.resource),
        "instrumentationScope": _scope(span.instrumentation_scope),
        "name": span.name,
        "status": {"code": span.status.status_code.value},
        "endTime": _time(span.end_time),
        "_ended": True,
        "_duration": _time(span.end_time - span.start_time),
    }


def metrics_object(data: MetricsData, *, began_ns: int, now_ns: int) -> JsonObject:
    """All metrics from `began_ns` to `now_ns` by the session's clock.

    They are sorted, because the order of simultaneous measurements is random.
    """
    (of_resource,) = data.resource_metrics
    return {
        "resource": _resource(of_resource.resource),
        "scopeMetrics": [
            {
                "scope": _scope(of_scope.scope),
                "metrics": [
                    _metric(one, began_ns, now_ns)
                    for one in sorted(of_scope.metrics, key=lambda metric: metric.name)
                ],
            }
            for of_scope in of_resource.scope_metrics
        ],
    }


def _metric(metric: Metric, began_ns: int, now_ns: int) -> JsonObject:
    times = {"startTime": _time(began_ns), "endTime": _time(now_ns)}
    if isinstance(metric.data, Histogram):
        points = metric.data.data_points
        measured = type(points[0].sum) if points else int
        return {
            "descriptor": _descriptor(metric, "HISTOGRAM", measured),
            "aggregationTemporality": _CUMULATIVE,
            "dataPointType": _HISTOGRAM,
            "dataPoints": _points(points, _distribution, times),
        }
    assert isinstance(metric.data, Sum)
    return {
        "descriptor": _descriptor(metric, "COUNTER", int),
        "aggregationTemporality": _CUMULATIVE,
        "dataPointType": _SUM,
        "dataPoints": _points(metric.data.data_points, _count, times),
        "isMonotonic": metric.data.is_monotonic,
    }


def _descriptor(metric: Metric, kind: str, measured: type) -> JsonObject:
    return {
        "name": metric.name,
        "type": kind,
        "description": metric.description,
        "unit": metric.unit,
        "valueType": _VALUE_TYPES.get(measured, 1),
        "advice": {},
    }


def _points(
    points: Sequence[Any], value: Callable[[Any], Any], times: Mapping[str, Any]
) -> list[JsonObject]:
    shown: list[JsonObject] = [
        {"attributes": _attributes(point.attributes), **times, "value": value(point)}
        for point in points
    ]
    return sorted(shown, key=lambda point: str(point["attributes"]))


def _count(point: NumberDataPoint) -> int | float:
    return point.value


def _distribution(point: HistogramDataPoint) -> JsonObject:
    return {
        "min": point.min,
        "max": point.max,
        "sum": point.sum,
        "buckets": {
            "boundaries": list(point.explicit_bounds),
            "counts": list(point.bucket_counts),
        },
        "count": point.count,
    }


def _resource(resource: Resource) -> JsonObject:
    pairs = [[key, value] for key, value in _attributes(resource.attributes).items()]
    return {"_rawAttributes": pairs, "_asyncAttributesPending": False}


def _scope(scope: InstrumentationScope | None) -> JsonObject:
    return {} if scope is None else {"name": scope.name, "version": scope.version or ""}


def _span_context(context: SpanContext) -> JsonObject:
    return {
        "traceId": f"{context.trace_id:032x}",
        "spanId": f"{context.span_id:016x}",
        "traceFlags": int(context.trace_flags),
    }


def _attributes(attributes: Mapping[str, Any] | None) -> JsonObject:
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in (attributes or {}).items()
    }


def _time(nanoseconds: int) -> list[int]:
    """Seconds and nanoseconds, as the JavaScript SDK keeps times."""
    return list(divmod(nanoseconds, _NS_PER_S))
