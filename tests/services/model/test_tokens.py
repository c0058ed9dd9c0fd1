import asyncio
import json
from math import floor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.abort import AbortController, AbortError
from services.model.errors import ApiError
from services.model.generator import ChunkStream, EmbedRequest, LlmRole, ModelRequest
from services.model.tokens import estimate_tokens, part_tokens, request_token_count

IMAGE = {"inlineData": {"mimeType": "image/png", "data": "x"}}
PDF = {"fileData": {"mimeType": "application/pdf", "fileUri": "u"}}


def response(**fields: Any) -> dict[str, Any]:
    return {"functionResponse": fields}


CASES: list[tuple[list[dict[str, Any]], int]] = [
    ([{"text": "Hello world!"}], 3),
    ([{"text": "é" * 10}], 15),
    ([{"text": "😀"}], 3),
    ([{"text": "aé"}], 1),
    ([{}], 0),
    ([{"text": ""}], 0),
    ([{"text": "x" * 100_001}], 25_000),
    ([{"text": "é" * 100_000}], 150_000),
    ([{"text": "é" * 100_001}], 25_000),
    ([{"text": "😀" * 50_001}], 25_000),
    ([{"text": "abc"}, {"text": "a"}], 1),
    ([{"text": "abc", "functionCall": {"name": "long enough", "args": {}}}], 0),
    ([{"thought": True, "text": "abcd"}], 1),
    ([response(name="abc", response={"output": "héllo"})], 5),
    ([response(name="abc", response="text")], 1),
    ([response(id="unnamed")], 0),
    ([response(name="a", response={}, parts=[IMAGE, {"text": "abc"}])], 3000),
    ([response(response={"x": None}), {"text": "ab"}], 3),
    ([IMAGE, PDF], 28_800),
    ([{"inlineData": {"mimeType": "audio/mp3", "data": "xx"}}], 12),
    ([{"functionCall": {"name": "read_file", "args": {"n": 1.0, "u": "é"}}}], 15),
]


@pytest.mark.parametrize(("parts", "tokens"), CASES, ids=lambda value: str(value)[:50])
def test_estimates(parts: list[dict[str, Any]], tokens: int) -> None:
    assert estimate_tokens(parts) == tokens


def test_nested_parts_are_rounded_down_by_themselves() -> None:
    nested = response(name="abc", parts=[{"text": "abc"}])

    assert part_tokens(nested) == 0.75


def test_nesting_counts_three_levels_down_and_no_further() -> None:
    innermost: dict[str, Any] = {"text": "abcdefgh"}
    counted = response(parts=[response(parts=[response(parts=[innermost])])])

    assert estimate_tokens([counted]) == 2
    assert estimate_tokens([response(parts=[counted])]) == 0


@given(st.lists(st.fixed_dictionaries({"text": st.text(max_size=20)}), max_size=10))
def test_a_running_total_is_the_estimate_of_the_whole(parts: list[dict[str, Any]]) -> None:
    total = 0.0
    for part in reversed(parts):
        total += part_tokens(part)

    assert floor(total) == estimate_tokens(parts)


class Counter:
    """A generator that only counts."""

    def __init__(self, answer: dict[str, Any] | Exception) -> None:
        self.answer = answer
        self.requests: list[ModelRequest] = []

    async def count_tokens(self, request: ModelRequest) -> dict[str, Any]:
        self.requests.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def generate_content(self, request: ModelRequest) -> dict[str, Any]:
        raise AssertionError("only tokens are counted here")

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        raise AssertionError("only tokens are counted here")

    async def embed_content(self, request: EmbedRequest) -> dict[str, Any]:
        raise AssertionError("only tokens are counted here")


def count(counter: Counter, *parts: dict[str, Any]) -> int:
    signal = AbortController().signal
    return asyncio.run(request_token_count(parts, counter, "a-model", signal, "prompt"))


def test_media_is_counted_by_the_model() -> None:
    counter = Counter({"totalTokens": 17})

    assert count(counter, {"text": "see"}, IMAGE) == 17
    (request,) = counter.requests
    assert request.contents == [{"role": "user", "parts": [{"text": "see"}, IMAGE]}]
    assert (request.model, request.role, request.prompt_id, request.config) == (
        "a-model",
        LlmRole.MAIN,
        "prompt",
        {},
    )


@pytest.mark.parametrize("key", ["inlineData", "fileData"])
def test_any_inline_or_file_data_is_media(key: str) -> None:
    counter = Counter({"totalTokens": 5})

    assert count(counter, {key: {"mimeType": "text/plain", "data": "x"}}) == 5


def test_the_tokens_of_text_and_tools_are_estimated() -> None:
    counter = Counter({"totalTokens": 17})

    assert count(counter, {"text": "Hello world!"}, response(parts=[IMAGE])) == 3003
    assert counter.requests == []


def test_a_count_without_a_total_is_zero() -> None:
    assert count(Counter({}), IMAGE) == 0


@pytest.mark.parametrize("error", [ApiError(400, json.dumps({})), AbortError(), RuntimeError()])
def test_a_count_that_fails_is_an_estimate(error: Exception) -> None:
    assert count(Counter(error), IMAGE, {"text": "Hello world!"}) == 3003
