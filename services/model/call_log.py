"""`ModelCallLog`: logs each model call.

Contents and headers are never logged, only their sizes: more users read a log than a conversation.
Error messages are logged without keys and tokens. Source: core `core/loggingContentGenerator.ts`.
"""

from __future__ import annotations

import logging

from services.model.errors import error_message, error_status, error_type_name
from services.model.metering import CallEnd, ModelCall
from services.redaction import redacted
from services.wire import JsonObject

__all__ = ["ModelCallLog"]


class ModelCallLog:
    """A `ModelCallObserver` that logs `api_request`, `api_response` and `api_error`.

    Each record carries its facts as attributes (`method`, `model`, `role`, `prompt_id`, …). An
    abandoned call is not a failure of the API, and only its request is logged.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    def call_began(self, call: ModelCall) -> None:
        """Log the request."""
        facts = {**_facts(call), "n": len(call.request.contents)}
        self._logger.debug("api_request %s %s", facts["method"], facts["model"], extra=facts)

    def call_received(self, call: ModelCall, response: JsonObject) -> None:
        """Log nothing: the call has its number of chunks."""

    def call_ended(self, call: ModelCall) -> None:
        """Log the response or the error."""
        facts, usage = _facts(call), call.usage or {}
        if call.end is CallEnd.ANSWERED:
            facts |= {
                "chunks": call.chunks,
                "input_tokens": usage.get("promptTokenCount", 0),
                "output_tokens": usage.get("candidatesTokenCount", 0),
            }
            self._logger.debug("api_response %s %s", facts["method"], facts["model"], extra=facts)
        elif call.error is not None:
            text = redacted(error_message(call.error))
            facts["error_type"] = error_type_name(call.error)
            facts["error_status"] = error_status(call.error)
            self._logger.warning(
                "api_error %s %s: %s", facts["method"], facts["model"], text, extra=facts
            )


def _facts(call: ModelCall) -> JsonObject:
    return {
        "method": "generateContentStream" if call.streaming else "generateContent",
        "model": call.request.model,
        "role": str(call.request.role),
        "prompt_id": call.request.prompt_id,
    }
