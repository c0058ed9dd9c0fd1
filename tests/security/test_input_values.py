"""Values of a wrong type in what a model or a hook answers: a clear error, or both runtimes alike.

A deterministic piece of a fuzz: each field of two answers is replaced by values of each JSON type.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.cassette.load import build_cassette
from harness.cassette.problems import FormatProblem
from harness.parity.compare import compare_observations
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from services.hooks.translation import response_from_hook
from services.model.replay.responses import ResponsesFormatError, parse_responses
from services.wire import js_json

Place = tuple[str | int, ...]

CALLING: Mapping[str, Any] = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "**Plan** read", "thought": True, "thoughtSignature": "c2ln"},
                    {"text": "I read it."},
                    {"functionCall": {"id": "c", "name": "read_file", "args": {"file_path": "a"}}},
                ],
            },
            "index": 0,
            "finishReason": "STOP",
            "safetyRatings": [{"category": "HARM", "probability": "LOW"}],
            "citationMetadata": {"citations": [{"uri": "http://x", "title": "X"}]},
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 10,
        "candidatesTokenCount": 5,
        "totalTokenCount": 15,
        "cachedContentTokenCount": 1,
        "thoughtsTokenCount": 2,
        "toolUsePromptTokenCount": 1,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}],
    },
    "modelVersion": "gemini-2.5-flash",
    "responseId": "r1",
    "promptFeedback": {"blockReason": "SAFETY"},
}
PLAIN: Mapping[str, Any] = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"functionResponse": {"id": "x", "name": "n", "response": {"output": "o"}}},
                    {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                    {"fileData": {"fileUri": "u", "mimeType": "m"}},
                    {"text": "text"},
                ],
            },
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {"promptTokenCount": 20, "totalTokenCount": 25},
}


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


VALUES: tuple[Any, ...] = (0, 1.5, True, "text", {"a": 1}, [], nested(50), 10**30)


def places(value: Any, above: Place = ()) -> Iterator[Place]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in inner:
        yield (*above, key)
        if isinstance(item, dict | list):
            yield from places(item, (*above, key))


def changed(value: Mapping[str, Any], place: Place, new: Any) -> dict[str, Any]:
    whole: Any = copy.deepcopy(dict(value))
    owner = whole
    for key in place[:-1]:
        owner = owner[key]
    owner[place[-1]] = new
    return dict(whole)


def document(chunk: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "cassette": 1,
        "name": "x",
        "session": {"model": "gemini-2.5-flash", "approval_mode": "yolo"},
        "files": {"a": "alpha\n"},
        "script": [{"send": "first"}, {"send": "second"}],
        "model": [{"stream": [chunk]}, {"text": "done", "repeat": 6}],
        "unused": list(range(7)),
    }


def runs(chunk: Mapping[str, Any]) -> tuple[Observation, Observation]:
    cassette = build_cassette(document(chunk), Path("/nowhere/x.yaml"))
    return run_cassette(cassette, "legacy"), run_cassette(cassette, "adk")


def failures(seen: Observation) -> list[str]:
    """What a run says that is no answer: of these chunks none may make a runtime fail."""
    said = [str(event["message"]) for event in seen.events if event["type"] == "error"]
    return [*said, *([seen.error] if seen.error else [])]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: js_json(value)[:12])
@pytest.mark.parametrize("answer", [CALLING, PLAIN], ids=["calling", "plain"])
@pytest.mark.sampled(5)
def test_a_field_of_any_type_is_refused_by_name_or_read_alike(
    answer: Mapping[str, Any], value: Any
) -> None:
    accepted, refused = 0, []
    for place in places(answer):
        try:
            legacy, adk = runs(changed(answer, place, value))
        except FormatProblem as problem:
            refused.append((place, problem.key, problem.problem))
            continue
        accepted += 1
        assert (failures(legacy), failures(adk)) == ([], []), place
        assert compare_observations(legacy, adk).divergences == (), place
    assert accepted > 2
    assert len(refused) > 5
    for place, key, words in refused:
        assert key.startswith("model[0].stream[0]"), place
        assert "must be" in words, place


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("usageMetadata", "promptTokenCount"), 1.5),
        (("usageMetadata", "totalTokenCount"), 1.5),
        (("candidates", 0, "content", "role"), 0),
        (("candidates", 0, "content", "role"), nested(20)),
    ],
)
def test_the_users_turn_survives_what_the_sdks_types_refuse(place: Place, value: Any) -> None:
    for seen in runs(changed(PLAIN, place, value)):
        said = [part.get("text") for turn in seen.transcript for part in turn["parts"]]
        assert "first" in said
        assert "second" in said
        assert "text" in said


@pytest.mark.parametrize("value", ["12", [], {"a": 1}, True, 10**30, nested(50)])
@pytest.mark.parametrize("count", ["promptTokenCount", "thoughtsTokenCount"])
def test_a_count_that_is_no_number_is_refused_in_scripts_and_no_count_in_hooks(
    count: str, value: Any
) -> None:
    usage = {"usageMetadata": {count: value}}
    with pytest.raises(FormatProblem, match=f"usageMetadata.{count}"):
        build_cassette(document(usage), Path("/nowhere/x.yaml"))
    line = js_json({"method": "generateContentStream", "response": [usage]})
    with pytest.raises(ResponsesFormatError, match=rf"^line 1: response\[0\].usage.*{count}"):
        parse_responses(line)
    assert response_from_hook({"candidates": [], **usage})["usageMetadata"] == {}


@pytest.mark.parametrize(
    ("method", "response", "named"),
    [
        ("generateContent", {"candidates": "text"}, "response.candidates"),
        ("generateContent", {"candidates": [None]}, r"response.candidates\[0\]"),
        ("countTokens", {"totalTokens": "12"}, "response.totalTokens"),
        ("generateContentStream", [{}, {"candidates": {}}], r"response\[1\].candidates"),
    ],
)
def test_an_ill_typed_answer_of_a_recording_is_refused_with_its_line(
    method: str, response: Any, named: str
) -> None:
    good = js_json({"method": "generateContent", "response": {}})
    bad = js_json({"method": method, "response": response})
    with pytest.raises(ResponsesFormatError, match=f"^line 2: {named}: must be"):
        parse_responses(f"{good}\n{bad}\n")
