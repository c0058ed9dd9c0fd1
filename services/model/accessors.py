"""What a response holds, by the SDK's accessors.

They differ from the core's own readings of the same parts (`services.model.parts`).

Source: google-genai `GenerateContentResponse` accessors.
"""

from __future__ import annotations

from collections.abc import Mapping

from services.model import parts
from services.wire import Json, JsonObject

__all__ = ["function_calls"]


def function_calls(response: Mapping[str, Json]) -> list[JsonObject] | None:
    """The SDK's `functionCalls`: the calls in order; None when there is none."""
    return parts.function_calls(response) or None
