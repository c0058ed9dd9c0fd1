"""The metrics. Buckets are the conventions' own."""

from __future__ import annotations

from typing import Final

from opentelemetry.metrics import Histogram, Meter

from services.telemetry import names

__all__ = ["Instruments"]

_SECONDS: Final = (
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
)  # fmt: skip
_TOKENS: Final = tuple(float(4**power) for power in range(14))


class Instruments:
    """Everything that is counted, made once per session."""

    def __init__(self, meter: Meter) -> None:
        def seconds(name: str, description: str) -> Histogram:
            return meter.create_histogram(
                name,
                unit="s",
                description=description,
                explicit_bucket_boundaries_advisory=_SECONDS,
            )

        self.call_duration = seconds(names.METRIC_CALL_DURATION, "Duration of model calls.")
        self.first_chunk = seconds(
            names.METRIC_FIRST_CHUNK, "Time from a streaming request to its first chunk."
        )
        self.turn_duration = seconds(names.METRIC_TURN_DURATION, "Duration of turns.")
        self.tool_duration = seconds(names.METRIC_TOOL_DURATION, "Duration of tool executions.")
        self.tokens = meter.create_histogram(
            names.METRIC_TOKENS,
            unit="{token}",
            description="Input and output tokens of model calls.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self.tool_calls = meter.create_counter(
            names.METRIC_TOOL_CALLS, unit="{call}", description="Tool calls that ended, run or not."
        )
        self.retries = meter.create_counter(
            names.METRIC_RETRIES, unit="{attempt}", description="Further attempts that were made."
        )
        self.fallbacks = meter.create_counter(
            names.METRIC_FALLBACKS, unit="{fallback}", description="Changes to a stand-in model."
        )
