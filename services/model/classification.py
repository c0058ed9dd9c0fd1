"""Classifies failures for retries.

`classify_google_error` turns the API's refusals into the classes of `errors`; the order of its
rules matters. `is_retryable_error` and `retry_error_type` take the raw failure. Sources: core
`utils/googleQuotaErrors.ts`, `utils/retry.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

from services.model.errors import (
    ModelNotFoundError,
    QuotaError,
    RetryableQuotaError,
    TerminalQuotaError,
    ValidationRequiredError,
    error_name,
    error_status,
)
from services.model.google_errors import GoogleError, error_fields, parse_google_error
from services.wire import Json, JsonObject, js_trim

__all__ = [
    "classify_google_error",
    "is_capacity_message",
    "is_retryable_error",
    "retry_error_type",
]

_MAX_RETRYABLE_DELAY_S: Final = 300.0
"""A delay of exactly this length is still retried."""
_QUOTA_STATUSES: Final = (429, 499, 503)
_CLOUD_CODE_DOMAINS: Final = frozenset(
    f"{stage}cloudcode-pa.googleapis.com" for stage in ("", "staging-", "autopush-")
)
_NETWORK_CODES: Final = frozenset(
    {
        "ECONNRESET",
        "ETIMEDOUT",
        "EPIPE",
        "ENOTFOUND",
        "EAI_AGAIN",
        "ECONNREFUSED",
        "ERR_SSL_WRONG_VERSION_NUMBER",
        "EPROTO",
        "UND_ERR_HEADERS_TIMEOUT",
        "UND_ERR_BODY_TIMEOUT",
        "UND_ERR_CONNECT_TIMEOUT",
        "ERR_STREAM_PREMATURE_CLOSE",
    }
)
_MAX_CAUSES: Final = 5
_BAD_RECORD: Final = re.compile(r"ERR_SSL_.*BAD_RECORD_MAC", re.IGNORECASE)
_LIMIT_ZERO: Final = re.compile(r"limit:\s*0(?![0-9]|\.[0-9])")
_RETRY_IN: Final = re.compile(r"Please retry in ([0-9.]+(?:ms|s))")
_CAPACITY: Final = re.compile(
    r"exhausted your capacity|capacity exceeded|MODEL_CAPACITY_EXHAUSTED", re.IGNORECASE
)
_NUMBER_PREFIX: Final = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")


def classify_google_error(error: Exception) -> Exception:
    """Return the error of `errors` that `error` stands for, or `error` itself."""
    if isinstance(error, (QuotaError, ValidationRequiredError)):
        return error
    parsed = parse_google_error(error)
    status = parsed.code if parsed is not None else error_status(error)
    message = parsed.message if parsed is not None else str(error)
    if status == 404:
        return ModelNotFoundError(js_trim(message) or "Model not found")
    if status == 403 and parsed is not None:
        validation = _validation_required(parsed)
        if validation is not None:
            return validation
    known = parsed or GoogleError(429 if status is None else status, message)
    if status in _QUOTA_STATUSES and _LIMIT_ZERO.search(message.lower()):
        return TerminalQuotaError(message, known)
    if parsed is None or parsed.code not in _QUOTA_STATUSES or not parsed.details:
        return _by_message(known, refused=status in _QUOTA_STATUSES) or error
    return _by_details(parsed)


def _by_message(error: GoogleError, *, refused: bool) -> QuotaError | None:
    """Classify by the message. A `Please retry in` counts whatever the status."""
    match = _RETRY_IN.search(error.message)
    if match is not None:
        delay_s = _seconds(match[1])
        return _after(error, error.message, delay_s) if delay_s is not None else None
    if not refused:
        return None
    if is_capacity_message(error.message):
        return TerminalQuotaError(error.message, error)
    return RetryableQuotaError(error.message, error)


def _by_details(error: GoogleError) -> QuotaError:
    quota_ids = _quota_ids(_detail(error, "QuotaFailure"))
    if _any_contains(quota_ids, "PerDay", "Daily"):
        return TerminalQuotaError("You have exhausted your daily quota on this model.", error)
    raw_delay = _detail(error, "RetryInfo").get("retryDelay")
    delay_s = (_seconds(raw_delay) if isinstance(raw_delay, str) else None) or None
    info = _detail(error, "ErrorInfo")
    by_reason = _by_reason(error, info, delay_s)
    if by_reason is not None:
        return by_reason
    if delay_s is not None:
        return _after(error, f"{error.message}\nSuggested retry after {raw_delay}.", delay_s)
    if _any_contains(quota_ids, "PerMinute"):
        return RetryableQuotaError(f"{error.message}\nSuggested retry after 60s.", error, 60)
    if _any_contains([_metadata(info, "quota_limit")], "PerMinute"):
        reason = info.get("reason", "undefined")
        return RetryableQuotaError(f"{reason}\nSuggested retry after 60s.", error, 60)
    if is_capacity_message(error.message):
        return TerminalQuotaError(error.message, error)
    return RetryableQuotaError(error.message, error)


def _by_reason(error: GoogleError, info: JsonObject, delay_s: float | None) -> QuotaError | None:
    """Classify by `reason`: some of any domain, some of Cloud Code's only."""
    reason = info.get("reason")
    terminal = TerminalQuotaError(error.message, error, delay_s, reason)
    if reason in (
        "MODEL_CAPACITY_EXHAUSTED",
        "MODEL_CAPACITY_EXCEEDED",
        "INSUFFICIENT_G1_CREDITS_BALANCE",
    ):
        return terminal
    if not _is_cloud_code(info):
        return None
    if reason == "RATE_LIMIT_EXCEEDED":
        if delay_s is None or delay_s > _MAX_RETRYABLE_DELAY_S:
            return terminal
        return RetryableQuotaError(error.message, error, delay_s)
    return terminal if reason == "QUOTA_EXHAUSTED" else None


