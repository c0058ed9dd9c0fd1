"""The metrics, with the conventions' buckets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from opentelemetry.metrics import Counter, Histogram, Meter

from services.telemetry import names
from services.telemetry.cleaning import Attributes, cleaned

__all__ = ["Instruments"]

_SECONDS: Final = (
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
)  # fmt: skip
_TOKENS: Final = tuple(float(4**power) for power in range(14))


class _Distribution:
    """A histogram without secrets in its attributes."""

    def __init__(self, histogram: Histogram) -> None:
        self._histogram = histogram

    def record(self, amount: float, attributes: Attributes) -> None:
        """Add a measurement."""
        self._histogram.record(amount, cleaned(attributes))


class _Count:
    """A counter without secrets in its attributes."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter

    def add(self, amount: int, attributes: Attributes) -> None:
        """Add `amount`."""
        self._counter.add(amount, cleaned(attributes))


class Instruments:
    """All metrics, made once per session."""

    def __init__(self, meter: Meter) -> None:
        def distribution(
            name: str, unit: str, description: str, buckets: Sequence[float]
        ) -> _Distribution:
            histogram = meter.create_histogram(
                name,
                unit=unit,
                description=description,
                explicit_bucket_boundaries_advisory=buckets,
            )
            return _Distribution(histogram)

        def seconds(name: str, description: str) -> _Distribution:
            return distribution(name, "s", description, _SECONDS)

        def count(name: str, unit: str, description: str) -> _Count:
            return _Count(meter.create_counter(name, unit=unit, description=description))

        self.call_duration = seconds(names.METRIC_CALL_DURATION, "Duration of model calls.")
        self.first_chunk = seconds(
            names.METRIC_FIRST_CHUNK, "Time from a streaming request to its first chunk."
        )
        self.turn_duration = seconds(names.METRIC_TURN_DURATION, "Duration of turns.")
        self.tool_duration = seconds(names.METRIC_TOOL_DURATION, "Duration of tool executions.")
        self.tokens = distribution(
            names.METRIC_TOKENS, "{token}", "Input and output tokens of model calls.", _TOKENS
        )
        self.tool_calls = count(
            names.METRIC_TOOL_CALLS, "{call}", "Tool calls that ended, run or not."
        )
        self.retries = count(names.METRIC_RETRIES, "{attempt}", "Further attempts that were made.")
        self.fallbacks = count(names.METRIC_FALLBACKS, "{fallback}", "Changes to a stand-in model.")
