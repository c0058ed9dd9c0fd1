from __future__ import annotations

import pytest

from services.model.errors import ApiError, NetworkError
from services.model.generator import LlmRole
from services.model.replay.steps import (
    Hang,
    Sleep,
    StepFormatError,
    StepKind,
    StepMethod,
    parse_step,
    parse_steps,
)


def test_text_is_one_chunk_that_stops():
    step = parse_step({"text": "hi"}, "model[0]")
    content = {"role": "model", "parts": [{"text": "hi"}]}
    assert step.kind is StepKind.STREAM
    assert step.method is StepMethod.STREAM
    assert step.chunks == (
        {"candidates": [{"content": content, "index": 0, "finishReason": "STOP"}]},
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [("<snap>\n", "<snap>\n"), ("", ""), ({"b": 1, "a": "é"}, '{"b":1,"a":"é"}'), (3, "3")],
)
def test_json_is_a_response_whose_text_is_that_json_and_text_stays_text(value, text):
    step = parse_step({"json": value}, "s")
    assert step.method is StepMethod.GENERATE
    assert step.value is not None
    assert step.value["candidates"][0]["content"]["parts"] == [{"text": text}]


@pytest.mark.parametrize(
    ("mapping", "method"),
    [
        ({"stream": []}, "generateContentStream"),
        ({"generate": {}}, "generateContent"),
        ({"generate": {}, "method": "embedContent"}, "embedContent"),
        ({"count_tokens": {"totalTokens": 3}}, "countTokens"),
        ({"error": {"message": "m"}}, "generateContentStream"),
        ({"error": {"message": "m"}, "method": "countTokens"}, "countTokens"),
        ({"hang": True}, "generateContentStream"),
        ({"hang": True, "method": "generateContent"}, "generateContent"),
    ],
)
def test_the_method_follows_from_the_kind_unless_given(mapping, method):
    assert parse_step(mapping, "s").method == method


def test_markers_stand_in_the_place_of_chunks():
    step = parse_step({"stream": [{"$hang": True}, {"$sleep": 5}, {}]}, "s")
    assert step.chunks == (Hang(), Sleep(5), {})


def test_role_thread_and_delay_are_read():
    step = parse_step({"text": "x", "role": "subagent", "thread": "0/1/2/0", "delay_ms": 7}, "s")
    assert (step.role, step.thread, step.delay_ms) == (LlmRole.SUBAGENT, "0/1/2/0", 7)


def test_an_error_with_a_status_is_the_apis():
    step = parse_step(
        {"error": {"status": 429, "message": "süß", "grpc": "X", "details": [{"@type": "t"}]}}, "s"
    )
    error = step.error.to_exception()
    assert isinstance(error, ApiError)
    assert error.status == 429
    assert str(error) == (
        '{"error":{"code":429,"message":"süß","status":"X","details":[{"@type":"t"}]}}'
    )


def test_an_error_without_a_status_is_the_networks_and_new_at_every_use():
    spec = parse_step(
        {"error": {"name": "TypeError", "message": "fetch failed", "cause": {"code": "E"}}}, "s"
    ).error
    error = spec.to_exception()
    assert isinstance(error, NetworkError)
    assert (error.name, str(error), error.code, error.cause) == (
        "TypeError",
        "fetch failed",
        None,
        {"code": "E"},
    )
    assert spec.to_exception() is not error


def test_repeat_multiplies_steps_and_counts_in_their_indices():
    steps = parse_steps([{"text": "a", "repeat": 3}, {"text": "b"}])
    assert [step.index for step in steps] == [0, 1, 2, 3]
    assert steps[0].chunks is steps[2].chunks


def test_too_many_steps_are_refused_before_they_are_made():
    with pytest.raises(StepFormatError, match="beyond 10,000"):
        parse_steps([{"text": "a"}, {"text": "b", "repeat": 10**12}])


@pytest.mark.parametrize(
    ("mapping", "path", "problem"),
    [
        ("x", "s", "must be a mapping"),
        ({}, "s", "exactly one of"),
        ({"text": "a", "json": 1}, "s", "found text and json"),
        ({"text": "a", "rolle": "main"}, "s.rolle", "unknown key"),
        ({"text": "a", "then_error": {}}, "s.then_error", "unknown key of a text step"),
        ({"text": 5}, "s.text", "must be text"),
        ({"stream": {}}, "s.stream", "must be a list"),
        ({"stream": ["a"]}, "s.stream[0]", "must be a mapping"),
        ({"stream": [{"candidates": {}}]}, "s.stream[0].candidates", "must be a list"),
        ({"stream": [{"candidates": [1]}]}, "s.stream[0].candidates[0]", "must be a mapping"),
        ({"generate": {"candidates": [{"content": []}]}}, "s.generate.candidates[0].content", ""),
        (
            {"generate": {"candidates": [{"content": {"parts": [{"text": 1}]}}]}},
            "s.generate.candidates[0].content.parts[0].text",
            "must be text",
        ),
        (
            {"generate": {"candidates": [{"content": {"parts": [{"functionCall": "f"}]}}]}},
            "s.generate.candidates[0].content.parts[0].functionCall",
            "must be a mapping",
        ),
        (
            {
                "stream": [
                    {"candidates": [{"content": {"parts": [{"functionCall": {"name": []}}]}}]}
                ]
            },
            "s.stream[0].candidates[0].content.parts[0].functionCall.name",
            "must be text",
        ),
        ({"stream": [{"$sleep": "1"}]}, "s.stream[0].$sleep", "milliseconds"),
        ({"stream": [{"$hang": 1}]}, "s.stream[0].$hang", "must be true"),
        ({"count_tokens": 3}, "s.count_tokens", "totalTokens"),
        ({"hang": False}, "s.hang", "must be true"),
        ({"text": "a", "method": "generateContent"}, "s.method", "does not go with text"),
        ({"text": "a", "role": "boss"}, "s.role", "not a role"),
        ({"text": "a", "role": ["main"]}, "s.role", "not a role"),
        ({"text": "a", "thread": "0"}, "s.thread", "path of a call"),
        ({"text": "a", "repeat": 0}, "s.repeat", "whole number"),
        ({"text": "a", "repeat": True}, "s.repeat", "whole number"),
        ({"text": "a", "delay_ms": -1}, "s.delay_ms", "milliseconds"),
        ({"error": "x"}, "s.error", "must be a mapping"),
        ({"error": {"status": 400}}, "s.error.message", "is missing"),
        ({"error": {"status": "400", "message": "m"}}, "s.error.status", "HTTP status"),
        ({"error": {"status": 400, "message": "m", "name": "n"}}, "s.error.name", "unknown key"),
        ({"error": {"message": "m", "grpc": "n"}}, "s.error.grpc", "unknown key"),
        ({"error": {"message": "m", "cause": "n"}}, "s.error.cause", "must be a mapping"),
    ],
)
def test_an_error_names_the_path_of_the_wrong_value(mapping, path, problem):
    with pytest.raises(StepFormatError) as caught:
        parse_step(mapping, "s")
    assert caught.value.path == path
    assert problem in caught.value.problem


def test_parse_steps_wants_a_list():
    with pytest.raises(StepFormatError, match="must be a list"):
        parse_steps({"text": "a"})
