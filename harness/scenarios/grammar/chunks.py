"""Chunks of a stream, with metadata and odd forms."""

from __future__ import annotations

from typing import Final

from harness.scenarios.chooser import Chooser
from services.wire import Json, JsonObject

__all__ = ["NULLS", "account", "chunk", "disturbed"]

_PROMPT_TOKENS: Final = (
    10,
    200,
    30_000,
    52_428,
    52_429,
    524_287,
    524_288,
    838_860,
    838_861,
    900_000,
    1_048_000,
)
"""Sizes of a prompt: small ones, and both sides of the thresholds of compression.

Those are a twentieth, a half and four fifths of a window of 1,048,576 tokens.
"""
_UNCOMPRESSED: Final = 6
"""How many of these cause no compression with the usual settings."""

NULLS: Final[tuple[JsonObject, ...]] = (
    {"candidates": None},
    {"candidates": [{"content": None, "index": 0}]},
    {"candidates": [{"content": {"role": "model", "parts": None}, "index": 0}]},
    {"candidates": [{"content": None, "finishReason": "STOP", "index": 0}]},
    {"usageMetadata": None, "candidates": [{"finishReason": None, "index": 0}]},
)
"""Chunks with null for a value. Only a profile draws them: some break the published core."""


def chunk(parts: list[JsonObject], finish: str | None = None) -> JsonObject:
    """One chunk of a stream."""
    candidate: JsonObject = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate]}


def disturbed(choose: Chooser, chunks: list[JsonObject]) -> list[JsonObject]:
    """`chunks`, sometimes with an empty or malformed chunk among them."""
    if not choose.chance("odd_chunk", 80):
        return chunks
    odd: tuple[JsonObject, ...] = (
        chunk([{"text": ""}]),
        chunk([]),
        {"candidates": []},
        {"candidates": [{"index": 0}]},
        {"usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 7}},
        {"candidates": [{"content": {"role": "model"}, "index": 0}]},
        chunk([{"text": "x", "thought": False}]),
        chunk([{}]),
        {"promptFeedback": {"blockReason": "OTHER"}},
        chunk([{"executableCode": {"language": "PYTHON", "code": "1"}}]),
        {},
        {"candidates": [{"content": {"parts": [{"text": "no role"}]}, "index": 0}]},
        {"newField": {"a": [1]}, "responseId": "r-1", **chunk([{"text": "y", "newPart": 1}])},
        chunk([{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]),
        {
            "candidates": [
                *chunk([{"text": "1"}])["candidates"],
                *chunk([{"text": "2"}])["candidates"],
            ]
        },
        chunk([{"text": "", "thoughtSignature": "c2ln"}]),
        chunk([{"functionResponse": {"name": "read_file", "response": {"output": "made up"}}}]),
    )
    place = choose.whole(0, len(chunks))
    found = choose.among(NULLS) if choose.chance("nulls", 0) else choose.among(odd)
    return [*chunks[:place], found, *chunks[place:]]


def account(choose: Chooser, chunks: list[JsonObject]) -> None:
    """Sometimes add usage, model version, ids and sources, mostly to the last chunk."""
    if choose.chance("usage", 400):
        _usage(choose, chunks)
    if choose.chance("model_version", 100):
        chunks[-1]["modelVersion"] = "gemini-2.5-flash-001"
    if choose.chance("response_id", 60):
        for each in chunks:
            each["responseId"] = "response-1"
    candidates: Json = chunks[-1].get("candidates")
    if candidates and choose.chance("citation", 50):
        candidates[0]["citationMetadata"] = {"citations": _citations(choose)}
    if candidates and choose.chance("grounding", 30):
        web = {"web": {"uri": "https://example.org/a", "title": "A"}}
        support = {"segment": {"endIndex": 2}, "groundingChunkIndices": [0]}
        candidates[0]["groundingMetadata"] = {
            "groundingChunks": [web],
            "groundingSupports": [support],
            "webSearchQueries": ["a"],
        }


def _citations(choose: Chooser) -> list[Json]:
    known: JsonObject = {"uri": "https://example.org/a", "title": "A", "startIndex": 0}
    others: tuple[JsonObject, ...] = (
        {"uri": "https://example.org/0"},
        known,
        {"title": "no address"},
        {"uri": "https://example.org/b", "title": "", "license": "MIT"},
    )
    return [known, *(choose.among(others) for _ in choose.times("another_citation", 2, 300))]


def _usage(choose: Chooser, chunks: list[JsonObject]) -> None:
    large = choose.draws("compression")
    prompt = choose.among(_PROMPT_TOKENS if large else _PROMPT_TOKENS[:_UNCOMPRESSED])
    usage: JsonObject = {
        "promptTokenCount": prompt,
        "candidatesTokenCount": 5,
        "totalTokenCount": prompt + 5,
    }
    shape = choose.option(
        "usage_shape",
        {
            "whole": 60,
            "detailed": 8,
            "each_chunk": 8,
            "no_answer": 4,
            "total": 3,
            "empty": 2,
            "null": 1,
        },
    )
    if shape == "detailed":
        usage |= {
            "thoughtsTokenCount": 3,
            "cachedContentTokenCount": prompt // 2,
            "toolUsePromptTokenCount": 1,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
            "trafficType": "ON_DEMAND",
        }
    elif shape == "no_answer":
        usage = {"promptTokenCount": prompt}
    elif shape == "total":
        usage = {"totalTokenCount": prompt}
    elif shape == "empty":
        usage = {}
    elif shape == "each_chunk":
        for place, each in enumerate(chunks[:-1]):
            each["usageMetadata"] = {**usage, "candidatesTokenCount": place}
    chunks[-1]["usageMetadata"] = None if shape == "null" else usage
