"""A model's answers: texts, thoughts and calls in chunks, with a finish reason."""

from __future__ import annotations

from typing import Final

from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.chunks import account, chunk, disturbed
from harness.scenarios.grammar.texts import answer_text, cut, thought_text
from harness.scenarios.grammar.tool_calls import function_call
from services.wire import JsonObject

__all__ = ["answer", "wants_tools"]

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
    "PROHIBITED_CONTENT": 1,
    "SPII": 1,
    "TOO_MANY_TOOL_CALLS": 1,
    "IMAGE_SAFETY": 1,
    "NO_IMAGE": 1,
    "FINISH_REASON_UNSPECIFIED": 1,
    "MADE_UP_LATER": 1,
}


def answer(choose: Chooser, model: str, *, tools: bool) -> JsonObject:
    """A step that answers with calls of tools if `tools` is true, else with text.

    `model` is the session's: newer models sign their calls, and stream arguments.
    """
    newer = "gemini-3" in model
    chunks: list[JsonObject] = []
    for _ in choose.times("thought", 2, 200):
        chunks += _thought(choose)
    if not tools or choose.chance("text_before_calls", 250):
        chunks += _said(choose)
    if tools:
        signed = choose.chance("signature_newer", 800) if newer else choose.chance("signature", 200)
        chunks += _calls(choose, signed=signed, newer=newer)
        if choose.chance("text_after_calls", 60):
            chunks += _said(choose)
    finish = choose.option("finish", _FINISHES)
    if finish != "none":
        _end(choose, chunks, finish)
    chunks = disturbed(choose, chunks)
    account(choose, chunks)
    step: JsonObject = {"stream": chunks}
    if choose.chance("slow_model", 50):
        step["delay_ms"] = choose.among((1, 250, 5000))
    if choose.chance("slow_chunk", 30):
        step["stream"] = _paused(choose, chunks)
    return step


def wants_tools(step: JsonObject) -> bool:
    """Whether the answer calls a function, so that the loop continues."""
    return any(
        "functionCall" in part
        for piece in step.get("stream", ())
        for candidate in piece.get("candidates") or ()
        for part in (candidate.get("content") or {}).get("parts") or ()
    )


def _thought(choose: Chooser) -> list[JsonObject]:
    parts: list[JsonObject] = [
        {"text": piece, "thought": True} for piece in cut(choose, thought_text(choose))
    ]
    if choose.chance("thought_signature", 150):
        parts[-1]["thoughtSignature"] = "c2ln"
    return [chunk([part]) for part in parts]


def _said(choose: Chooser) -> list[JsonObject]:
    parts: list[JsonObject] = [{"text": piece} for piece in cut(choose, answer_text(choose))]
    if choose.chance("text_signature", 30):
        parts[-1]["thoughtSignature"] = "c2lnIHRleHQ="
    if choose.chance("together", 100):
        return [chunk(parts)]
    return [chunk([part]) for part in parts]


def _calls(choose: Chooser, *, signed: bool, newer: bool) -> list[JsonObject]:
    parts: list[JsonObject] = [{"functionCall": function_call(choose)}]
    if signed:
        parts[0]["thoughtSignature"] = "c2lnbmVk"
    parts += [
        {"functionCall": function_call(choose)} for _ in choose.times("parallel_call", 3, 250)
    ]
    if newer and choose.chance("partial_args", 40):
        return _streamed(parts)
    if choose.chance("calls_apart", 300):
        return [chunk([part]) for part in parts]
    return [chunk(parts)]


def _streamed(parts: list[JsonObject]) -> list[JsonObject]:
    """Calls with streamed arguments.

    Source: the API's reference, `FunctionCall.partialArgs` and `willContinue`.
    """
    chunks: list[JsonObject] = []
    for part in parts:
        args = part["functionCall"].get("args") or {}
        begun = {"name": part["functionCall"]["name"], "willContinue": True}
        chunks.append(chunk([{**part, "functionCall": begun}]))
        for name, value in args.items():
            bit = {"jsonPath": f"$.{name}", "stringValue": str(value)}
            chunks.append(chunk([{"functionCall": {"partialArgs": [bit], "willContinue": True}}]))
        chunks.append(chunk([{"functionCall": {}}]))
    return chunks


def _paused(choose: Chooser, chunks: list[JsonObject]) -> list[JsonObject]:
    place = choose.whole(0, len(chunks))
    return [*chunks[:place], {"$sleep": choose.among((1, 700, 20_000))}, *chunks[place:]]


def _end(choose: Chooser, chunks: list[JsonObject], finish: str) -> None:
    if choose.chance("finish_apart", 100):
        chunks.append(chunk([], finish) if choose.chance("finish_bare", 500) else _bare(finish))
    else:
        _finished(chunks, finish)
    if choose.chance("finish_message", 30):
        chunks[-1]["candidates"][0]["finishMessage"] = "why it ended"
    if choose.chance("more_after_finish", 20):
        chunks.append(chunk([{"text": " and more"}]))


def _finished(chunks: list[JsonObject], finish: str) -> None:
    chunks[-1]["candidates"][0]["finishReason"] = finish


def _bare(finish: str) -> JsonObject:
    return {"candidates": [{"finishReason": finish, "index": 0}]}
