"""Steps at which the model fails: refused, overloaded, cut off, exhausted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.chunks import chunk
from services.wire import Json, JsonObject

__all__ = ["fault"]

_DAILY: Final = "GenerateRequestsPerDayPerProjectPerModel"
_MINUTE: Final = "GenerateRequestsPerMinutePerProjectPerModel"


def fault(choose: Chooser) -> JsonObject:
    """A step at which the model fails."""
    kind = choose.option(
        "fault",
        {
            "bare_429": 6,
            "delayed_429": 6,
            "long_429": 2,
            "daily_quota": 6,
            "minute_quota": 3,
            "capacity": 4,
            "server": 8,
            "overloaded": 5,
            "refused": 3,
            "not_found": 2,
            "reset": 5,
            "reset_mid_stream": 5,
            "error_mid_stream": 4,
            "empty_stream": 4,
            "no_finish": 3,
            "thoughts_only": 3,
            "malformed": 2,
            "garbled": 2,
        },
    )
    step: JsonObject = _FAULTS[kind](choose)
    if choose.chance("fault_repeats", 200):
        step["repeat"] = choose.among((2, 3, 10))
    return step


def _error(status: int, message: str, *details: JsonObject, grpc: str | None = None) -> JsonObject:
    error: JsonObject = {"status": status, "message": message}
    if grpc is not None:
        error["grpc"] = grpc
    if details:
        error["details"] = list(details)
    return {"error": error}


def _delay(seconds: str) -> JsonObject:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": seconds}


def _quota(identifier: str) -> JsonObject:
    violation = {"subject": "project", "description": "used up", "quotaId": identifier}
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}


def _delayed(choose: Chooser) -> JsonObject:
    if choose.chance("delay_in_words", 300):
        return _error(429, "Please retry in 2.5s")
    return _error(429, "slow down", _delay(choose.among(("1s", "7s", "0.5s", "45s"))))


def _daily(choose: Chooser) -> JsonObject:
    return _error(429, "the day's share is used up", _quota(_DAILY))


def _minute(choose: Chooser) -> JsonObject:
    details = [_quota(_MINUTE)]
    if choose.chance("minute_delay", 500):
        details.append(_delay("12s"))
    return _error(429, "too fast", *details)


def _capacity(choose: Chooser) -> JsonObject:
    reason = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": choose.among(
            (
                "MODEL_CAPACITY_EXHAUSTED",
                "RATE_LIMIT_EXCEEDED",
                "QUOTA_EXHAUSTED",
                "INSUFFICIENT_G1_CREDITS_BALANCE",
            )
        ),
        "domain": "cloudcode-pa.googleapis.com",
        "metadata": {"model": "gemini-2.5-pro"},
    }
    details = [reason, *([_delay("3s")] if choose.chance("capacity_delay", 300) else [])]
    return _error(429, "No capacity available", *details)


def _reset(choose: Chooser) -> JsonObject:
    code = choose.among(
        (
            "ECONNRESET",
            "ETIMEDOUT",
            "ECONNREFUSED",
            "EPROTO",
            "ENOTFOUND",
            "EPIPE",
            "UND_ERR_SOCKET",
            "ERR_SSL_WRONG_VERSION_NUMBER",
        )
    )
    if choose.chance("fetch_failed", 400):
        return {
            "error": {
                "name": "TypeError",
                "message": "fetch failed",
                "cause": {"code": code, "message": f"connect {code}"},
            }
        }
    return {"error": _network(code)}


_BREAKS: Final = ("ECONNRESET", "ETIMEDOUT", "UND_ERR_BODY_TIMEOUT", "EINVAL")


def _network(code: str) -> JsonObject:
    return {"name": "Error", "code": code, "message": f"read {code}"}


def _begun(choose: Chooser) -> list[Json]:
    if choose.chance("begun_with_call", 300):
        call = {"name": "read_file", "args": {"file_path": "a.txt"}}
        return [chunk([{"functionCall": call}])]
    return [chunk([{"text": "half an ans"}])]


def _reset_mid(choose: Chooser) -> JsonObject:
    return {"stream": _begun(choose), "then_error": _network(choose.among(_BREAKS))}


def _error_mid(choose: Chooser) -> JsonObject:
    status = choose.among((500, 503, 429, 400))
    return {"stream": _begun(choose), "then_error": {"status": status, "message": "mid-stream"}}


def _garbled(choose: Chooser) -> JsonObject:
    """The SDK's error for a body that is no JSON, at the start or midway."""
    error = {"name": "SyntaxError", "message": "Unexpected end of JSON input"}
    if choose.chance("garbled_midway", 500):
        return {"stream": _begun(choose), "then_error": error}
    return {"error": error}


_MALFORMED: Final[tuple[JsonObject, ...]] = (
    {},
    {"candidates": []},
    {"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]},
    {"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}]},
    {"promptFeedback": {"blockReason": "SAFETY"}},
    {"error": {"code": 500, "message": "in the body"}},
)

_FAULTS: Final[Mapping[str, Callable[[Chooser], JsonObject]]] = {
    "bare_429": lambda choose: _error(429, "no details"),
    "delayed_429": _delayed,
    "long_429": lambda choose: _error(429, "slow", _delay("400s")),
    "daily_quota": _daily,
    "minute_quota": _minute,
    "capacity": _capacity,
    "server": lambda choose: _error(choose.among((500, 502, 504, 501, 529)), "internal"),
    "overloaded": lambda choose: _error(503, "overloaded", grpc="UNAVAILABLE"),
    "refused": lambda choose: _error(choose.among((400, 401, 403, 409, 413, 499)), "refused"),
    "not_found": lambda choose: _error(404, "models/x is not found", grpc="NOT_FOUND"),
    "reset": _reset,
    "reset_mid_stream": _reset_mid,
    "error_mid_stream": _error_mid,
    "empty_stream": lambda choose: {"stream": []},
    "no_finish": lambda choose: {"stream": [chunk([{"text": "no end"}])]},
    "thoughts_only": lambda choose: {"stream": [chunk([{"text": "hm", "thought": True}], "STOP")]},
    "malformed": lambda choose: {"stream": [choose.among(_MALFORMED)]},
    "garbled": _garbled,
}
