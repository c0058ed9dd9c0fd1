import pytest

from services.abort import AbortError
from services.model.classification import (
    classify_google_error,
    is_retryable_error,
    retry_error_type,
)
from services.model.errors import (
    ApiError,
    InvalidStreamError,
    ModelError,
    ModelNotFoundError,
    NetworkError,
    QuotaError,
    RetryableQuotaError,
    TerminalQuotaError,
    ValidationRequiredError,
)

RPC = "type.googleapis.com/google.rpc."
CLOUD_CODE = "cloudcode-pa.googleapis.com"
Detail = dict[str, object]


def retry_info(delay: str) -> Detail:
    return {"@type": RPC + "RetryInfo", "retryDelay": delay}


def info(reason: str, domain: str | None = None, **metadata: str) -> Detail:
    return {
        "@type": RPC + "ErrorInfo",
        "reason": reason,
        "metadata": metadata,
        **({"domain": domain} if domain else {}),
    }


def quota(*ids: str) -> Detail:
    return {
        "@type": RPC + "QuotaFailure",
        "violations": [{"quotaId": quota_id} for quota_id in ids],
    }


def api(status: int, message: str, *details: Detail) -> ApiError:
    return ApiError.from_parts(status, message, details=details or None)


def verdict(error: Exception) -> tuple[object, ...]:
    classified = classify_google_error(error)
    if classified is error:
        return ("unchanged",)
    assert isinstance(classified, QuotaError)
    return (
        classified.name,
        classified.message,
        classified.retry_delay_ms,
        getattr(classified, "reason", None),
    )


def terminal(message: str, delay: float | None = None, reason: str | None = None) -> object:
    return ("TerminalQuotaError", message, delay, reason)


def retryable(message: str, delay: float | None = None) -> object:
    return ("RetryableQuotaError", message, delay, None)


WORDS = [
    (api(400, "bad"), ("unchanged",)),
    (api(500, "internal"), ("unchanged",)),
    (api(500, "limit: 0"), ("unchanged",)),
    (api(429, "n"), retryable("n")),
    (api(499, "n"), retryable("n")),
    (api(503, "n"), retryable("n")),
    (ApiError(429, "plain text"), retryable("plain text")),
    (api(429, "quota, limit: 0, model: x"), terminal("quota, limit: 0, model: x")),
    (api(503, "Limit:0"), terminal("Limit:0")),
    (api(429, "limit: 05"), retryable("limit: 05")),
    (api(429, "limit: 0.5"), retryable("limit: 0.5")),
    (api(429, "limit: 0", quota("PerMinute")), terminal("limit: 0")),
    (api(429, "Please retry in 2.5s"), retryable("Please retry in 2.5s", 2500)),
    (api(400, "Please retry in 200ms"), retryable("Please retry in 200ms", 200)),
    (api(429, "Please retry in 300s"), retryable("Please retry in 300s", 300_000)),
    (api(500, "Please retry in 301s"), terminal("Please retry in 301s", 301_000)),
    (api(429, "Please retry in 1.2.3s"), retryable("Please retry in 1.2.3s", 1200)),
    (api(429, "Please retry in 0s"), retryable("Please retry in 0s")),
    (api(429, "Please retry in .s"), ("unchanged",)),
    (api(429, "You have exhausted your capacity."), terminal("You have exhausted your capacity.")),
    (api(503, "Capacity Exceeded"), terminal("Capacity Exceeded")),
    (api(429, "x", {"type": "no @type"}), retryable("x")),
]

