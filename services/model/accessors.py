"""What a response says, as the SDK's accessors tell it.

They differ from the core's own readings of the same parts (`services.model.parts`).

Source: google-genai `GenerateContentResponse` accessors.
"""

from __future__ import annotations

from collections.abc import Mapping

from services.model import parts
from services.wire import Json, JsonObject

__all__ = ["function_calls", "sdk_text"]


def sdk_text(response: Mapping[str, Json]) -> str | None:
    """The SDK's `text`: texts that are no thoughts, joined; None when no part has a text.

    A part whose text is empty still counts as one, so the answer can be `""`.
    """
    texts = [
        part["text"]
        for part in parts.first_parts(response)
        if isinstance(part.get("text"), str) and part.get("thought") is not True
    ]
    return "".join(texts) if texts else None


def function_calls(response: Mapping[str, Json]) -> list[JsonObject] | None:
    """The SDK's `functionCalls`: the calls in order; None when there is none."""
    return parts.function_calls(response) or None
