"""Refusals: there and back in each provider's format, and what the shared retry makes of them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.model.classification import classify_google_error, is_retryable_error
from services.model.errors import (
    ApiError,
    ModelNotFoundError,
    RetryableQuotaError,
    TerminalQuotaError,
)
from services.model.google_errors import parse_google_error
from services.providers.anthropic.refusals import (
    messages_refusal,
    messages_stream_error,
    read_messages_refusal,
    read_messages_stream_error,
)
from services.providers.openai.refusals import (
    chat_refusal,
    chat_stream_error,
    read_chat_refusal,
    read_chat_stream_error,
)
from services.providers.refusals import Refusal, asked_delay_s, refusal_of

NOW = 1_767_225_600_000
"""2026-01-01T00:00:00Z"""
MESSAGES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(
    lambda words: words.strip() == words and "try again" not in words
)
REFUSALS = st.builds(
    lambda status, message, delay: Refusal(status=status, message=message, delay_s=delay),
    st.sampled_from([400, 401, 403, 404, 413, 429, 500, 503, 504, 529]),
    MESSAGES,
    st.one_of(st.none(), st.integers(0, 900).map(float)),
)
EXHAUSTED = Refusal(status=429, message="Nothing left.", exhausted=True)


def as_json(value):
    return json.loads(json.dumps(value))


@given(REFUSALS)
def test_a_refusal_of_chat_completions_goes_there_and_back(refusal):
    status, headers, body = chat_refusal(refusal)
    assert read_chat_refusal(status, headers, as_json(body), NOW) == refusal


@given(REFUSALS)
def test_a_refusal_of_messages_goes_there_and_back(refusal):
    status, headers, body = messages_refusal(refusal)
    assert read_messages_refusal(status, headers, as_json(body), NOW) == refusal


@given(REFUSALS)
def test_within_a_stream_chat_completions_lose_the_delay_alone(refusal):
    found = read_chat_stream_error(as_json(chat_stream_error(refusal)), NOW)
    assert found == Refusal(status=refusal.status, message=refusal.message)


@given(REFUSALS)
def test_within_a_stream_messages_have_a_type_in_place_of_a_status(refusal):
    found = read_messages_stream_error(as_json(messages_stream_error(refusal)), NOW)
    status = 529 if refusal.status == 503 else refusal.status
    assert found == Refusal(status=status, message=refusal.message)


@given(REFUSALS.filter(lambda each: each.status in (429, 500, 503, 504)))
def test_an_error_of_the_seam_goes_there_and_back(refusal):
    assert refusal_of(refusal.to_error(answering=False)) == refusal


def test_an_account_without_credit_is_one_in_both_formats():
    status, headers, body = chat_refusal(EXHAUSTED)
    assert (status, body["error"]["code"]) == (429, "insufficient_quota")
    assert read_chat_refusal(status, headers, body, NOW) == EXHAUSTED
    status, headers, body = messages_refusal(EXHAUSTED)
    assert (status, body["error"]["type"]) == (402, "billing_error")
    assert read_messages_refusal(status, headers, body, NOW).exhausted
    assert isinstance(EXHAUSTED.to_error(answering=False), TerminalQuotaError)
    assert refusal_of(EXHAUSTED.to_error(answering=False)) == EXHAUSTED


@pytest.mark.parametrize(
    ("headers", "delay_s"),
    [
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 7.5 "}, 7.5),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 31 Dec 2025 23:59:30 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "1" * 400}, None),
        ({"retry-after-ms": "nan"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_that_of_the_headers(headers, delay_s):
    assert asked_delay_s(headers, NOW) == delay_s


@pytest.mark.parametrize(
    ("words", "delay_s"),
    [("Please try again in 20ms.", 0.02), ("try again in 6.5s", 6.5), ("again in a while", None)],
)
def test_the_wait_in_the_words_of_openai_counts_without_a_header(words, delay_s):
    body = {"error": {"message": words}}
    assert read_chat_refusal(429, {}, body, NOW).delay_s == delay_s
    assert read_chat_refusal(429, {"retry-after": "3"}, body, NOW).delay_s == 3.0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "As OpenAI says it."}}, "As OpenAI says it."),
        ({"message": "Taken out by the SDK."}, "Taken out by the SDK."),
        ({"error": "As a word."}, "As a word."),
        ({"detail": "As a web framework says it."}, "As a web framework says it."),
        ("<html>gateway</html>", "<html>gateway</html>"),
        ({"error": {"message": 7}}, "The server refused with the status 502."),
        ([], "The server refused with the status 502."),
        (None, "The server refused with the status 502."),
    ],
)
def test_an_error_body_of_another_shape_has_a_message(body, message):
    assert read_chat_refusal(502, {}, body, NOW) == Refusal(status=502, message=message)


@pytest.mark.parametrize("body", [[], None, "", {"error": 7}, {"type": "error"}])
def test_an_error_body_of_messages_without_words_has_a_sentence(body):
    found = read_messages_refusal(500, {}, body, NOW)
    assert found == Refusal(status=500, message="The server refused with the status 500.")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"code": "rate_limit_exceeded"}, 429),
        ({"code": 503}, 503),
        ({"code": "429"}, 429),
        ({"code": "4290"}, 500),
        ({"type": "invalid_request_error"}, 400),
        ({"type": "of another server"}, 500),
        ("broken", 500),
    ],
)
def test_an_error_within_a_chat_stream_has_the_status_that_it_names(body, status):
    assert read_chat_stream_error(body, NOW).status == status


@pytest.mark.parametrize(
    ("refusal", "kind", "delay_ms", "again"),
    [
        (Refusal(status=429, message="Slow."), RetryableQuotaError, None, True),
        (Refusal(status=429, message="Slow.", delay_s=2.0), RetryableQuotaError, 2000.0, True),
        (Refusal(status=429, message="Slow.", delay_s=900.0), TerminalQuotaError, 900_000.0, True),
        (Refusal(status=529, message="Overloaded"), RetryableQuotaError, None, True),
        (Refusal(status=503, message="Busy", delay_s=4.0), RetryableQuotaError, 4000.0, True),
        (Refusal(status=404, message="No such model"), ModelNotFoundError, None, False),
        (Refusal(status=400, message="too many tokens"), ApiError, None, False),
        (Refusal(status=401, message="bad key"), ApiError, None, False),
        (Refusal(status=500, message="oops", delay_s=3.0), ApiError, None, True),
    ],
)
def test_the_shared_retry_reads_a_refusal_as_one_of_gemini(refusal, kind, delay_ms, again):
    error = refusal.to_error(answering=False)
    classified = classify_google_error(error)
    assert type(classified) is kind
    assert getattr(classified, "retry_delay_ms", None) == delay_ms
    assert is_retryable_error(error, retry_fetch_errors=False) == again


def test_an_error_within_a_stream_is_worded_as_that_of_gemini():
    error = Refusal(status=503, message="Busy").to_error(answering=True)
    assert str(error).startswith("got status: UNAVAILABLE. {")
    assert parse_google_error(error).message == "Busy"
