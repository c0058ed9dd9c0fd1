"""Logs model calls: `api_request`, `api_response`, `api_error`, and their details.

Source: core `core/loggingContentGenerator.ts`, `telemetry/types.ts` (`ApiRequestEvent`,
`ApiResponseEvent`, `ApiErrorEvent`).
"""

from __future__ import annotations

from typing import Any, Final

from services.model.errors import ApiError, error_name
from services.model.metering import CallEnd, ModelCall
from services.telemetry import names
from services.telemetry.content import messages
from services.telemetry.event_log import EventLog
from services.telemetry.recorder import guarded
from services.wire import JsonObject, Part

__all__ = ["ApiLog"]

_DETAILS: Final = "gen_ai.client.inference.operation.details"
_OK: Final = 200
_COUNTS: Final = (
    ("input_token_count", "promptTokenCount"),
    ("output_token_count", "candidatesTokenCount"),
    ("cached_content_token_count", "cachedContentTokenCount"),
    ("thoughts_token_count", "thoughtsTokenCount"),
    ("tool_token_count", "toolUsePromptTokenCount"),
    ("total_token_count", "totalTokenCount"),
)


class ApiLog:
    """A `ModelCallObserver` that logs calls.

    Args:
        log: receives the records.
        auth_type: how the session signed in.
        provider: the models' provider, as in the semantic conventions.
        payloads: whether the details include messages.
    """

    def __init__(self, log: EventLog, *, auth_type: str, provider: str, payloads: bool) -> None:
        self._log = log
        self._auth_type = auth_type
        self._provider = provider
        self._payloads = payloads
        self._said: dict[ModelCall, list[Part]] = {}

    @guarded
    def call_began(self, call: ModelCall) -> None:
        """Log the request."""
        request = call.request
        self._said[call] = []
        self._log.record(
            "gemini_cli.api_request",
            f"API request to {request.model}.",
            {"model": request.model, "prompt_id": request.prompt_id, "role": str(request.role)},
            {"request_text": list(request.contents)} if self._log.content else None,
        )
        details = self._details(call, request.model)
        del details[names.RESPONSE_MODEL]
        self._log.record(
            _DETAILS, f"GenAI operation request details from {request.model}.", details
        )

    @guarded
    def call_received(self, call: ModelCall, response: JsonObject) -> None:
        """Keep the response's parts, if content is logged."""
        if self._log.content and call in self._said:
            for candidate in (response.get("candidates") or ())[:1]:
                self._said[call] += (candidate.get("content") or {}).get("parts") or ()

    @guarded
    def call_ended(self, call: ModelCall) -> None:
        """Log the response or the error; an abandoned call has neither."""
        said = self._said.pop(call, [])
        if call.end is CallEnd.ANSWERED:
            self._answered(call, said)
        elif call.error is not None:
            self._failed(call, call.error)

    def _answered(self, call: ModelCall, said: list[Part]) -> None:
        model, usage = call.model or call.request.model, call.usage or {}
        reasons = (call.finish_reason.lower(),) if call.finish_reason else ()
        counts = {ours: usage.get(wire) or 0 for ours, wire in _COUNTS}
        self._log.record(
            "gemini_cli.api_response",
            f"API response from {model}. Status: {_OK}. Duration: {call.duration_ms}ms.",
            {
                "model": model,
                "duration_ms": call.duration_ms,
                **counts,
                "prompt_id": call.request.prompt_id,
                "auth_type": self._auth_type,
                "status_code": _OK,
                "finish_reasons": reasons,
                "role": str(call.request.role),
                "http.status_code": _OK,
            },
            {"response_text": [_response(call, said)]} if self._log.content else None,
        )
        details = {
            names.RESPONSE_ID: call.response_id,
            names.FINISH_REASONS: reasons,
            **self._details(call, model),
            names.INPUT_TOKENS: counts["input_token_count"],
            names.OUTPUT_TOKENS: counts["output_token_count"],
        }
        if self._payloads:
            details[names.OUTPUT_MESSAGES] = messages([{"role": "model", "parts": said}])
        words = f"Status: {_OK}. Duration: {call.duration_ms}ms."
        self._log.record(_DETAILS, f"GenAI operation details from {model}. {words}", details)

    def _failed(self, call: ModelCall, error: Exception) -> None:
        model = call.model or call.request.model
        status = error.status if isinstance(error, ApiError) else None
        # The message can quote the user.
        kind = _kind(error)
        message = str(error) if self._log.content else kind
        words = f"Error: {message}. Duration: {call.duration_ms}ms."
        self._log.record(
            "gemini_cli.api_error",
            f"API error for {model}. {words}",
            {
                "error.message": message,
                "model_name": model,
                "duration": call.duration_ms,
                "model": model,
                "error": message,
                "status_code": status,
                "duration_ms": call.duration_ms,
                "prompt_id": call.request.prompt_id,
                "auth_type": self._auth_type,
                "role": str(call.request.role),
                "error.type": kind,
                "http.status_code": status,
            },
        )
        self._log.record(
            _DETAILS,
            f"GenAI operation error details from {model}. {words}",
            self._details(call, model),
        )

    def _details(self, call: ModelCall, model: str) -> dict[str, Any]:
        config = call.request.config
        shown: dict[str, Any] = {
            name: number(config[key])
            for key, name, number in names.REQUEST_NUMBERS
            if isinstance(config.get(key), (int, float))
        }
        if isinstance(config.get("responseMimeType"), str):
            mime = config["responseMimeType"]
            shown[names.OUTPUT_TYPE] = names.OUTPUT_TYPES.get(mime, mime)
        if self._payloads:
            shown[names.INPUT_MESSAGES] = messages(call.request.contents)
        return {
            **shown,
            names.OPERATION: names.GENERATE_CONTENT,
            names.PROVIDER: self._provider,
            names.REQUEST_MODEL: model,
            names.RESPONSE_MODEL: model,
        }


def _kind(error: Exception) -> str:
    """Return the error's name on the wire."""
    name = getattr(error, "name", None)
    return name if isinstance(name, str) and name else error_name(error)


def _response(call: ModelCall, said: list[Part]) -> JsonObject:
    """Return all chunks as one response.

    The core logs each chunk. A secret that spans two chunks is only found in the whole response.
    """
    candidate: JsonObject = {"content": {"role": "model", "parts": said}}
    if call.finish_reason:
        candidate["finishReason"] = call.finish_reason
    known = {
        "usageMetadata": call.usage,
        "responseId": call.response_id,
        "modelVersion": call.model or None,
    }
    return {
        "candidates": [candidate],
        **{key: value for key, value in known.items() if value is not None},
    }
