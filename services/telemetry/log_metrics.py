"""The published core's metrics over the records of its log.

Source: core `telemetry/metrics.ts`, `telemetry/loggers.ts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.metrics import Counter, Histogram, Meter

from services.telemetry.cleaning import cleaned

__all__ = ["LogMetrics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """A metric of the records called `event`; `attributes` maps a record's names to the metric's.

    Each record counts as one or, with `measures`, adds the attribute of that name; with a `unit`
    the attribute is a measurement.
    """

    event: str
    metric: str
    words: str
    attributes: Mapping[str, str]
    measures: str | None = None
    unit: str | None = None
    when: Callable[[Mapping[str, Any]], bool] = lambda _: True
    fixed: Mapping[str, str] | None = None


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


def _measured(record: Mapping[str, Any], path: str) -> Any:
    """Return the number at a dotted path of the record, else 0."""
    value: Any = record
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, (int, float)) else 0


def _positive(path: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda record: _measured(record, path) > 0


_ROUTED: Final = {
    "decision_model": "routing.decision_model",
    "decision_source": "routing.decision_source",
    "failed": "routing.failed",
    "reasoning": "routing.reasoning",
    "approval_mode": "routing.approval_mode",
    "enable_numerical_routing": "routing.enable_numerical_routing",
    "classifier_threshold": "routing.classifier_threshold",
}
_HOOKS: Final = _same("hook_event_name", "hook_name", "success")
_TOKENS: Final = (
    ("input_token_count", "input"),
    ("output_token_count", "output"),
    ("cached_content_token_count", "cache"),
    ("thoughts_token_count", "thought"),
    ("tool_token_count", "tool"),
)
_API_COUNT: Final = ("gemini_cli.api.request.count", "Counts API requests.")
_API_LATENCY: Final = ("gemini_cli.api.request.latency", "Latency of API requests.")
_RULES: Final = (
    _Rule(
        event="gemini_cli.tool_call",
        metric="gemini_cli.tool.call.latency",
        words="Latency of tool calls.",
        attributes=_same("function_name"),
        measures="duration_ms",
        unit="ms",
    ),
    *(
        _Rule(
            event="gemini_cli.tool_call",
            metric="gemini_cli.lines.changed",
            words="Counts lines that tools have changed.",
            attributes=_same("function_name"),
            measures=f"metadata.model_{kind}_lines",
            fixed={"type": kind},
            when=_positive(f"metadata.model_{kind}_lines"),
        )
        for kind in ("added", "removed")
    ),
    _Rule(
        event="gemini_cli.api_response",
        metric=_API_COUNT[0],
        words=_API_COUNT[1],
        attributes=_same("model", "status_code"),
    ),
    _Rule(
        event="gemini_cli.api_error",
        metric=_API_COUNT[0],
        words=_API_COUNT[1],
        attributes={**_same("model", "status_code"), "error.type": "error_type"},
    ),
    *(
        _Rule(
            event=event,
            metric=_API_LATENCY[0],
            words=_API_LATENCY[1],
            attributes=_same("model"),
            measures="duration_ms",
            unit="ms",
        )
        for event in ("gemini_cli.api_response", "gemini_cli.api_error")
    ),
    *(
        _Rule(
            event="gemini_cli.api_response",
            metric="gemini_cli.token.usage",
            words="Counts tokens.",
            attributes=_same("model"),
            measures=measures,
            fixed={"type": kind},
        )
        for measures, kind in _TOKENS
    ),
    _Rule(
        event="gemini_cli.onboarding.start",
        metric="gemini_cli.onboarding.start",
        words="Counts onboardings that began.",
        attributes={},
    ),
    _Rule(
        event="gemini_cli.onboarding.success",
        metric="gemini_cli.onboarding.success",
        words="Counts onboardings that succeeded.",
        attributes=_same("user_tier"),
    ),
    _Rule(
        event="gemini_cli.onboarding.success",
        metric="gemini_cli.onboarding.duration",
        words="Latency of onboardings.",
        attributes=_same("user_tier"),
        measures="duration_ms",
        unit="ms",
    ),
    _Rule(
        event="gemini_cli.file_operation",
        metric="gemini_cli.file.operation.count",
        words="Counts file operations: create, read, update.",
        attributes=_same("operation", "lines", "mimetype", "extension", "programming_language"),
    ),
    _Rule(
        event="gemini_cli.model_routing",
        metric="gemini_cli.model_routing.latency",
        words="Latency of decisions about the model.",
        attributes=_ROUTED,
        measures="routing_latency_ms",
        unit="ms",
    ),
    _Rule(
        event="gemini_cli.model_routing",
        metric="gemini_cli.model_routing.failure.count",
        words="Counts decisions about the model that failed.",
        attributes={**_ROUTED, "error_message": "routing.error_message"},
        when=lambda record: bool(record.get("failed")),
    ),
    _Rule(
        event="gemini_cli.hook_call",
        metric="gemini_cli.hook_call.count",
        words="Counts hook calls.",
        attributes=_HOOKS,
    ),
    _Rule(
        event="gemini_cli.hook_call",
        metric="gemini_cli.hook_call.latency",
        words="Latency of hook calls.",
        attributes=_HOOKS,
        measures="duration_ms",
        unit="ms",
    ),
    _Rule(
        event="gemini_cli.chat_compression",
        metric="gemini_cli.chat_compression",
        words="Counts compressions of a conversation.",
        attributes=_same("tokens_before", "tokens_after"),
    ),
    _Rule(
        event="gemini_cli.plan.execution",
        metric="gemini_cli.plan.execution.count",
        words="Counts approved plans.",
        attributes=_same("approval_mode"),
    ),
    _Rule(
        event="gemini_cli.chat.content_retry",
        metric="gemini_cli.chat.content_retry.count",
        words="Counts attempts that follow an invalid answer.",
        attributes={},
    ),
    _Rule(
        event="gemini_cli.chat.content_retry_failure",
        metric="gemini_cli.chat.content_retry_failure.count",
        words="Counts invalid answers after which no attempt is left.",
        attributes={},
    ),
    _Rule(
        event="gemini_cli.agent.finish",
        metric="gemini_cli.agent.run.count",
        words="Counts runs of agents.",
        attributes=_same("agent_name", "terminate_reason"),
    ),
    _Rule(
        event="gemini_cli.agent.finish",
        metric="gemini_cli.agent.duration",
        words="Duration of runs of agents.",
        attributes=_same("agent_name"),
        measures="duration_ms",
        unit="ms",
    ),
)
_SESSIONS: Final = ("gemini_cli.session.count", "Counts sessions.")


class LogMetrics:
    """Counts the records of a session; instruments are made on first use."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._counters: dict[str, Counter] = {}
        self._histograms: dict[str, Histogram] = {}
        self._common: dict[str, Any] = {}

    def count_session(self, common: Mapping[str, Any]) -> None:
        """Count the session; `common` are attributes of every metric."""
        self._common = {key: value for key, value in common.items() if value is not None}
        self._counter(*_SESSIONS).add(1, cleaned(self._common))

    def count(self, event: str, record: Mapping[str, Any]) -> None:
        """Count a record of `event` with the attributes `record`."""
        for rule in _RULES:
            if rule.event == event and rule.when(record):
                self._apply(rule, record)

    def _apply(self, rule: _Rule, record: Mapping[str, Any]) -> None:
        named = {
            theirs: record[ours]
            for ours, theirs in rule.attributes.items()
            if record.get(ours) is not None
        }
        attributes = cleaned({**self._common, **named, **(rule.fixed or {})})
        amount = 1 if rule.measures is None else _measured(record, rule.measures)
        if rule.unit is None:
            self._counter(rule.metric, rule.words).add(amount, attributes)
        else:
            self._histogram(rule.metric, rule.unit, rule.words).record(amount, attributes)

    def _counter(self, name: str, words: str) -> Counter:
        if name not in self._counters:
            self._counters[name] = self._meter.create_counter(name, description=words)
        return self._counters[name]

    def _histogram(self, name: str, unit: str, words: str) -> Histogram:
        if name not in self._histograms:
            self._histograms[name] = self._meter.create_histogram(
                name, unit=unit, description=words
            )
        return self._histograms[name]