DETAILS = [
    (
        api(429, "x", quota("a", "RequestsPerDayPerProject")),
        terminal("You have exhausted your daily quota on this model."),
    ),
    (
        api(429, "x", quota("DailyThing"), info("MODEL_CAPACITY_EXHAUSTED")),
        terminal("You have exhausted your daily quota on this model."),
    ),
    (
        api(429, "x", info("MODEL_CAPACITY_EXHAUSTED", CLOUD_CODE)),
        terminal("x", None, "MODEL_CAPACITY_EXHAUSTED"),
    ),
    (
        api(429, "x", info("MODEL_CAPACITY_EXCEEDED"), retry_info("5s")),
        terminal("x", 5000, "MODEL_CAPACITY_EXCEEDED"),
    ),
    (
        api(429, "x", info("INSUFFICIENT_G1_CREDITS_BALANCE", "any.org")),
        terminal("x", None, "INSUFFICIENT_G1_CREDITS_BALANCE"),
    ),
    (
        api(429, "x", info("RATE_LIMIT_EXCEEDED", CLOUD_CODE)),
        terminal("x", None, "RATE_LIMIT_EXCEEDED"),
    ),
    (
        api(429, "x", info("RATE_LIMIT_EXCEEDED", CLOUD_CODE), retry_info("10s")),
        retryable("x", 10_000),
    ),
    (
        api(429, "x", info("RATE_LIMIT_EXCEEDED", CLOUD_CODE), retry_info("301s")),
        terminal("x", 301_000, "RATE_LIMIT_EXCEEDED"),
    ),
    (
        api(429, "x", info("RATE_LIMIT_EXCEEDED", "other.com"), retry_info("10s")),
        retryable("x\nSuggested retry after 10s.", 10_000),
    ),
    (
        api(429, "x", info("QUOTA_EXHAUSTED", "staging-cloudcode-pa.googleapis.com\n ,")),
        terminal("x", None, "QUOTA_EXHAUSTED"),
    ),
    (api(429, "x", retry_info("300s")), retryable("x\nSuggested retry after 300s.", 300_000)),
    (api(429, "x", retry_info("400s")), terminal("x\nSuggested retry after 400s.", 400_000)),
    (api(429, "x", retry_info("900ms")), retryable("x\nSuggested retry after 900ms.", 900)),
    (api(429, "x", retry_info("0s")), retryable("x")),
    (api(429, "x", retry_info("soon")), retryable("x")),
    (api(429, "x", quota("PerMinute")), retryable("x\nSuggested retry after 60s.", 60_000)),
    (
        api(429, "x", quota("PerMinute"), retry_info("3s")),
        retryable("x\nSuggested retry after 3s.", 3000),
    ),
    (
        api(429, "x", info("RATE", quota_limit="XPerMinuteY")),
        retryable("RATE\nSuggested retry after 60s.", 60_000),
    ),
    (api(429, "capacity exceeded", info("R")), terminal("capacity exceeded")),
    (api(429, "x", info("R", quota_limit="other")), retryable("x")),
]


@pytest.mark.parametrize(("error", "expected"), WORDS, ids=lambda value: str(value)[:60])
def test_without_details_the_message_decides(error: Exception, expected: object) -> None:
    assert verdict(error) == expected


@pytest.mark.parametrize(("error", "expected"), DETAILS, ids=lambda value: str(value)[-60:])
def test_details_decide_in_their_order(error: Exception, expected: object) -> None:
    assert verdict(error) == expected


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (api(404, "models/x is not found"), "models/x is not found"),
        (ApiError(404, " "), "Model not found"),
        (ApiError(404, ""), "Model not found"),
    ],
)
def test_a_404_is_a_model_not_found(error: Exception, message: str) -> None:
    classified = classify_google_error(error)

    assert isinstance(classified, ModelNotFoundError)
    assert (classified.message, classified.code) == (message, 404)


LEARN = {"description": " Learn More ", "url": "https://x.y"}
SUPPORT = {"description": "Help", "url": "https://support.google.com/a?b"}
VERIFY = {"description": "Verify", "url": "https://accounts.google.com/v"}


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([VERIFY, LEARN], (VERIFY["url"], "Verify", LEARN["url"])),
        ([VERIFY, SUPPORT], (VERIFY["url"], "Verify", SUPPORT["url"])),
        ([VERIFY, {"description": "d", "url": "//support.google.com"}], (VERIFY["url"], "Verify")),
        ([VERIFY, {"description": "d", "url": "https://[bad"}], (VERIFY["url"], "Verify")),
        ([], ("https://meta",)),
    ],
)
def test_a_403_from_cloud_code_may_ask_for_validation(
    links: list[Detail], expected: tuple[str, ...]
) -> None:
    reason = info("VALIDATION_REQUIRED", CLOUD_CODE, validation_link="https://meta")
    error = api(403, "verify", reason, {"@type": RPC + "Help", "links": links})

    classified = classify_google_error(error)

    assert isinstance(classified, ValidationRequiredError)
    found = (
        classified.validation_link,
        classified.validation_description,
        classified.learn_more_url,
    )
    assert found == (*expected, None, None)[:3]
    assert (classified.message, classified.user_handled) == ("verify", False)


