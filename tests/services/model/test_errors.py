from collections.abc import Callable

import pytest

from services.abort import AbortError
from services.model.errors import (
    AccountSuspendedError,
    ApiError,
    BadRequestError,
    FatalAuthenticationError,
    FatalCancellationError,
    FatalConfigError,
    FatalError,
    FatalInputError,
    FatalSandboxError,
    FatalToolExecutionError,
    FatalTurnLimitedError,
    ForbiddenError,
    InvalidStreamError,
    ModelConfigError,
    ModelError,
    ModelNotFoundError,
    NetworkError,
    RetryableQuotaError,
    TerminalQuotaError,
    UnauthorizedError,
    error_message,
    error_name,
    error_status,
    error_type_name,
    friendly_error,
    is_authentication_error,
)
from services.model.google_errors import GoogleError

ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
REFUSAL = GoogleError(429, "no")


class HttpError(ModelError):
    """As an HTTP client raises it: the body hangs on the response."""

    def __init__(self, data: object, status: int | str | None = None) -> None:
        super().__init__("request failed")
        self.response = {"data": data} | ({} if status is None else {"status": status})


def test_an_api_errors_message_is_the_responses_compact_json() -> None:
    error = ApiError.from_parts(
        429, "zu schnell, später", "RESOURCE_EXHAUSTED", [{"@type": "t", "n": 1.0}]
    )

    assert error.message == (
        '{"error":{"code":429,"message":"zu schnell, später","status":"RESOURCE_EXHAUSTED",'
        '"details":[{"@type":"t","n":1}]}}'
    )
    assert (error.name, error.status, error.details) == ("ApiError", 429, [{"@type": "t", "n": 1}])


def test_an_api_errors_json_omits_missing_fields() -> None:
    assert str(ApiError.from_parts(400, "bad")) == '{"error":{"code":400,"message":"bad"}}'


@pytest.mark.parametrize(
    ("kind", "exit_code"),
    [
        (FatalAuthenticationError, 41),
        (FatalInputError, 42),
        (FatalSandboxError, 44),
        (FatalConfigError, 52),
        (FatalTurnLimitedError, 53),
        (FatalToolExecutionError, 54),
        (FatalCancellationError, 130),
    ],
)
def test_each_fatal_error_has_its_exit_code_and_is_named_for_its_class(
    kind: Callable[[str], FatalError], exit_code: int
) -> None:
    error = kind("why")

    assert (str(error), error.exit_code, error.name) == ("why", exit_code, type(error).__name__)


def test_a_fatal_errors_exit_code_is_no_error_code() -> None:
    assert not hasattr(FatalAuthenticationError("x"), "code")


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (NetworkError("fetch failed", name="TypeError"), "TypeError"),
        (NetworkError("read ECONNRESET", code="ECONNRESET"), "Error"),
        (AbortError(), "AbortError"),
        (InvalidStreamError("m", "NO_RESPONSE_TEXT"), "InvalidStreamError"),
        (TerminalQuotaError("m", REFUSAL), "TerminalQuotaError"),
        (RetryableQuotaError("m", REFUSAL), "RetryableQuotaError"),
        (ModelConfigError("m"), "Error"),
        (ModuleNotFoundError("m", name="some.module"), "ModuleNotFoundError"),
    ],
)
def test_errors_go_by_their_names_on_the_wire(error: Exception, name: str) -> None:
    assert error_name(error) == name
    assert error_type_name(error) == name


def test_a_type_name_has_no_leading_underscores_and_a_non_exception_none_at_all() -> None:
    hidden = type("__Hidden", (Exception,), {})

    assert error_type_name(hidden()) == "Hidden"
    assert error_type_name("boom") == "unknown"


def test_a_zero_retry_delay_is_none_and_others_are_milliseconds() -> None:
    assert RetryableQuotaError("m", REFUSAL, 0).retry_delay_ms is None
    assert RetryableQuotaError("m", REFUSAL, 2.5).retry_delay_ms == 2500
    assert RetryableQuotaError("m", REFUSAL).status == 429


def test_the_reason_shows_insufficient_credits() -> None:
    broke = TerminalQuotaError("m", REFUSAL, reason="INSUFFICIENT_G1_CREDITS_BALANCE")

    assert broke.is_insufficient_credits
    assert not TerminalQuotaError("m", REFUSAL).is_insufficient_credits


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ApiError(503, "x"), 503),
        (HttpError(None, 502), 502),
        (ModelNotFoundError("x"), None),
        (NetworkError("x", code="ECONNRESET"), None),
        (HttpError(None, status="429"), None),
    ],
)
def test_a_status_is_a_number_and_a_code_is_none(error: Exception, status: int | None) -> None:
    assert error_status(error) == status


@pytest.mark.parametrize(
    ("code", "kind"), [(400, BadRequestError), (401, UnauthorizedError), (403, ForbiddenError)]
)
def test_an_http_clients_refusal_becomes_its_named_error(code: int, kind: type[ModelError]) -> None:
    friendly = friendly_error(HttpError({"error": {"code": code, "message": "said so"}}))

    assert type(friendly) is kind
    assert str(friendly) == "said so"


@pytest.mark.parametrize(
    "data",
    [
        {"error": {"code": 404, "message": "m"}},
        {"error": {"code": 400}},
        {"error": {"code": "400", "message": "m"}},
        {"error": {"code": 400, "message": 7}},
        {"error": None},
        [{"error": {"code": 400, "message": "listed"}}],
        "not json",
        None,
    ],
)
def test_other_http_errors_are_not_converted(data: object) -> None:
    error = HttpError(data)

    assert friendly_error(error) is error


def test_a_response_that_is_text_is_read_as_json() -> None:
    error = HttpError('{"error":{"code":401,"message":"sign in"}}')

    assert error_message(error) == "sign in"


def test_a_403_for_the_terms_of_service_is_a_suspension() -> None:
    info = {
        "@type": ERROR_INFO,
        "reason": "TOS_VIOLATION",
    }
    friendly = friendly_error(ApiError.from_parts(403, "suspended", details=[info]))

    assert isinstance(friendly, AccountSuspendedError)
    assert str(friendly) == "suspended"


def test_a_403_for_another_reason_is_no_suspension() -> None:
    error = ApiError.from_parts(403, "no", details=[{"@type": ERROR_INFO, "reason": "OTHER"}])

    assert friendly_error(error) is error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ApiError.from_parts(500, "x"), '{"error":{"code":500,"message":"x"}}'),
        (ValueError("plain"), "plain"),
    ],
)
def test_error_messages(error: Exception, message: str) -> None:
    assert error_message(error) == message


def test_an_error_without_a_readable_message_has_a_substitute() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert error_message(MuteError()) == "Failed to get error details"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ModelNotFoundError("m", code=401), True),
        (NetworkError("m", code="401"), False),
        (UnauthorizedError("m"), True),
        (Exception("Error POSTing to endpoint (HTTP 401): no"), True),
        (ApiError.from_parts(403, "m"), False),
        (FatalAuthenticationError("m"), False),
    ],
)
def test_a_401_is_recognised_in_any_guise(error: Exception, expected: bool) -> None:
    assert is_authentication_error(error) is expected
