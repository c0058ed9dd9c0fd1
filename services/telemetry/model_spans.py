"""A span and measurements for every model call."""

from __future__ import annotations

from typing import Any

from opentelemetry.trace import Span

from services.model.errors import ApiError, error_name
from services.model.metering import CallEnd, ModelCall
from services.telemetry import names
from services.telemetry.content import messages, newest_contents
from services.telemetry.recorder import Attributes, Recorder, guarded
from services.wire import JsonObject

__all__ = ["ModelCallSpans"]

_MS = 1000


class ModelCallSpans:
    """The `ModelCallObserver` of a session that is measured."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._spans: dict[ModelCall, Span] = {}
        self._said: dict[ModelCall, list[Any]] = {}

    @guarded
    def call_began(self, call: ModelCall) -> None:
        """Start its span."""
        request = call.request
        attributes: dict[str, Any] = {
            **self._common(call),
            names.REQUEST_STREAM: call.streaming,
            names.ROLE: str(request.role),
            names.PROMPT_ID: request.prompt_id,
        }
        for key, name, number in names.REQUEST_NUMBERS:
            value = request.config.get(key)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                attributes[name] = number(value)
        if request.config.get("responseMimeType") == "application/json":
            attributes[names.OUTPUT_TYPE] = "json"
        if self._recorder.content:
            attributes[names.INPUT_MESSAGES] = messages(newest_contents(request.contents))
            self._said[call] = []
        self._spans[call] = self._recorder.begin(
            f"{names.GENERATE_CONTENT} {request.model}",
            attributes,
            began_ms=call.began_ms,
            client=True,
        )

    @guarded
    def call_received(self, call: ModelCall, response: JsonObject) -> None:
        """Keep the response's parts, if content is recorded."""
        if call in self._said:
            for candidate in (response.get("candidates") or ())[:1]:
                self._said[call] += (candidate.get("content") or {}).get("parts") or ()

    @guarded
    def call_ended(self, call: ModelCall) -> None:
        """End its span and count it."""
        span, said = self._spans.pop(call), self._said.pop(call, None)
        attributes: dict[str, Any] = {**_response(call), **_usage(call), **_error(call)}
        if said:
            attributes[names.OUTPUT_MESSAGES] = messages([{"role": "model", "parts": said}])
        ended_ms = call.began_ms if call.ended_ms is None else call.ended_ms
        failed = call.end is CallEnd.FAILED
        self._recorder.end(span, attributes, ended_ms=ended_ms, failed=failed)
        self._count(call)

    def _common(self, call: ModelCall) -> dict[str, Any]:
        return {
            names.OPERATION: names.GENERATE_CONTENT,
            names.PROVIDER: self._recorder.provider,
            names.REQUEST_MODEL: call.request.model,
        }

    def _count(self, call: ModelCall) -> None:
        instruments, attributes = self._recorder.instruments, self._common(call)
        if call.model:
            attributes[names.RESPONSE_MODEL] = call.model
        instruments.call_duration.record(call.duration_ms / _MS, {**attributes, **_error(call)})
        if call.streaming and call.first_ms is not None:
            instruments.first_chunk.record((call.first_ms - call.began_ms) / _MS, attributes)
        usage = _usage(call)
        for kind, name in (("input", names.INPUT_TOKENS), ("output", names.OUTPUT_TOKENS)):
            if name in usage:
                instruments.tokens.record(usage[name], {**attributes, names.TOKEN_TYPE: kind})


def _response(call: ModelCall) -> Attributes:
    found: dict[str, Any] = {}
    if call.model:
        found[names.RESPONSE_MODEL] = call.model
    if call.response_id:
        found[names.RESPONSE_ID] = call.response_id
    if call.finish_reason:
        found[names.FINISH_REASONS] = (call.finish_reason,)
    if call.streaming and call.first_ms is not None:
        found[names.FIRST_CHUNK] = (call.first_ms - call.began_ms) / _MS
    return found


def _usage(call: ModelCall) -> dict[str, int]:
    """Token counts by attribute. Thoughts count as output, the model's own tools as input."""
    usage = call.usage or {}

    def tokens(*keys: str) -> int | None:
        known = [usage[key] for key in keys if isinstance(usage.get(key), int)]
        return sum(known) if known else None

    found = {
        names.INPUT_TOKENS: tokens("promptTokenCount", "toolUsePromptTokenCount"),
        names.OUTPUT_TOKENS: tokens("candidatesTokenCount", "thoughtsTokenCount"),
        names.CACHED_TOKENS: tokens("cachedContentTokenCount"),
        names.REASONING_TOKENS: tokens("thoughtsTokenCount"),
    }
    return {name: count for name, count in found.items() if count is not None}


def _error(call: ModelCall) -> Attributes:
    """The kind of error. Its message may contain content."""
    if call.end is CallEnd.ABANDONED:
        return {names.ERROR_TYPE: names.CANCELLED}
    if call.error is None:
        return {}
    if isinstance(call.error, ApiError):
        return {names.ERROR_TYPE: str(call.error.status)}
    return {names.ERROR_TYPE: error_name(call.error)}