@pytest.mark.parametrize(
    "error",
    [
        api(403, "no", info("VALIDATION_REQUIRED", "elsewhere.com")),
        api(403, "no", info("OTHER", CLOUD_CODE)),
        api(403, "no"),
        ApiError(403, "no"),
    ],
)
def test_other_403s_are_left_alone(error: Exception) -> None:
    assert classify_google_error(error) is error


def test_a_classified_error_stays() -> None:
    once = classify_google_error(api(429, "Please retry in 2s"))

    assert classify_google_error(once) is once


def test_a_quota_error_carries_what_the_api_said() -> None:
    classified = classify_google_error(ApiError(503, "plain"))

    assert isinstance(classified, RetryableQuotaError)
    assert (classified.google_error.code, classified.google_error.message) == (503, "plain")
    assert classified.status == 503


def test_an_unknown_status_with_a_delay_counts_as_429() -> None:
    classified = classify_google_error(ModelError("Please retry in 301s"))

    assert isinstance(classified, TerminalQuotaError)
    assert classified.status == 429


def chain(depth: int) -> NetworkError:
    error = NetworkError("bottom", code="EPIPE")
    for _ in range(depth):
        error = NetworkError("above", cause=error)
    return error


RETRYABLE = [
    (api(429, "n"), True, "QUOTA_EXCEEDED"),
    (api(499, "n"), True, "HTTP_499"),
    (api(500, "n"), True, "SERVER_ERROR"),
    (api(599, "n"), True, "SERVER_ERROR"),
    (api(600, "n"), False, "HTTP_600"),
    (api(400, "n"), False, "HTTP_400"),
    (NetworkError("x", code="ECONNRESET"), True, "ECONNRESET"),
    (NetworkError("x", code="EACCES"), False, "Error"),
    (NetworkError("x", code="EACCES", cause={"code": "EPIPE"}), False, "Error"),
    (NetworkError("x", code="err_ssl_x_bad_record_mac"), True, "err_ssl_x_bad_record_mac"),
    (NetworkError("x", cause={"code": "UND_ERR_BODY_TIMEOUT"}), True, "UND_ERR_BODY_TIMEOUT"),
    (chain(5), True, "EPIPE"),
    (chain(6), False, "Error"),
    (InvalidStreamError("m", "NO_RESPONSE_TEXT"), False, "InvalidStreamError"),
    (AbortError(), False, "AbortError"),
    (ModelError("Invalid content"), False, "Error"),
]


@pytest.mark.parametrize(("error", "expected", "label"), RETRYABLE, ids=lambda value: str(value))
def test_retryable_errors_and_their_labels(error: Exception, expected: bool, label: str) -> None:
    assert is_retryable_error(error, retry_fetch_errors=True) is expected
    assert retry_error_type(error) == label


@pytest.mark.parametrize(
    ("message", "label"),
    [
        ("Fetch Failed sending request", "FETCH_FAILED"),
        ("Incomplete JSON segment at the end", "INCOMPLETE_JSON"),
    ],
)
def test_failures_of_fetching_are_retryable_by_setting(message: str, label: str) -> None:
    error = NetworkError(message, name="TypeError")

    assert is_retryable_error(error, retry_fetch_errors=True)
    assert not is_retryable_error(error, retry_fetch_errors=False)
    assert retry_error_type(error) == label


def test_a_network_code_is_retryable_whatever_the_fetch_setting() -> None:
    error = NetworkError("fetch failed", cause={"code": "ECONNREFUSED"})

    assert is_retryable_error(error, retry_fetch_errors=False)
    assert retry_error_type(error) == "ECONNREFUSED"
