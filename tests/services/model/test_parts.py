from typing import Any

import pytest

from services.model.parts import (
    citations,
    function_calls,
    parse_thought,
    part_list_to_string,
    response_text,
)


def answer(*parts: dict[str, Any]) -> dict[str, Any]:
    return {
        "candidates": [
            {"content": {"role": "model", "parts": list(parts)}},
            {"content": {"role": "model", "parts": [{"text": "second"}]}},
        ]
    }


def blob(size: int, mime_type: str | None = None) -> dict[str, Any]:
    data: dict[str, Any] = {"data": "A" * size}
    return {"inlineData": data | ({"mimeType": mime_type} if mime_type else {})}


@pytest.mark.parametrize(
    ("part", "plain", "verbose"),
    [
        ("text", "text", "text"),
        ({"text": "t"}, "t", "t"),
        ({"text": "t", "thought": True}, "t", "[Thought: true]"),
        ({"text": "t", "thought": False}, "t", "[Thought: false]"),
        ({"text": "t", "thought": "hm"}, "t", "[Thought: hm]"),
        ({"text": "t", "videoMetadata": {}, "thought": True}, "t", "[Video Metadata]"),
        ({"codeExecutionResult": {}}, "", "[Code Execution Result]"),
        ({"executableCode": {}}, "", "[Executable Code]"),
        ({"fileData": {}}, "", "[File Data]"),
        ({"functionCall": {"name": "f"}}, "", "[Function Call: f]"),
        ({"functionCall": {}}, "", "[Function Call: undefined]"),
        ({"functionResponse": {"name": "f"}}, "", "[Function Response: f]"),
        (blob(2000, "audio/mp3"), "", "[Audio: audio/mp3, 1.5 KB]"),
        (blob(1092, "video/mp4"), "", "[Video: video/mp4, 0.8 KB]"),
        (blob(1024, "image/png"), "", "[Image: image/png, 0.8 KB]"),
        (blob(341, "application/pdf"), "", "[Media: application/pdf, 0.3 KB]"),
        (blob(0), "", "[Media: unknown, 0.0 KB]"),
        ({}, "", ""),
        (None, "", ""),
        ([], "", ""),
        (["a", {"text": "b"}, {"functionCall": {"name": "f"}}], "ab", "ab[Function Call: f]"),
    ],
)
def test_parts_as_text(part: Any, plain: str, verbose: str) -> None:
    assert part_list_to_string(part) == plain
    assert part_list_to_string(part, verbose=True) == verbose


@pytest.mark.parametrize(
    ("text", "subject", "description"),
    [
        ("**Plan** do it", "Plan", "do it"),
        ("x **A** y", "A", "x  y"),
        ("** A **\n\nbody\n", "A", "body"),
        ("**A** b **C**", "A", "b **C**"),
        ("****", "", ""),
        ("**open", "", "**open"),
        (" none \ufeff", "", "none"),
        ("", "", ""),
    ],
)
def test_thoughts_are_split_at_the_first_bold_pair(
    text: str, subject: str, description: str
) -> None:
    assert parse_thought(text) == (subject, description)


def test_response_text_joins_the_first_candidates_texts_without_thoughts() -> None:
    response = answer(
        {"text": "a"},
        {"text": "hm", "thought": True},
        {"text": ""},
        {"functionCall": {}},
        {"text": "b"},
    )

    assert response_text(response) == "ab"


def test_an_answer_with_parts_but_no_text_is_empty_and_one_without_parts_is_none() -> None:
    assert response_text(answer({"functionCall": {}})) == ""
    assert response_text(answer()) is None
    assert response_text({"candidates": [{}]}) is None
    assert response_text({"candidates": []}) is None
    assert response_text({}) is None


def test_function_calls_are_the_parts_own_objects() -> None:
    call = {"name": "f", "args": {}}
    bare: dict[str, Any] = {}
    found = function_calls(answer({"text": "t"}, {"functionCall": call}, {"functionCall": bare}))

    assert found == [call, bare]
    assert found[0] is call
    assert function_calls({"usageMetadata": {}}) == []


def test_citations_without_an_address_are_left_out() -> None:
    response = {
        "candidates": [
            {
                "citationMetadata": {
                    "citations": [
                        {"uri": "https://a", "title": "A"},
                        {"title": "nowhere"},
                        {"uri": "https://b", "title": ""},
                        {"uri": "https://c"},
                    ]
                }
            }
        ]
    }

    assert citations(response) == ["(A) https://a", "https://b", "https://c"]
    assert citations(answer({"text": "t"})) == []
    assert citations({}) == []
