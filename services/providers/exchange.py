"""Requests and answers as the converters exchange them, in the Gemini API's JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.model.generator import ModelRequest
from services.model.parts import first_parts
from services.wire import Content, Json, JsonObject, Part

__all__ = ["Asked", "answer_chunk", "joined", "parts_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request asks a model for: a `ModelRequest` without its sender."""

    model: str
    contents: Sequence[Content]
    config: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, request: ModelRequest) -> Asked:
        """Return what `request` asks for."""
        return cls(model=request.model, contents=request.contents, config=request.config)


def answer_chunk(
    parts: Sequence[Part] = (),
    *,
    finish: str | None = None,
    usage: JsonObject | None = None,
    model: str | None = None,
    response_id: str | None = None,
) -> JsonObject:
    """Return a chunk of an answer; a chunk without `parts` and `finish` has no candidate."""
    chunk: JsonObject = {}
    if parts or finish is not None:
        candidate: JsonObject = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
        if finish is not None:
            candidate["finishReason"] = finish
        chunk["candidates"] = [candidate]
    found = (("usageMetadata", usage), ("modelVersion", model), ("responseId", response_id))
    chunk.update({name: value for name, value in found if value})
    return chunk


def parts_of(chunk: Mapping[str, Json]) -> Sequence[Part]:
    """Return the parts of the first candidate."""
    return first_parts(chunk)


def joined(chunks: Iterable[JsonObject]) -> JsonObject:
    """Join the chunks of a stream to one answer.

    Adjacent texts of one kind become one part. The last of each other field counts.
    """
    whole: JsonObject = {}
    candidate: JsonObject = {}
    parts: list[Part] = []
    for chunk in chunks:
        whole |= {name: value for name, value in chunk.items() if name != "candidates"}
        for found in (chunk.get("candidates") or ())[:1]:
            candidate |= {name: value for name, value in found.items() if name != "content"}
        for part in parts_of(chunk):
            _append(parts, part)
    if candidate or parts:
        candidate = {"content": {"role": "model", "parts": parts}, **candidate}
        return {"candidates": [candidate], **whole}
    return whole


def _append(parts: list[Part], part: Part) -> None:
    last = parts[-1] if parts else {}
    if _is_text(last) and _is_text(part) and bool(last.get("thought")) == bool(part.get("thought")):
        parts[-1] = {**last, **part, "text": last["text"] + part["text"]}
        signature = last.get("thoughtSignature") or part.get("thoughtSignature")
        if signature:
            parts[-1]["thoughtSignature"] = signature
    else:
        parts.append(dict(part))


def _is_text(part: Part) -> bool:
    return isinstance(part.get("text"), str) and not (
        part.keys() - {"text", "thought", "thoughtSignature"}
    )
