"""What a response says, without walking its candidates by hand.

Two readings exist upstream and differ: the SDK's accessors (`sdk_text`, `function_calls`) and the
core's helper (`response_text`). Both look at the first candidate only.

Source: google-genai `GenerateContentResponse` accessors; core `utils/partUtils.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.wire import Json, JsonObject, Part

__all__ = ["first_parts", "function_calls", "response_text", "sdk_text"]


def first_parts(response: Mapping[str, Json]) -> Sequence[Part]:
    """The parts of the first candidate; empty when there are none."""
    candidates = response.get("candidates") or ()
    if not candidates:
        return ()
    content = candidates[0].get("content") or {}
    parts: Sequence[Part] = content.get("parts") or ()
    return parts


def sdk_text(response: Mapping[str, Json]) -> str | None:
    """The SDK's `text`: texts that are no thoughts, joined; None when no part has a text.

    A part whose text is empty still counts as one, so the answer can be `""`.
    """
    texts = [
        part["text"]
        for part in first_parts(response)
        if isinstance(part.get("text"), str) and part.get("thought") is not True
    ]
    return "".join(texts) if texts else None


def function_calls(response: Mapping[str, Json]) -> list[JsonObject] | None:
    """The SDK's `functionCalls`: the calls in order; None when there is none."""
    calls = [part["functionCall"] for part in first_parts(response) if part.get("functionCall")]
    return calls or None


def response_text(response: Mapping[str, Json]) -> str | None:
    """The core's `getResponseText`: texts that are no thoughts, joined; None without parts."""
    parts = first_parts(response)
    if not parts:
        return None
    return "".join(part["text"] for part in parts if part.get("text") and not part.get("thought"))
