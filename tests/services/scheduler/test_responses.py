from __future__ import annotations

from typing import Any

import pytest

from services.scheduler.calls import ToolCallRequest
from services.scheduler.responses import (
    convert_to_function_response,
    error_response,
    reason_response,
)
from services.tools.contract import ToolErrorType

OLD = "gemini-2.5-pro"
PNG = {"inlineData": {"mimeType": "image/png", "data": "AA=="}}
MP3 = {"inlineData": {"mimeType": "audio/mp3", "data": "AA=="}}
MP4 = {"inlineData": {"mimeType": "video/mp4", "data": "AA=="}}
FILE = {"fileData": {"mimeType": "image/png", "fileUri": "gs://x"}}


def fr(response: dict[str, Any], name: str = "t", **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"id": "c", "name": name, "response": response, **more}}


ONE = "Binary content provided (1 item(s))."
READ = (
    "Binary content (audio/mp3) read successfully. "
    "Content will be injected for analysis in the next sequence."
)


@pytest.mark.parametrize(
    ("content", "name", "model", "parts"),
    [
        ("x", "t", OLD, [fr({"output": "x"})]),
        ("", "t", OLD, [fr({"output": ""})]),
        (["a", {"text": "b"}], "t", OLD, [fr({"output": "a\nb"})]),
        ([{"text": ""}], "t", OLD, [fr({"output": ""})]),
        ([], "t", OLD, [fr({})]),
        ({"text": "a"}, "t", OLD, [fr({"output": "a"})]),
        ([{"unknown": 1}, "a"], "t", OLD, [fr({"output": "a"})]),
        (PNG, "t", OLD, [fr({"output": ONE}), PNG]),
        ([PNG], "t", "gemini-3-pro-preview", [fr({"output": ONE}, parts=[PNG])]),
        ([PNG], "t", "gemini-3.5-flash", [fr({"output": ONE}), PNG]),
        (["t", PNG, FILE], "t", OLD, [fr({"output": "t"}), FILE, PNG]),
        (["t", PNG, FILE], "t", "gemini-3-x", [fr({"output": "t"}, parts=[PNG]), FILE]),
        (
            [PNG, FILE],
            "t",
            OLD,
            [fr({"output": "Binary content provided (2 item(s))."}), FILE, PNG],
        ),
        (
            [MP3],
            "read_file",
            OLD,
            [fr({"output": READ, "__binary_injection__": [MP3]}, "read_file")],
        ),
        (
            ["a", MP3, MP4, MP3],
            "t",
            OLD,
            [
                fr(
                    {
                        "output": "[SYSTEM: Binary content (audio/mp3, video/mp4) stripped "
                        "from response due to protocol limitations.]\na"
                    }
                )
            ],
        ),
        (
            ["a", {"functionResponse": {"id": "z", "name": "y", "response": {"k": 1}}}, PNG],
            "t",
            OLD,
            [fr({"k": 1})],
        ),
    ],
)
def test_content_becomes_response_parts(
    content: Any, name: str, model: str, parts: list[dict[str, Any]]
) -> None:
    assert convert_to_function_response(name, "c", content, model) == parts


def request(**more: Any) -> ToolCallRequest:
    return ToolCallRequest(call_id="c", name="t", args={}, prompt_id="p", **more)


def test_an_error_response_has_its_length_in_utf16() -> None:
    response = error_response(request(), "no 😀", ToolErrorType.UNKNOWN)

    assert response.response_parts == (fr({"error": "no 😀"}),)
    assert (response.error, response.result_display) == ("no 😀", "no 😀")
    assert (response.error_type, response.content_length) == (ToolErrorType.UNKNOWN, 5)


def test_a_response_with_a_reason_is_no_error() -> None:
    response = reason_response(request(original_request_name="first"), "why", "shown")

    message = "[Operation Cancelled] Reason: why"
    assert response.response_parts == (fr({"error": message}, "first"),)
    assert (response.error, response.error_type) == (None, None)
    assert (response.result_display, response.content_length) == ("shown", len(message))
