"""A model's answers: text, thoughts, calls, cut into chunks, ended in one way or another."""

from __future__ import annotations

from typing import Final

from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.texts import answer_text, cut, thought_text
from harness.scenarios.grammar.tool_calls import function_call
from services.wire import Json, JsonObject

__all__ = ["answer", "chunk", "wants_tools"]

_FINISHES: Final = {
    "STOP": 60,
    "none": 3,
    "MAX_TOKENS": 4,
    "SAFETY": 2,
    "RECITATION": 1,
    "MALFORMED_FUNCTION_CALL": 3,
    "UNEXPECTED_TOOL_CALL": 2,
    "OTHER": 1,
    "LANGUAGE": 1,
    "BLOCKLIST": 1,
    "FINISH_REASON_UNSPECIFIED": 1,
}


def chunk(parts: list[JsonObject], finish: str | None = None) -> JsonObject:
    """One chunk of a stream."""
    candidate: JsonObject = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate]}


def answer(choose: Chooser, *, tools: bool) -> JsonObject:
    """A step that answers: with calls of tools where `tools` is true, else with text."""
    chunks: list[JsonObject] = []
    signed = choose.chance("signature", 200)
    for _ in choose.times("thought", 2, 200):
        part: JsonObject = {"text": thought_text(choose), "thought": True}
        if choose.chance("thought_signature", 150):
            part["thoughtSignature"] = "c2ln"
        chunks.append(chunk([part]))
    if not tools or choose.chance("text_before_calls", 250):
        chunks += [chunk([{"text": piece}]) for piece in cut(choose, answer_text(choose))]
    if tools:
        chunks += _calls(choose, signed=signed)
    chunks = _disturbed(choose, chunks)
    finish = choose.option("finish", _FINISHES)
    if finish != "none" and chunks:
        if choose.chance("finish_apart", 100):
            chunks.append(chunk([], finish) if choose.chance("finish_bare", 500) else _bare(finish))
        else:
            _finished(chunks, finish)
    _account(choose, chunks)
    step: JsonObject = {"stream": chunks}
    if choose.chance("slow_model", 50):
        step["delay_ms"] = choose.among((1, 250, 5000))
    return step


def wants_tools(step: JsonObject) -> bool:
    """True where the answer calls a function: the loop asks the model again."""
    return any(
        "functionCall" in part
        for piece in step.get("stream", ())
        for candidate in piece.get("candidates", ())
        for part in (candidate.get("content") or {}).get("parts") or ()
    )


def _calls(choose: Chooser, *, signed: bool) -> list[JsonObject]:
    parts: list[JsonObject] = [{"functionCall": function_call(choose)}]
    if signed:
        parts[0]["thoughtSignature"] = "c2lnbmVk"
    parts += [
        {"functionCall": function_call(choose)} for _ in choose.times("parallel_call", 3, 250)
    ]
    if choose.chance("calls_apart", 300):
        return [chunk([part]) for part in parts]
    return [chunk(parts)]


def _finished(chunks: list[JsonObject], finish: str) -> None:
    candidates: Json = chunks[-1].get("candidates")
    if candidates:
        candidates[0]["finishReason"] = finish
    else:
        chunks.append(_bare(finish))


def _bare(finish: str) -> JsonObject:
    return {"candidates": [{"finishReason": finish, "index": 0}]}


def _disturbed(choose: Chooser, chunks: list[JsonObject]) -> list[JsonObject]:
    """Seldom: a chunk that says nothing, in one of the ways in which the service does that."""
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
    )
    place = choose.whole(0, len(chunks))
    return [*chunks[:place], choose.among(odd), *chunks[place:]]


def _account(choose: Chooser, chunks: list[JsonObject]) -> None:
    """What it cost, whence it is, by which model: on the last chunk, now and then."""
    if not chunks:
        return
    if choose.chance("usage", 400):
        prompt = choose.among((10, 200, 30_000, 900_000))
        chunks[-1]["usageMetadata"] = {
            "promptTokenCount": prompt,
            "candidatesTokenCount": 5,
            "totalTokenCount": prompt + 5,
        }
    if choose.chance("model_version", 100):
        chunks[-1]["modelVersion"] = "gemini-2.5-flash-001"
    candidates: Json = chunks[-1].get("candidates")
    if candidates and choose.chance("citation", 50):
        candidates[0]["citationMetadata"] = {
            "citations": [{"uri": "https://example.org/a", "title": "A", "startIndex": 0}]
        }
