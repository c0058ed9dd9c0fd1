"""Moves binary data from a tool's response to a turn of its own.

Source: core `core/geminiChat.ts` (`extractBinaryInjections`) and
`utils/generateContentResponseUtilities.ts`, which puts it there.
"""

from __future__ import annotations

from typing import Final

from services.history.transforms import SYNTHETIC_THOUGHT_SIGNATURE
from services.wire import JsonObject, Part

__all__ = ["BINARY_INJECTION_KEY", "binary_received", "split_binary_injections"]

BINARY_INJECTION_KEY: Final = "__binary_injection__"
"""Where a function response keeps parts that must follow it in a turn of their own."""


def split_binary_injections(parts: list[Part]) -> tuple[list[Part], list[Part]]:
    """The parts without binary data, and the binary data. Other parts stay the same objects."""
    cleaned: list[Part] = []
    injected: list[Part] = []
    for part in parts:
        response = _response(part)
        if BINARY_INJECTION_KEY not in response:
            cleaned.append(part)
            continue
        carried = response[BINARY_INJECTION_KEY]
        injected.extend(carried if isinstance(carried, list) else [])
        kept = {key: value for key, value in response.items() if key != BINARY_INJECTION_KEY}
        cleaned.append({**part, "functionResponse": {**part["functionResponse"], "response": kept}})
    return cleaned, injected


def binary_received() -> Part:
    """The thought between a response and the data it carried, so that roles alternate."""
    return {
        "text": "Binary content received. Proceeding with analysis.",
        "thought": True,
        "thoughtSignature": SYNTHETIC_THOUGHT_SIGNATURE,
    }


def _response(part: Part) -> JsonObject:
    answer = part.get("functionResponse")
    response = answer.get("response") if isinstance(answer, dict) else None
    return response if isinstance(response, dict) else {}
