from typing import Any

import pytest

from services.recording.conversion import (
    convert_session_to_client_history,
    ensure_stable_tool_ids,
)
from services.wire import Json, JsonObject


def message(kind: str, content: Json, **more: Any) -> JsonObject:
    return {"id": "m", "type": kind, "content": content, **more}


def call(**more: Any) -> JsonObject:
    return {"id": "c", "name": "t", "args": {"x": 1}, "status": "success", **more}


CALL = {"functionCall": {"id": "c", "name": "t", "args": {"x": 1}}}
RESPONSE = {"functionResponse": {"id": "c", "name": "t", "response": {"output": "r"}}}


@pytest.mark.parametrize("kind", ["info", "warning", "error", "other"])
def test_notices_are_not_the_models(kind: str) -> None:
    assert convert_session_to_client_history([message(kind, "text")]) == []


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("hello", [{"text": "hello"}]),
        (["a", {"text": "b"}], [{"text": "a"}, {"text": "b"}]),
        ({"text": "one part"}, [{"text": "one part"}]),
        ([RESPONSE], [RESPONSE]),
        ([None, {"text": "a"}], [{"text": "a"}]),
    ],
)
def test_a_persons_words_become_a_turn(content: Json, parts: Json) -> None:
    history = convert_session_to_client_history([message("user", content)])

    assert history == [("m", {"role": "user", "parts": parts})]


@pytest.mark.parametrize("content", ["/quit", "?", " ", "<session_context>x", None, []])
def test_messages_that_the_model_did_not_get_are_left_out(content: Json) -> None:
    assert convert_session_to_client_history([message("user", content)]) == []


def test_an_answer_with_calls_in_its_content_is_taken_as_it_is() -> None:
    content = [{"text": "t", "thought": True, "thoughtSignature": "s"}, CALL]
    answer = message("gemini", content, thoughts=[{"subject": "S"}], toolCalls=[call()])

    assert convert_session_to_client_history([answer]) == [
        ("m", {"role": "model", "parts": content})
    ]


def test_an_older_answer_is_put_together() -> None:
    thoughts = [
        {"subject": "S", "description": "D"},
        {"subject": "", "description": "only"},
        {"subject": "alone"},
    ]
    answer = message("gemini", "text", thoughts=thoughts, toolCalls=[call(result="r")])

    assert convert_session_to_client_history([answer]) == [
        (
            "m",
            {
                "role": "model",
                "parts": [
                    {"text": "**S** D", "thought": True},
                    {"text": "only", "thought": True},
                    {"text": "**alone** undefined", "thought": True},
                    {"text": "text"},
                    CALL,
                ],
            },
        ),
        ("m_response", {"role": "user", "parts": [RESPONSE]}),
    ]


@pytest.mark.parametrize(
    ("result", "parts"),
    [
        ([RESPONSE, {"text": "beside"}], [RESPONSE, {"text": "beside"}]),
        (RESPONSE, [RESPONSE]),
        ("", None),
        (None, None),
        ([], None),
    ],
)
def test_results_follow_as_one_turn_if_there_are_any(result: Json, parts: Json) -> None:
    history = convert_session_to_client_history(
        [message("gemini", "", toolCalls=[call(result=result)])]
    )

    assert [turn[1]["parts"] for turn in history[1:]] == ([] if parts is None else [parts])


def test_an_answer_with_nothing_in_it_is_left_out() -> None:
    assert convert_session_to_client_history([message("gemini", "", toolCalls=[])]) == []


def test_calls_without_ids_get_them_from_their_turns() -> None:
    model = {
        "role": "model",
        "parts": [
            {"functionCall": {"name": "a"}},
            {"functionCall": {"name": "b", "id": "B"}},
            {"functionCall": {"name": "c"}},
        ],
    }
    user = {
        "role": "user",
        "parts": [{"functionResponse": {"name": "a"}}, {"functionResponse": {"name": "b"}}],
    }
    plain = {"role": "user", "parts": [{"text": "x"}]}

    history = ensure_stable_tool_ids([("t0", model), ("t1", user), ("t2", plain)])

    found = [next(iter(part.values()))["id"] for _, turn in history[:2] for part in turn["parts"]]
    assert found == [
        "synth_a_5a96643648d22b01fa5c71848dc158e2",
        "B",
        "synth_c_68e4596df35dac37ffe84ea92f2959f1",
        "synth_a_5a96643648d22b01fa5c71848dc158e2",
        "synth_orph_b_571c13729c57b6d4bb12c3fcb8d11605",
    ]
    assert history[2][1] is plain
    assert model["parts"][0] == {"functionCall": {"name": "a"}}
