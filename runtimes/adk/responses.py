"""Between the API's JSON and ADK's responses: partial ones, and one that ends a stream."""

from __future__ import annotations

from collections.abc import Sequence

from google.adk.models.llm_response import LlmResponse
from google.genai import types

from runtimes.adk.notes import Answer, Note
from services.chat import Delta
from services.model.sdk_contents import WireContent, WirePart
from services.model.sdk_json import dumped, typed
from services.model.stream import AskedCall, AssembledTurn
from services.wire import Content, JsonObject

__all__ = ["announcing", "called_off", "chunk_of", "consolidated", "partial", "response_of"]

_Usage = types.GenerateContentResponseUsageMetadata


def partial(delta: Delta, chunk: JsonObject) -> LlmResponse:
    """The response of one delta of `chunk`. Without a content ADK would drop it."""
    if delta.part is None:
        content = WireContent.bare(delta)
    else:
        content = WireContent.of({"role": "model", "parts": [delta.part]}, delta)
    if delta.finish_reason is None:
        return LlmResponse(content=content, partial=True)
    sources = (chunk.get("candidates") or [{}])[0].get("citationMetadata")
    return LlmResponse(
        content=content,
        partial=True,
        finish_reason=_finish_reason(delta.finish_reason),
        usage_metadata=_usage(delta.usage),
        citation_metadata=typed(types.CitationMetadata, sources) if sources else None,
    )


def consolidated(
    turn: AssembledTurn, model: str, requests: Sequence[AskedCall], *, hides_calls: bool
) -> LlmResponse:
    """The whole answer. ADK's view of it has calls just where clients have got some.

    Those are run, be they from a failed attempt or a hook, and none that hooks hid from clients
    (`hides_calls`: all of them); ADK looks for calls in the last response only.
    """
    content = WireContent.of({"role": "model", "parts": turn.parts}, Answer(turn, model))
    calls = [part.get("functionCall") for part in turn.parts]
    parts: list[types.Part] = [
        WirePart.blank(part) if call and hides_calls else WirePart.of(part, content.role)
        for part, call in zip(turn.parts, calls, strict=True)
    ]
    content.parts = parts if any(calls) else [*parts, *map(WirePart.aside, requests)]
    return LlmResponse(
        content=content,
        finish_reason=_finish_reason(turn.finish_reason),
        usage_metadata=_usage(turn.usage),
        model_version=model,
    )


def announcing(note: Note) -> LlmResponse:
    """Announces something to clients in the middle of an answer; ADK sees no parts."""
    return LlmResponse(content=WireContent.bare(note), partial=True)


def called_off(reason: str, requests: Sequence[AskedCall] = ()) -> LlmResponse:
    """The end of an answer that is not in history, with the calls that clients got.

    Without a last response that is whole, ADK's flow would warn.
    """
    content = WireContent.bare(None)
    content.parts = [WirePart.aside(request) for request in requests]
    return LlmResponse(content=content, error_code=None if requests else reason)


def response_of(chunk: JsonObject) -> LlmResponse:
    """The response that a whole chunk makes."""
    candidate = (chunk.get("candidates") or [{}])[0]
    content = {"role": "model", **(candidate.get("content") or {})}
    reason = _finish_reason(candidate.get("finishReason"))
    return LlmResponse(content=WireContent.of(content), finish_reason=reason)


def chunk_of(response: LlmResponse, content: Content) -> JsonObject:
    """The chunk that a response makes, with this content as the API's JSON."""
    reason, usage = response.finish_reason, response.usage_metadata
    candidate = {"content": content, **({"finishReason": reason.value} if reason else {})}
    return {
        "candidates": [candidate],
        **({"usageMetadata": dumped(usage)} if usage is not None else {}),
    }


def _usage(usage: JsonObject | None) -> _Usage | None:
    return None if usage is None else typed(_Usage, usage)


def _finish_reason(reason: str | None) -> types.FinishReason | None:
    return types.FinishReason.__members__.get(reason or "")
