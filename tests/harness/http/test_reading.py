"""What google-genai's client makes of a step, rule by rule."""

from collections import Counter

from google.genai import types

from harness.http.reading import _PART_FIELDS, READING_RULES, as_read
from services.model.replay.steps import parse_step


def read(mapping):
    fired = Counter()
    return as_read(parse_step(mapping, "model[0]"), fired), fired


def stream(*parts, **more):
    return {
        "stream": [{"candidates": [{"content": {"role": "model", "parts": list(parts)}}]}],
        **more,
    }


def parts(step):
    return step.chunks[0]["candidates"][0]["content"]["parts"]


def test_a_plain_answer_is_read_as_it_stands():
    step, fired = read(stream({"text": "a", "thought": False}, {"functionCall": {"name": "f"}}))

    assert step == parse_step(
        stream({"text": "a", "thought": False}, {"functionCall": {"name": "f"}}), ""
    )
    assert not fired


def test_what_is_null_is_not_there():
    step, fired = read(stream({"functionCall": {"name": "f", "args": None}}))

    assert parts(step) == [{"functionCall": {"name": "f"}}]
    assert fired == {"nulls": 1}


def test_a_null_among_the_arguments_of_a_call_stays():
    step, fired = read(stream({"functionCall": {"name": "f", "args": {"a": None}}}))

    assert parts(step) == [{"functionCall": {"name": "f", "args": {"a": None}}}]
    assert not fired


def test_an_unknown_field_of_a_part_goes_and_its_empty_part_stays():
    step, fired = read(stream({"somethingNew": {"a": 1}}, {"text": "b"}))

    assert parts(step) == [{}, {"text": "b"}]
    assert fired == {"unknown_parts": 1}


def test_the_message_of_an_error_event_has_a_prefix_before_the_json():
    error = {"status": 503, "message": "m", "grpc": "UNAVAILABLE"}
    step, fired = read(stream({"text": "a"}, then_error=error))

    raised = step.then_error.to_exception()
    assert (raised.status, str(raised)) == (
        503,
        'got status: UNAVAILABLE. {"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}',
    )
    assert fired == {"error_events": 1}


def test_a_reset_has_the_words_of_a_body_that_broke():
    step, fired = read(stream({"text": "a"}, then_error={"message": "m", "code": "EPIPE"}))

    raised = step.then_error.to_exception()
    assert (raised.name, raised.code, str(raised)) == ("TypeError", "ECONNRESET", "terminated")
    assert fired == {"resets": 1}


def test_a_refused_call_is_read_as_it_stands():
    step, fired = read({"error": {"status": 503, "message": "m"}})

    assert step.error.status == 503
    assert not fired


def test_every_rule_gives_its_reason():
    assert all(rule.__doc__ for rule in READING_RULES)


def test_the_known_fields_of_a_part_are_the_installed_clients():
    fields = {field.alias or name for name, field in types.Part.model_fields.items()}

    assert fields == _PART_FIELDS
