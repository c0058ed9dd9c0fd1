"""Refusals of Messages. Source: Anthropic's API reference, "Errors"."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Final

from services.providers.refusals import OVERLOADED, Refusal, asked_delay_s
from services.providers.shape import mapping
from services.wire import Json, JsonObject

__all__ = [
    "messages_refusal",
    "messages_stream_error",
    "read_messages_refusal",
    "read_messages_stream_error",
]

_STATUSES: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": OVERLOADED,
}
_TYPES: Final = {status: name for name, status in _STATUSES.items()} | {503: "overloaded_error"}
_EXHAUSTED: Final = "billing_error"


def read_messages_refusal(
    status: int, headers: Mapping[str, str], body: Json, now_ms: int
) -> Refusal:
    """Read a refusal; `body` is JSON, or text where it was none."""
    error = _error(body)
    said = (error.get("message"), body)
    words = (each.strip() for each in said if isinstance(each, str) and each.strip())
    return Refusal(
        status=status,
        message=next(words, f"The server refused with the status {status}."),
        delay_s=asked_delay_s(headers, now_ms),
        exhausted=error.get("type") == _EXHAUSTED,
    )


def read_messages_stream_error(body: Json, now_ms: int) -> Refusal:
    """Read an error within a stream, which has no status of its own."""
    status = _STATUSES.get(str(_error(body).get("type")), 500)
    return read_messages_refusal(status, {}, body, now_ms)


def _error(body: Json) -> JsonObject:
    found = mapping(body)
    return mapping(found.get("error")) or found


def messages_refusal(refusal: Refusal) -> tuple[int, dict[str, str], JsonObject]:
    """Return the status, the headers and the body of a refusal."""
    headers = {}
    if refusal.delay_s is not None:
        headers = {"retry-after": str(ceil(refusal.delay_s))}
    status = 402 if refusal.exhausted else refusal.status
    return status, headers, messages_stream_error(refusal)


def messages_stream_error(refusal: Refusal) -> JsonObject:
    """Return the event of an error within a stream."""
    other = "api_error" if refusal.status >= 500 else "invalid_request_error"
    kind = _EXHAUSTED if refusal.exhausted else _TYPES.get(refusal.status, other)
    return {"type": "error", "error": {"type": kind, "message": refusal.message}}
