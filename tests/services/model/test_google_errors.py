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


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(json.dumps(body(429, "s")), id="json-text"),
        pytest.param(body(429, "s"), id="mapping"),
        pytest.param([body(429, "s"), body(500, "t")], id="list-means-its-first"),
        pytest.param({"message": json.dumps([body(429, "s")])}, id="message-holding-a-list"),
        pytest.param({"response": {"data": body(429, "s")}}, id="response-data"),
        pytest.param({"response": {"data": json.dumps(body(429, "s"))}}, id="response-text"),
        pytest.param({"response": {"data": [body(429, "s")]}}, id="response-list"),
        pytest.param({"message": "got status 429. " + json.dumps(body(429, "s"))}, id="embedded"),
        pytest.param({"cause": body(429, "s")}, id="cause-with-error"),
        pytest.param({"cause": {"message": json.dumps(body(429, "s"))}}, id="cause-message-json"),
        pytest.param({"cause": {"message": body(429, "s")}}, id="cause-message-object"),
        pytest.param({"cause": {"code": 429, "message": "s"}}, id="cause-itself"),
        pytest.param({"cause": json.dumps(body(429, "s"))}, id="cause-text-json"),
        pytest.param({"cause": "s", "code": 429}, id="cause-text-with-outer-code"),
        pytest.param({"cause": "s", "code": "429"}, id="cause-text-with-outer-numeric-text"),
        pytest.param({"cause": {"message": "s"}, "status": 429}, id="cause-with-outer-status"),
        pytest.param(
            {"response": {"data": "x"}, "error": {"code": 429, "message": "s"}}, id="top-level"
        ),
    ],
)
def test_the_error_is_found_in_every_supported_place(error: object) -> None:
    assert parse_google_error(error) == GoogleError(429, "s")


@pytest.mark.parametrize(
    "error",
    [
        None,
        "",
        "not json",
        "3",
        [],
        {},
        body(0, "zero is no code"),
        body(429, ""),
        {"error": "boom"},
        {"message": '{"error":"boom"}'},
        {"message": "a } before a {"},
        {"message": '{"error":{"code":NaN,"message":"m"}}'},
        {"cause": " "},
        {"cause": {}},
        {"cause": "text", "code": "E429"},
        RetryableQuotaError("m", GoogleError(429, "m")),
        {"name": "ValidationRequiredError", **body(403, "m")},
    ],
)
def test_without_an_account_no_token_is_found(error: object) -> None:
    assert parse_google_error(error) is None


def test_nested_messages_are_unwrapped_to_the_innermost() -> None:
    inner = json.dumps(body(404, "deep"))
    outer = ApiError.from_parts(429, json.dumps(body(500, inner)))

    assert parse_google_error(outer) == GoogleError(404, "deep")


def test_unwrapping_ends_after_ten_levels() -> None:
    message = "bottom"
    for level in range(13):
        message = json.dumps(body(400 + level, message))

    parsed = parse_google_error(message)

    assert parsed is not None
    assert parsed.code == 402
    assert json.loads(parsed.message)["error"]["code"] == 401


def test_line_breaks_and_hard_spaces_do_not_hide_a_nested_error() -> None:
    inner = '{"error":\n{"code":\u00a0404,"message":"deep"}}'

    assert parse_google_error(body(429, inner)) == GoogleError(404, "deep")


def test_doubled_commas_of_a_broken_stream_are_mended() -> None:
    assert parse_google_error('{"error":{"code":429,\n ,, "message":"m"}}') == GoogleError(429, "m")


def test_details_without_a_type_are_dropped_and_padded_type_keys_mended() -> None:
    details = [{" @type\n": RETRY_INFO, "retryDelay": "4s"}, {"type": "x"}, {"@type": 3}, "text"]
    parsed = parse_google_error(body(429, "m", details=details))

    assert parsed is not None
    assert parsed.details == ({"@type": RETRY_INFO, "retryDelay": "4s"},)


def test_parsing_does_not_change_its_input() -> None:
    detail = {"@type ": RETRY_INFO}
    parse_google_error(body(429, "m", details=[detail]))

    assert detail == {"@type ": RETRY_INFO}


def test_a_network_cause_gives_its_own_code() -> None:
    cause = NetworkError("connect ECONNREFUSED", code="ECONNREFUSED")
    error = NetworkError("fetch failed", name="TypeError", cause=cause)

    assert parse_google_error(error) == GoogleError("ECONNREFUSED", "connect ECONNREFUSED")


def test_pythons_exception_chaining_is_not_a_cause() -> None:
    error = ValueError("outer")
    error.__cause__ = ValueError(json.dumps(body(429, "s")))

    assert parse_google_error(error) is None
