import json

import pytest

from services.model.errors import ApiError, NetworkError, RetryableQuotaError
from services.model.google_errors import GoogleError, parse_google_error

RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


def body(code: object, message: object, **more: object) -> dict[str, object]:
    return {"error": {"code": code, "message": message, **more}}


def test_the_message_of_an_api_error_is_read() -> None:
    detail = {"@type": RETRY_INFO, "retryDelay": "7s"}
    error = ApiError.from_parts(429, "slow", "RESOURCE_EXHAUSTED", [detail])

    assert parse_google_error(error) == GoogleError(429, "slow", (detail,))


class Shaped(Exception):
    """An error with a message, and with other fields of upstream's errors."""

    def __init__(self, message: str = "m", **fields: object) -> None:
        super().__init__(message)
        self.__dict__.update(fields)


def message(found: object) -> Shaped:
    """An error whose message is JSON."""
    return Shaped(json.dumps(found))


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(message(body(429, "s")), id="message-json"),
        pytest.param(message([body(429, "s")]), id="message-holding-a-list"),
        pytest.param(Shaped(response={"data": body(429, "s")}), id="response-data"),
        pytest.param(Shaped(response={"data": json.dumps(body(429, "s"))}), id="response-text"),
        pytest.param(Shaped(response={"data": [body(429, "s")]}), id="response-list"),
        pytest.param(Shaped("got status 429. " + json.dumps(body(429, "s"))), id="embedded"),
        pytest.param(Shaped(cause=body(429, "s")), id="cause-with-error"),
        pytest.param(
            Shaped(cause={"message": json.dumps(body(429, "s"))}), id="cause-message-json"
        ),
        pytest.param(Shaped(cause={"message": body(429, "s")}), id="cause-message-object"),
        pytest.param(Shaped(cause={"code": 429, "message": "s"}), id="cause-itself"),
        pytest.param(Shaped(cause={"message": "s"}, code=429), id="cause-with-outer-code"),
        pytest.param(Shaped(cause={"message": "s"}, code="429"), id="cause-with-outer-text"),
        pytest.param(Shaped(cause={"message": "s"}, status=429), id="cause-with-outer-status"),
    ],
)
def test_the_error_is_found_in_every_supported_place(error: Shaped) -> None:
    assert parse_google_error(error) == GoogleError(429, "s")


@pytest.mark.parametrize(
    "error",
    [
        Shaped(""),
        Shaped("not json"),
        Shaped("3"),
        message([]),
        message({}),
        message(body(0, "zero is no code")),
        message(body(429, "")),
        message({"error": "boom"}),
        Shaped("a } before a {"),
        Shaped('{"error":{"code":NaN,"message":"m"}}'),
        Shaped(response={"data": {"error": "boom"}}),
        Shaped(cause={}),
        Shaped(cause={"message": "text"}, code="E429"),
        RetryableQuotaError("m", GoogleError(429, "m")),
    ],
)
def test_without_an_account_no_token_is_found(error: Exception) -> None:
    assert parse_google_error(error) is None


def test_nested_messages_are_unwrapped_to_the_innermost() -> None:
    inner = json.dumps(body(404, "deep"))
    outer = ApiError.from_parts(429, json.dumps(body(500, inner)))

    assert parse_google_error(outer) == GoogleError(404, "deep")


def test_unwrapping_ends_after_ten_levels() -> None:
    text = "bottom"
    for level in range(13):
        text = json.dumps(body(400 + level, text))

    parsed = parse_google_error(Shaped(text))

    assert parsed is not None
    assert parsed.code == 402
    assert json.loads(parsed.message)["error"]["code"] == 401


def test_line_breaks_and_hard_spaces_do_not_hide_a_nested_error() -> None:
    inner = '{"error":\n{"code":\u00a0404,"message":"deep"}}'

    assert parse_google_error(message(body(429, inner))) == GoogleError(404, "deep")


def test_doubled_commas_of_a_broken_stream_are_mended() -> None:
    broken = Shaped('{"error":{"code":429,\n ,, "message":"m"}}')

    assert parse_google_error(broken) == GoogleError(429, "m")


def test_details_without_a_type_are_dropped_and_padded_type_keys_mended() -> None:
    details = [{" @type\n": RETRY_INFO, "retryDelay": "4s"}, {"type": "x"}, {"@type": 3}, "text"]
    parsed = parse_google_error(message(body(429, "m", details=details)))

    assert parsed is not None
    assert parsed.details == ({"@type": RETRY_INFO, "retryDelay": "4s"},)


def test_parsing_does_not_change_its_input() -> None:
    detail = {"@type ": RETRY_INFO}
    parse_google_error(Shaped(cause=body(429, "m", details=[detail])))

    assert detail == {"@type ": RETRY_INFO}


def test_a_network_cause_gives_its_own_code() -> None:
    cause = NetworkError("connect ECONNREFUSED", code="ECONNREFUSED")
    error = NetworkError("fetch failed", name="TypeError", cause=cause)

    assert parse_google_error(error) == GoogleError("ECONNREFUSED", "connect ECONNREFUSED")


def test_pythons_exception_chaining_is_not_a_cause() -> None:
    error = ValueError("outer")
    error.__cause__ = ValueError(json.dumps(body(429, "s")))

    assert parse_google_error(error) is None