def _after(error: GoogleError, message: str, delay_s: float) -> QuotaError:
    """Retryable, unless the API asks for more than the longest delay."""
    kind = TerminalQuotaError if delay_s > _MAX_RETRYABLE_DELAY_S else RetryableQuotaError
    return kind(message, error, delay_s)


def _validation_required(error: GoogleError) -> ValidationRequiredError | None:
    info = _detail(error, "ErrorInfo")
    if not _is_cloud_code(info) or info.get("reason") != "VALIDATION_REQUIRED":
        return None
    links = [link for link in _list(_detail(error, "Help").get("links")) if isinstance(link, dict)]
    first = links[0] if links else {}
    learn_more = next((link.get("url") for link in links if _teaches(link)), None)
    return ValidationRequiredError(
        error.message,
        error,
        validation_link=first.get("url") or _metadata(info, "validation_link"),
        validation_description=first.get("description"),
        learn_more_url=learn_more,
    )


def _teaches(link: JsonObject) -> bool:
    if js_trim(str(link.get("description", "")).lower()) == "learn more":
        return True
    try:
        url = urlsplit(str(link.get("url", "")))
    except ValueError:
        return False
    return bool(url.scheme) and url.hostname == "support.google.com"


def _is_cloud_code(info: JsonObject) -> bool:
    """Whether ErrorInfo is from Cloud Code; broken streams leave stray characters in `domain`."""
    domain = info.get("domain")
    return isinstance(domain, str) and re.sub(r"[^a-zA-Z0-9.-]", "", domain) in _CLOUD_CODE_DOMAINS


def _detail(error: GoogleError, kind: str) -> JsonObject:
    """The first detail of that kind, empty when there is none."""
    wanted = f"type.googleapis.com/google.rpc.{kind}"
    return next((detail for detail in error.details if detail["@type"] == wanted), {})


def _metadata(info: JsonObject, key: str) -> str | None:
    metadata = info.get("metadata")
    value = metadata.get(key) if isinstance(metadata, dict) else None
    return value if isinstance(value, str) else None


def _quota_ids(failure: JsonObject) -> list[str | None]:
    violations = _list(failure.get("violations"))
    return [violation.get("quotaId") for violation in violations if isinstance(violation, dict)]


def _any_contains(texts: Iterable[str | None], *words: str) -> bool:
    return any(word in text for text in texts if isinstance(text, str) for word in words)


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else ()


def _seconds(duration: str) -> float | None:
    """Seconds of a duration such as `34.07s` or `900ms`; None without a number or unit."""
    if duration.endswith("ms"):
        number, scale = duration[:-2], 1000
    elif duration.endswith("s"):
        number, scale = duration[:-1], 1
    else:
        return None
    match = _NUMBER_PREFIX.match(number)
    return float(match[1]) / scale if match else None


def is_capacity_message(message: str) -> bool:
    """Whether the message reports a lack of the model's capacity."""
    return _CAPACITY.search(message) is not None


def is_retryable_error(error: BaseException, retry_fetch_errors: bool) -> bool:
    """Whether the same request may succeed if sent again.

    Args:
        error: The failure, not classified.
        retry_fetch_errors: Whether `fetch failed` and a stream that ends inside its JSON count.
    """
    code = _network_code(error)
    if code is not None and _is_transient_code(code):
        return True
    if retry_fetch_errors and _fetch_label(error) is not None:
        return True
    status = error_status(error)
    return status is not None and (status in (429, 499) or 500 <= status < 600)


def retry_error_type(error: BaseException) -> str:
    """Return a label for `error` without user data, for `RetryAttempt`s and reports."""
    code = _network_code(error)
    if code is not None and _is_transient_code(code):
        return code
    label = _fetch_label(error)
    if label is not None:
        return label
    status = error_status(error)
    if status is not None:
        if status == 429:
            return "QUOTA_EXCEEDED"
        return "SERVER_ERROR" if 500 <= status < 600 else f"HTTP_{status}"
    return error_name(error)


def _fetch_label(error: BaseException) -> str | None:
    message = str(error).lower()
    if "fetch failed" in message:
        return "FETCH_FAILED"
    return "INCOMPLETE_JSON" if "incomplete json segment" in message else None


def _is_transient_code(code: str) -> bool:
    return code in _NETWORK_CODES or _BAD_RECORD.match(code) is not None


def _network_code(error: object) -> str | None:
    """The first `code` that is text, on the error or up to five causes down."""
    for _ in range(_MAX_CAUSES + 1):
        fields = error_fields(error)
        code = fields.get("code")
        if isinstance(code, str) and code:
            return code
        if "cause" not in fields:
            return None
        error = fields["cause"]
    return None
