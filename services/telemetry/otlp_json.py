"""Spans and metrics in OTLP's JSON encoding, as the collector's file receivers read it.

Source: the OpenTelemetry protocol's specification, "JSON Protobuf Encoding": ids are hexadecimal,
64-bit numbers are texts, enums are numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from opentelemetry.trace import SpanKind

from services.wire import JsonObject

__all__ = ["metrics_object", "span_object"]

_KINDS: Final = {SpanKind.INTERNAL: 1, SpanKind.CLIENT: 3}
_CUMULATIVE: Final = 2


def span_object(span: ReadableSpan) -> JsonObject:
    """One span as a `TracesData` object of its own."""
    context = span.context
    assert context is not None
    told: JsonObject = {
        "traceId": f"{context.trace_id:032x}",
        "spanId": f"{context.span_id:016x}",
        "name": span.name,
        "kind": _KINDS[span.kind],
        "startTimeUnixNano": str(span.start_time),
        "endTimeUnixNano": str(span.end_time),
        "attributes": _attributes(span.attributes),
        "events": [
            {
                "timeUnixNano": str(event.timestamp),
                "name": event.name,
                "attributes": _attributes(event.attributes),
            }
            for event in span.events
        ],
        "status": {"code": span.status.status_code.value},
    }
    if span.parent is not None:
        told["parentSpanId"] = f"{span.parent.span_id:016x}"
    scope = {"scope": _scope(span.instrumentation_scope), "spans": [told]}
    return {"resourceSpans": [{"resource": _resource(span.resource), "scopeSpans": [scope]}]}


def metrics_object(data: MetricsData, *, began_ns: int, now_ns: int) -> JsonObject:
    """Everything that was measured from `began_ns` to `now_ns`, by the session's clock.

    Sorted: what was measured first, of things that happen at the same time, is chance.
    """
    return {
        "resourceMetrics": [
            {
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
            for of_resource in data.resource_metrics
        ]
    }


def _metric(metric: Metric, began_ns: int, now_ns: int) -> JsonObject:
    told: JsonObject = {
        "name": metric.name,
        "unit": metric.unit,
        "description": metric.description,
    }
    times = {"startTimeUnixNano": str(began_ns), "timeUnixNano": str(now_ns)}
    if isinstance(metric.data, Sum):
        told["sum"] = {
            "aggregationTemporality": _CUMULATIVE,
            "isMonotonic": metric.data.is_monotonic,
            "dataPoints": _points(metric.data.data_points, _count, times),
        }
    elif isinstance(metric.data, Histogram):
        told["histogram"] = {
            "aggregationTemporality": _CUMULATIVE,
            "dataPoints": _points(metric.data.data_points, _distribution, times),
        }
    return told


def _points(
    points: Sequence[Any], shown: Callable[[Any], JsonObject], times: Mapping[str, str]
) -> list[JsonObject]:
    told = [
        {"attributes": _attributes(point.attributes), **times, **shown(point)} for point in points
    ]
    return sorted(told, key=lambda point: str(point["attributes"]))


def _count(point: NumberDataPoint) -> JsonObject:
    return {"asInt": str(point.value)}


def _distribution(point: HistogramDataPoint) -> JsonObject:
    return {
        "count": str(point.count),
        "sum": point.sum,
        "min": point.min,
        "max": point.max,
        "bucketCounts": [str(count) for count in point.bucket_counts],
        "explicitBounds": list(point.explicit_bounds),
    }


def _resource(resource: Resource) -> JsonObject:
    return {"attributes": _attributes(resource.attributes)}


def _scope(scope: InstrumentationScope | None) -> JsonObject:
    return {} if scope is None else {"name": scope.name, "version": scope.version or ""}


def _attributes(attributes: Mapping[str, Any] | None) -> list[JsonObject]:
    return [{"key": key, "value": _value(value)} for key, value in (attributes or {}).items()]


def _value(value: Any) -> JsonObject:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, (list, tuple)):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}
