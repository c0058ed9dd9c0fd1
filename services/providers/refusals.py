"""Refusals of providers, from and to those of the Gemini API.

The retries and fallbacks of both runtimes read the Gemini API's errors: the status, its name, and a
`google.rpc.RetryInfo` with the wait that the server asks for. What a provider says is brought into
that form. Source: google.rpc.Code; RFC 9110, Retry-After.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from services.json_values import parse_json
from services.model.errors import ApiError, ModelError, TerminalQuotaError
from services.model.google_errors import GoogleError, parse_google_error
from services.model.transport_errors import api_error
from services.wire import JsonObject

__all__ = ["STATUS_NAMES", "Refusal", "asked_delay_s", "refusal_of"]

STATUS_NAMES: Final[Mapping[int, str]] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "FAILED_PRECONDITION",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    409: "ABORTED",
    413: "INVALID_ARGUMENT",
    422: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
OVERLOADED: Final = 529
"""The status of Anthropic's API, and of others, for a server without capacity."""
_RETRY_INFO: Final = "type.googleapis.com/google.rpc.RetryInfo"
_WAITS: Final = frozenset({429, 500, 502, 503, 504})
_DURATION: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What a provider says when it does not answer."""

    status: int
    """The HTTP status, or that of an error within a stream."""
    message: str
    delay_s: float | None = None
    """The wait that the server asks for."""
    exhausted: bool = False
    """Whether the account has nothing left to spend, so that no wait helps."""
    original: JsonObject | None = field(default=None, compare=False)
    """The Gemini API's own body, with details that other providers have no place for."""

    def to_error(self, *, answering: bool) -> ModelError:
        """Return the error of the model seam; `answering`: it came within a stream."""
        status = 503 if self.status == OVERLOADED else self.status
        if self.exhausted:
            return TerminalQuotaError(self.message, GoogleError(status, self.message))
        name = STATUS_NAMES.get(status, "UNKNOWN")
        body: JsonObject = {"code": status, "message": self.message, "status": name}
        if self.delay_s is not None and status in _WAITS:
            body["details"] = [{"@type": _RETRY_INFO, "retryDelay": f"{self.delay_s:g}s"}]
        return api_error(status, name, {"error": body}, answering=answering)


def refusal_of(error: ModelError) -> Refusal:
    """Return an error of the model seam as a refusal; one without a status is a 500."""
    if isinstance(error, TerminalQuotaError):
        return Refusal(status=429, message=str(error), exhausted=True)
    status = error.status if isinstance(error, ApiError) else 500
    found = parse_google_error(error)
    if found is None:
        return Refusal(status=status, message=str(error))
    waits = (detail.get("retryDelay") for detail in found.details if detail["@type"] == _RETRY_INFO)
    match = next((_DURATION.fullmatch(wait) for wait in waits if isinstance(wait, str)), None)
    delay_s = None if match is None else float(match[1])
    return Refusal(
        status=status, message=found.message, delay_s=delay_s, original=_body_of(str(error))
    )


def _body_of(text: str) -> JsonObject | None:
    try:
        found = parse_json(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("error"), dict) else None


def asked_delay_s(headers: Mapping[str, str], now_ms: int) -> float | None:
    """Return the wait that the headers of a refusal ask for, in seconds.

    Args:
        headers: With names in lower case.
        now_ms: Milliseconds since the Unix epoch.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after", "")
    seconds = _number(said)
    if seconds is not None or not said:
        return seconds
    try:
        due = parsedate_to_datetime(said)
    except ValueError:
        return None
    due = due if due.tzinfo is not None else due.replace(tzinfo=UTC)
    return max(0.0, due.timestamp() - now_ms / 1000)


def _number(said: str | None) -> float | None:
    found = re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", (said or "").strip(), re.ASCII)
    return None if found is None else float(found[0])
