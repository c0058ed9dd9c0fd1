"""What ADK gets of a model's stream: partial responses, and one that ends it."""

from __future__ import annotations

from collections.abc import Sequence

from google.adk.models.llm_response import LlmResponse
from google.genai import types

from runtimes.adk.notes import Answer, Delta, Note
from services.model.sdk_contents import AskedCall, WireContent, WirePart
from services.model.sdk_json import typed
from services.model.stream import AssembledTurn
from services.wire import JsonObject

__all__ = ["announcing", "called_off", "consolidated", "partial", "stand_in"]


def partial(delta: Delta, chunk: JsonObject) -> LlmResponse:
    """The response of one delta of `chunk`. Without a content ADK would drop it."""
    if delta.part is not None:
        content = WireContent.of({"role": "model", "parts": [delta.part]}, delta)
        return LlmResponse(content=content, partial=True)
    sources = (chunk.get("candidates") or [{}])[0].get("citationMetadata")
    return LlmResponse(
        content=WireContent.bare(delta),
        partial=True,
        finish_reason=_finish_reason(delta.finish_reason),
        usage_metadata=_usage(delta.usage),
        citation_metadata=typed(types.CitationMetadata, sources) if sources else None,
    )


def consolidated(
    turn: AssembledTurn,
    model: str,
    requests: Sequence[AskedCall],
    *,
    hides_calls: bool = False,
) -> LlmResponse:
    """The whole answer. ADK's view of it has calls just where clients have got some.

    Those are run, be they from a failed attempt or a hook, and none that hooks hid from clients
    (`hides_calls`: all of them); ADK looks for calls in the last response only.
    """
    content = WireContent.of({"role": "model", "parts": turn.parts}, Answer(turn, model))
    calls = [part.get("functionCall") for part in turn.parts]
    if requests and not any(calls):
        content.parts = [*(content.parts or ()), *map(WirePart.aside, requests)]
    elif hides_calls and any(calls):
        content.parts = [
            WirePart.blank(part) if part.get("functionCall") else WirePart.of(part, "model")
            for part in turn.parts
        ]
    return LlmResponse(
        content=content,
        finish_reason=_finish_reason(turn.finish_reason),
        usage_metadata=_usage(turn.usage),
        model_version=model,
    )


def called_off(reason: str) -> LlmResponse:
    """What ADK's flow takes for the end: without a last response that is whole it would warn."""
    return LlmResponse(content=WireContent.of({"role": "model", "parts": []}), error_code=reason)


def announcing(note: Note) -> LlmResponse:
    """Announces something to clients in the middle of an answer; ADK sees no parts."""
    return LlmResponse(content=WireContent.bare(note), partial=True)


def stand_in(reason: str, requests: Sequence[AskedCall]) -> LlmResponse:
    """The end of an answer that is not in history, with the calls that clients got."""
    if not requests:
        return called_off(reason)
    content = WireContent.of({"role": "model", "parts": []})
    content.parts = [WirePart.aside(request) for request in requests]
    return LlmResponse(content=content)


def _finish_reason(reason: str | None) -> types.FinishReason | None:
    return types.FinishReason.__members__.get(reason or "")


def _usage(usage: JsonObject | None) -> types.GenerateContentResponseUsageMetadata | None:
    return None if usage is None else typed(types.GenerateContentResponseUsageMetadata, usage)
