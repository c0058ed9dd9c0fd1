from __future__ import annotations

import json
from typing import Any

import pytest

from adapters.model.formats import Call, HttpRequest
from adapters.model.gemini import GEMINI, joined
from adapters.model.seam import CannotAnswer, ModelSeam
from services.model.errors import ApiError

BODY = {
    "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    "systemInstruction": {"parts": [{"text": "Be "}, {"text": "kind."}]},
    "tools": [{"functionDeclarations": [{"name": "order"}]}],
    "generationConfig": {"temperature": 1},
}


def request(path: str, body: Any = BODY, method: str = "POST") -> HttpRequest:
    return HttpRequest(method, "example.org", path, "alt=sse", json.dumps(body).encode())


def call(path: str = "/v1beta/models/gemini-x:streamGenerateContent", body: Any = BODY) -> Call:
    found = GEMINI.read(request(path, body))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/v1/chat/completions", "POST"),
        ("/v1beta/models/gemini-x:batchEmbedContents", "POST"),
        ("/v1beta/models/gemini-x:generateContent", "GET"),
        ("/v1beta/models", "POST"),
    ],
)
def test_other_requests_are_none_of_its_calls(path: str, method: str) -> None:
    assert GEMINI.read(request(path, method=method)) is None


def test_the_settings_of_a_request_lie_side_by_side() -> None:
    streamed = call("/v1/projects/p/locations/l/publishers/google/models/gemini-x:generateContent")

    assert (streamed.streams, streamed.counts) == (False, False)
    assert streamed.request.model == "gemini-x"
    assert streamed.request.contents == BODY["contents"]
    assert streamed.request.config == {
        "temperature": 1,
        "systemInstruction": "Be kind.",
        "tools": BODY["tools"],
        "stream": False,
    }


def test_a_count_has_no_way_to_answer() -> None:
    counted = call("/v1beta/models/gemini-x:countTokens")

    assert counted.counts
    assert "stream" not in counted.request.config
    assert json.loads(counted.count({"totalTokens": 3})) == {"totalTokens": 3}


def test_pieces_become_one_answer() -> None:
    def piece(**part: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]}

    last = {**piece(functionCall={"name": "a"}), "usageMetadata": {"totalTokenCount": 9}}
    last["candidates"][0]["finishReason"] = "STOP"
    chunks = [
        piece(text="H", thought=True),
        piece(text="m", thought=True, thoughtSignature="s"),
        piece(text="a"),
        {"responseId": "r", "candidates": [{"content": {}}]},
        piece(text="b"),
        last,
    ]

    assert joined(chunks) == {
        "responseId": "r",
        "usageMetadata": {"totalTokenCount": 9},
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "Hm", "thought": True, "thoughtSignature": "s"},
                        {"text": "ab"},
                        {"functionCall": {"name": "a"}},
                    ],
                },
                "index": 0,
                "finishReason": "STOP",
            }
        ],
    }
    assert joined([{"promptFeedback": {"blockReason": "SAFETY"}}]) == {
        "promptFeedback": {"blockReason": "SAFETY"}
    }


@pytest.mark.parametrize("body", [b"{", b"[]"])
def test_a_body_that_cannot_be_read_is_refused(body: bytes) -> None:
    seam = ModelSeam(None)  # type: ignore[arg-type]
    asked = HttpRequest("POST", "h", "/v1beta/models/x:generateContent", "", body)

    with pytest.raises(CannotAnswer, match="cannot be read"):
        seam.call(asked)


def test_an_error_is_written_as_the_api_does() -> None:
    known = ApiError.from_parts(429, "slow", "RESOURCE_EXHAUSTED")

    assert json.loads(call().error(known)) == {
        "error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}
    }
    assert json.loads(call().error(ApiError(500, "plain"))) == {
        "error": {"code": 500, "message": "plain"}
    }
    assert call().late_error(known).startswith(b"data: {")
