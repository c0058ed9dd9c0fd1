"""Refusals of Chat Completions.

Source: OpenAI's API reference, "Errors"; servers that are compatible put a number into `code`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from services.providers.refusals import Refusal, asked_delay_s
from services.providers.shape import mapping, text
from services.wire import Json, JsonObject

__all__ = ["chat_refusal", "chat_stream_error", "read_chat_refusal", "read_chat_stream_error"]

_EXHAUSTED: Final = ("insufficient_quota", "billing_hard_limit_reached")
_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_STATUSES: Final = {
    **{name: status for status, name in _TYPES.items()},
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "overloaded_error": 503,
    "server_error": 500,
}
_AGAIN: Final = re.compile(r"try again in ([0-9]+(?:\.[0-9]+)?)(ms|s)\b")


def read_chat_refusal(status: int, headers: Mapping[str, str], body: Json, now_ms: int) -> Refusal:
    """Read a refusal; `body` is JSON, or text where it was none."""
    error = _error(body)
    message = _message(error, body) or f"The server refused with the status {status}."
    delay_s = asked_delay_s(headers, now_ms)
    again = _AGAIN.search(message)
    if delay_s is None and again is not None:
        delay_s = float(again[1]) / (1000 if again[2] == "ms" else 1)
    exhausted = any(error.get(key) in _EXHAUSTED for key in ("code", "type"))
    return Refusal(status=status, message=message, delay_s=delay_s, exhausted=exhausted)


def read_chat_stream_error(body: Json, now_ms: int) -> Refusal:
    """Read an error within a stream, which has no status of its own."""
    error = _error(body)
    named = (_STATUSES.get(str(error.get(key))) for key in ("code", "type"))
    status = _number(error.get("code")) or next(filter(None, named), 500)
    return read_chat_refusal(status, {}, body, now_ms)


def _error(body: Json) -> JsonObject:
    """The error in a body, or the body itself: the SDK takes some errors out."""
    found = mapping(body)
    return mapping(found.get("error")) or found


def _message(error: JsonObject, body: Json) -> str | None:
    said = (error.get("message"), mapping(body).get("error"), error.get("detail"), body)
    return next((each.strip() for each in said if isinstance(each, str) and each.strip()), None)


def _number(code: Json) -> int | None:
    digits = text(code) or (str(code) if isinstance(code, int) else "")
    return int(digits) if re.fullmatch(r"[45][0-9]{2}", digits, re.ASCII) else None


def chat_refusal(refusal: Refusal) -> tuple[int, dict[str, str], JsonObject]:
    """Return the status, the headers and the body of a refusal."""
    headers = {}
    if refusal.delay_s is not None:
        headers = {"retry-after-ms": f"{refusal.delay_s * 1000:g}"}
    return refusal.status, headers, {"error": _body(refusal, None)}


def chat_stream_error(refusal: Refusal) -> JsonObject:
    """Return the event of an error within a stream."""
    return {"error": _body(refusal, refusal.status)}


def _body(refusal: Refusal, code: int | None) -> JsonObject:
    kind = _TYPES.get(refusal.status, "server_error")
    found: JsonObject = {"message": refusal.message, "type": kind, "param": None, "code": code}
    return {**found, "code": _EXHAUSTED[0]} if refusal.exhausted else found
