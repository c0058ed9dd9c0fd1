from typing import Any

import pytest

from agent_protocol.content import ContentPart, MediaPart, ReferencePart, TextPart, ThoughtPart
from services.presentation.content import content_to_parts, parts_to_content


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ({"text": "a"}, TextPart(text="a")),
        ({"text": ""}, TextPart(text="")),
        ({"text": "a", "thought": False, "thoughtSignature": "s"}, TextPart(text="a")),
        ({"text": "h", "thought": True}, ThoughtPart(thought="h")),
        (
            {"text": "", "thought": True, "thoughtSignature": "s"},
            ThoughtPart(thought="", thought_signature="s"),
        ),
        ({"text": "h", "thought": True, "thoughtSignature": ""}, ThoughtPart(thought="h")),
        ({"text": "a", "functionCall": {"name": "f"}}, TextPart(text="a")),
        (
            {"inlineData": {"data": "AA==", "mimeType": "image/png"}},
            MediaPart(data="AA==", mime_type="image/png"),
        ),
        ({"inlineData": {}, "fileData": {"fileUri": "u"}}, MediaPart()),
        (
            {"fileData": {"fileUri": "u", "mimeType": "m"}},
            MediaPart(uri="u", mime_type="m"),
        ),
        (
            {"executableCode": {"code": "é"}},
            TextPart(text='{"executableCode":{"code":"é"}}', meta={"partType": "unknown"}),
        ),
        ({}, TextPart(text="{}", meta={"partType": "unknown"})),
        (
            {"functionCall": None},
            TextPart(text='{"functionCall":null}', meta={"partType": "unknown"}),
        ),
    ],
)
def test_a_models_part_becomes_content(part: dict[str, Any], content: ContentPart) -> None:
    assert parts_to_content([part]) == (content,)


@pytest.mark.parametrize(
    "part",
    [
        {"functionCall": {"name": "f", "args": {}}},
        {"functionCall": {}},
        {"functionResponse": {"name": "f", "response": {"output": "x"}}},
        {"functionResponse": {}},
    ],
)
def test_calls_and_responses_are_no_content(part: dict[str, Any]) -> None:
    assert parts_to_content([{"text": "a"}, part, {"text": "b"}]) == (
        TextPart(text="a"),
        TextPart(text="b"),
    )


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (TextPart(text="", meta={"a": 1}), {"text": ""}),
        (ThoughtPart(thought="h"), {"text": "h", "thought": True}),
        (
            ThoughtPart(thought="h", thought_signature="s"),
            {"text": "h", "thought": True, "thoughtSignature": "s"},
        ),
        (ThoughtPart(thought="h", thought_signature=""), {"text": "h", "thought": True}),
        (
            MediaPart(data="AA==", mime_type="image/png", uri="u"),
            {"inlineData": {"data": "AA==", "mimeType": "image/png"}},
        ),
        (
            MediaPart(data="AA=="),
            {"inlineData": {"data": "AA==", "mimeType": "application/octet-stream"}},
        ),
        (
            MediaPart(data="AA==", mime_type=""),
            {"inlineData": {"data": "AA==", "mimeType": ""}},
        ),
        (
            MediaPart(data="", uri="u", mime_type="m"),
            {"fileData": {"fileUri": "u", "mimeType": "m"}},
        ),
        (MediaPart(uri="u"), {"fileData": {"fileUri": "u"}}),
        (ReferencePart(text="@f", data="AA==", uri="u", mime_type="m"), {"text": "@f"}),
    ],
)
def test_content_becomes_a_models_part(content: ContentPart, part: dict[str, Any]) -> None:
    assert content_to_parts([content]) == [part]


def test_media_with_nothing_in_it_is_not_sent() -> None:
    empty = [MediaPart(), MediaPart(data="", uri="", mime_type="m")]
    assert content_to_parts([TextPart(text="a"), *empty]) == [{"text": "a"}]
