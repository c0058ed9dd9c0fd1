"""What answers lose in the formats of several providers; see `losing`.

The rules take and return the chunks of an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from services.providers.exchange import answer_chunk, parts_of
from services.providers.losing import reduced
from services.providers.shape import items, mapping, number
from services.wire import Json, JsonObject, Part

__all__ = [
    "BLOCKED",
    "MALFORMED",
    "ChunkRule",
    "Chunks",
    "blocked_reason",
    "each_answer_part",
    "finish_of",
    "loses_answer_fields",
    "loses_answer_parts",
    "loses_blocked_prompts",
    "loses_empty_answer_parts",
    "loses_empty_chunks",
    "loses_finish_reasons",
    "loses_usage_details",
    "losing_one",
    "usage_of",
]

Chunks = Sequence[JsonObject]
ChunkRule = Callable[[Chunks], Chunks]
"""What an answer loses; see the module."""
BLOCKED: Final = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "LANGUAGE",
        "MODEL_ARMOR",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    }
)
"""Finish reasons of the Gemini API for contents that it does not return."""
MALFORMED: Final = "MALFORMED_FUNCTION_CALL"
_FINISHES: Final = frozenset({"STOP", "MAX_TOKENS", "SAFETY", "OTHER", MALFORMED})
_COUNTS: Final = (
    "promptTokenCount",
    "candidatesTokenCount",
    "totalTokenCount",
    "cachedContentTokenCount",
    "thoughtsTokenCount",
)
_OMITTED_ZEROS: Final = ("cachedContentTokenCount", "thoughtsTokenCount")


def losing_one(chunk: JsonObject, rules: Sequence[ChunkRule]) -> Chunks:
    """Apply rules that look at one chunk at a time."""
    chunks: Chunks = [chunk]
    return reduced(chunks, rules)


def finish_of(chunk: Mapping[str, Json]) -> str | None:
    """Return the finish reason of the first candidate."""
    candidate = next(items(chunk.get("candidates")), {})
    reason = candidate.get("finishReason")
    return reason if isinstance(reason, str) and reason else None


def usage_of(chunk: Mapping[str, Json]) -> JsonObject | None:
    """Return the number of tokens, in the fields that other providers have; `None` without any.

    `totalTokenCount` is the sum where it is missing, and counts of zero are left out as in the
    Gemini API.
    """
    given = mapping(chunk.get("usageMetadata"))
    found = {name: given[name] for name in _COUNTS if number(given.get(name)) is not None}
    if not found:
        return None
    if "thoughtsTokenCount" in found:
        found.setdefault("candidatesTokenCount", 0)
    if "totalTokenCount" not in found:
        names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
        found["totalTokenCount"] = sum(found.get(name, 0) for name in names)
    return {
        name: found[name]
        for name in _COUNTS
        if name in found and not (name in _OMITTED_ZEROS and not found[name])
    }


def each_answer_part(chunks: Chunks, change: Callable[[Part], Sequence[Part]]) -> Chunks:
    """Return `chunks` with `change` applied to each part."""

    def changed(chunk: JsonObject) -> JsonObject:
        candidates = chunk.get("candidates")
        if not candidates:
            return chunk
        parts = [new for part in parts_of(chunk) for new in change(part)]
        content = {"role": "model", "parts": parts}
        return {**chunk, "candidates": [{**candidates[0], "content": content}, *candidates[1:]]}

    return [changed(chunk) for chunk in chunks]


def loses_finish_reasons(chunks: Chunks) -> Chunks:
    """The reasons to finish are the end, the limit of tokens, a filter of contents (SAFETY), and a
    call that cannot be read. Others become OTHER.
    """
    found = []
    for chunk in chunks:
        reason = finish_of(chunk)
        if reason is None or reason in _FINISHES:
            found.append(chunk)
            continue
        new = "SAFETY" if reason in BLOCKED else "OTHER"
        first = chunk["candidates"][0]
        found.append({**chunk, "candidates": [{**first, "finishReason": new}]})
    return found


def loses_blocked_prompts(chunks: Chunks) -> Chunks:
    """A blocked prompt (`promptFeedback`) is an answer that was blocked, with the reason SAFETY."""
    return [
        {**chunk, "candidates": [{"finishReason": "SAFETY", "index": 0}]}
        if blocked_reason(chunk) is not None and not chunk.get("candidates")
        else chunk
        for chunk in chunks
    ]


def blocked_reason(chunk: Mapping[str, Json]) -> str | None:
    """Return why the prompt of an answer was blocked, if it was."""
    reason = mapping(chunk.get("promptFeedback")).get("blockReason")
    return reason if isinstance(reason, str) and reason else None


def loses_answer_fields(chunks: Chunks) -> Chunks:
    """An answer has one candidate with parts and a finish reason, the number of tokens, the model's
    version and an id. Citations, grounding, safety ratings, probabilities and further candidates
    are lost.
    """
    found = []
    for chunk in chunks:
        kept = answer_chunk(
            parts_of(chunk),
            finish=finish_of(chunk),
            model=chunk.get("modelVersion"),
            response_id=chunk.get("responseId"),
        )
        if chunk.get("usageMetadata"):
            kept["usageMetadata"] = chunk["usageMetadata"]
        found.append(kept)
    return found


def loses_answer_parts(chunks: Chunks) -> Chunks:
    """An answer consists of texts, thoughts and calls; media, code and its results are lost. A part
    has one of them; the arguments of a call are a JSON object.
    """
    return each_answer_part(chunks, _canonical)


def _canonical(part: Part) -> list[Part]:
    call = part.get("functionCall")
    if isinstance(call, dict):
        kept = {name: call[name] for name in ("id", "name") if call.get(name)}
        args = mapping(call.get("args"))
        found: Part = {"functionCall": {"name": "", **kept, "args": args}}
    elif isinstance(part.get("text"), str):
        found = {"text": part["text"]}
        if part.get("thought"):
            found["thought"] = True
    else:
        return []
    if part.get("thoughtSignature"):
        found["thoughtSignature"] = part["thoughtSignature"]
    return [found]


def loses_empty_answer_parts(chunks: Chunks) -> Chunks:
    """Texts and thoughts without a character are left out."""
    return each_answer_part(chunks, lambda part: [] if part.get("text") == "" else [part])


def loses_usage_details(chunks: Chunks) -> Chunks:
    """The number of tokens is known for the prompt, its cached part, the answer and its thoughts.
    Tokens of tools and of kinds of media are lost, and so are counts of zero.
    """
    found = []
    for chunk in chunks:
        rest = {name: value for name, value in chunk.items() if name != "usageMetadata"}
        usage = usage_of(chunk)
        found.append(rest if usage is None else {**rest, "usageMetadata": usage})
    return found


def loses_empty_chunks(chunks: Chunks) -> Chunks:
    """A chunk without parts, finish reason and number of tokens is left out, with its id."""
    return [
        chunk
        for chunk in chunks
        if parts_of(chunk) or finish_of(chunk) or chunk.get("usageMetadata")
    ]
