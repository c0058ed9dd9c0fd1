from __future__ import annotations

from typing import Any

import pytest

from services.hooks.translation import (
    HookModelRequest,
    changed_config,
    changed_contents,
    changed_model,
    request_for_hooks,
    response_for_hooks,
    response_from_hook,
)
from services.hooks.values import HookOutputError

CALL = {"functionCall": {"name": "f", "args": {}}}
ANSWER = {"functionResponse": {"name": "f", "response": {}}}
IMAGE = {"inlineData": {"mimeType": "image/png", "data": "AA"}}
CONTENTS: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"text": "hello "}, IMAGE, {"text": "you"}]},
    {"role": "model", "parts": [{"text": "hm", "thought": True}, CALL]},
    {"role": "user", "parts": [ANSWER]},
    {"role": "system", "parts": [{"text": ""}]},
    {"role": "other", "parts": [{"text": "bye"}]},
]
REQUEST = HookModelRequest(
    model="gemini-2.5-flash",
    config={"temperature": 0, "topK": None, "topP": 0.5, "tools": [], "thinkingConfig": {}},
    contents=CONTENTS,
)


def test_hooks_see_texts_and_four_numbers() -> None:
    assert request_for_hooks(REQUEST) == {
        "model": "gemini-2.5-flash",
        "messages": [
            {"role": "user", "content": "hello you"},
            {"role": "model", "content": "hm"},
            {"role": "user", "content": "bye"},
        ],
        "config": {"temperature": 0, "topP": 0.5, "topK": None},
    }


def test_messages_go_back_to_where_texts_were() -> None:
    said = {
        "messages": [
            {"role": "user", "content": "A"},
            {"role": "model", "content": 5},
            {"content": None},
            {"role": "user", "content": ["x", None]},
            {"role": "model", "content": {}},
        ]
    }

    # An empty text takes a message although it gave none: so it is upstream.
    assert changed_contents(said, REQUEST) == [
        {"role": "user", "parts": [{"text": "A"}, IMAGE]},
        {"role": "model", "parts": [{"text": "5"}, CALL]},
        {"role": "user", "parts": [ANSWER]},
        {"parts": [{"text": "null"}]},
        {"role": "user", "parts": [{"text": "x,"}]},
        {"role": "model", "parts": [{"text": "[object Object]"}]},
    ]
    assert CONTENTS[0]["parts"][0] == {"text": "hello "}


def test_missing_messages_leave_contents_as_they_are() -> None:
    changed = changed_contents({"messages": [{"role": "user", "content": "A"}]}, REQUEST)

    assert changed[1:] == CONTENTS[1:]


@pytest.mark.parametrize("said", [None, {}, "gemini", [], {"messages": None}, {"messages": 0}])
def test_without_messages_the_contents_are_the_very_same(said: Any) -> None:
    assert changed_contents(said, REQUEST) is CONTENTS


def test_a_null_message_cannot_be_read() -> None:
    with pytest.raises(HookOutputError):
        changed_contents({"messages": [None]}, REQUEST)


@pytest.mark.parametrize(
    ("said", "config"),
    [
        ({}, {"temperature": 0, "topK": None, "topP": 0.5}),
        ({"config": {"temperature": 0.2}}, {"temperature": 0.2}),
        ({"config": {}}, {}),
        ({"config": "text"}, {}),
        ({"config": None}, {"temperature": 0, "topK": None, "topP": 0.5}),
        ({"config": {"maxOutputTokens": None, "seed": 1}}, {"maxOutputTokens": None}),
    ],
)
def test_a_config_clears_what_it_leaves_out_of_the_four(said: Any, config: Any) -> None:
    assert changed_config(said, REQUEST) == {**config, "tools": [], "thinkingConfig": {}}


@pytest.mark.parametrize(
    ("said", "model"),
    [
        ({"model": "gemini-2.5-pro"}, "gemini-2.5-pro"),
        ({"model": ""}, "gemini-2.5-flash"),
        ({"model": 5}, "gemini-2.5-flash"),
        (None, "gemini-2.5-flash"),
    ],
)
def test_a_model_is_changed_by_name(said: Any, model: str) -> None:
    assert changed_model(said, REQUEST) == model


def test_a_response_for_hooks_has_its_texts() -> None:
    response = {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "hm", "thought": True}, CALL]},
                "finishReason": "STOP",
                "index": 0,
                "safetyRatings": [{"category": "A", "probability": None, "blocked": True}],
                "groundingMetadata": {},
            },
            {"index": 1},
        ],
        "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 3, "thoughtsTokenCount": 2},
        "responseId": "r",
    }

    assert response_for_hooks(response) == {
        "text": "",
        "candidates": [
            {
                "content": {"role": "model", "parts": ["hm"]},
                "finishReason": "STOP",
                "index": 0,
                "safetyRatings": [{"category": "A", "probability": ""}],
            },
            {"content": {"role": "model", "parts": []}, "index": 1},
        ],
        "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 3},
    }
    assert response_for_hooks({}) == {"candidates": []}


def test_a_hooks_response_is_texts_only() -> None:
    said = {
        "text": "t",
        "candidates": [
            {"content": {"role": "user", "parts": ["a", CALL]}, "finishReason": "STOP", "x": 1}
        ],
        "usageMetadata": {"totalTokenCount": 1, "promptTokenCount": "2", "other": 10**9999},
    }

    assert response_from_hook(said) == {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "a"}, {"text": "[object Object]"}]},
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {"totalTokenCount": 1},
    }


@pytest.mark.parametrize(
    "said",
    [
        {},
        "text",
        {"candidates": "text"},
        {"candidates": [None]},
        {"candidates": [{}]},
        {"candidates": [{"content": {"parts": "text"}}]},
    ],
)
def test_a_response_without_candidates_or_parts_cannot_be_read(said: Any) -> None:
    with pytest.raises(HookOutputError):
        response_from_hook(said)
