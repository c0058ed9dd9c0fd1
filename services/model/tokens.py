"""Estimates the number of tokens of parts without a model.

Every term is a multiple of a quarter, so that sums are exact in any order: the floor of a running
total of `part_tokens` equals `estimate_tokens` of the list. Source: core
`utils/tokenCalculation.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from math import floor
from typing import Final

from services.abort import AbortController, AbortSignal
from services.model.generator import ContentGenerator, LlmRole, ModelRequest
from services.wire import Json, JsonObject, Part, js_json, js_length

__all__ = ["estimate_tokens", "part_tokens", "request_token_count"]

logger = logging.getLogger(__name__)

_CHARS_PER_TOKEN: Final = 4
_NON_ASCII_TOKENS: Final = 1.5
_LONG_TEXT: Final = 100_000
_IMAGE_TOKENS: Final = 3000.0
_PDF_TOKENS: Final = 25_800.0
_MAX_DEPTH: Final = 3


def estimate_tokens(parts: Sequence[Part]) -> int:
    """The estimate for `parts`, rounded down once."""
    return floor(sum(map(part_tokens, parts)))


def part_tokens(part: Part) -> float:
    """The estimate for one part, not rounded; of a part with text only the text counts."""
    return _part_tokens(part, 0)


def _part_tokens(part: Part, depth: int) -> float:
    text = part.get("text")
    if isinstance(text, str):
        return _text_tokens(text)
    response = part.get("functionResponse")
    if response is not None:
        return _response_tokens(response, depth)
    media = _media_tokens(part)
    return media if media is not None else _length_tokens(js_json(part))


def _text_tokens(text: str) -> float:
    units = js_length(text)
    if units > _LONG_TEXT:
        return units / _CHARS_PER_TOKEN
    ascii_units = len(text.encode("ascii", "ignore"))
    return ascii_units / _CHARS_PER_TOKEN + (units - ascii_units) * _NON_ASCII_TOKENS


def _length_tokens(text: str) -> float:
    return js_length(text) / _CHARS_PER_TOKEN


def _response_tokens(response: JsonObject, depth: int) -> float:
    tokens = _length_tokens(response.get("name") or "")
    payload: Json = response.get("response")
    if isinstance(payload, str):
        tokens += _length_tokens(payload)
    elif payload is not None:
        tokens += _length_tokens(js_json(payload))
    nested = response.get("parts")
    if nested and depth < _MAX_DEPTH:
        tokens += floor(sum(_part_tokens(part, depth + 1) for part in nested))
    return tokens


def _media_tokens(part: Part) -> float | None:
    kinds = ((part.get(key) or {}).get("mimeType") for key in ("inlineData", "fileData"))
    mime_type = next(filter(None, kinds), "")
    if mime_type.startswith("image/"):
        return _IMAGE_TOKENS
    return _PDF_TOKENS if mime_type.startswith("application/pdf") else None


async def request_token_count(
    parts: Sequence[Part],
    generator: ContentGenerator,
    model: str,
    signal: AbortSignal,
    prompt_id: str,
) -> int:
    """Return the number of tokens of a request: an estimate, or for media the model's count.

    If the model cannot count, media is estimated as well.
    """
    if not any("inlineData" in part or "fileData" in part for part in parts):
        return estimate_tokens(parts)
    request = ModelRequest(
        model=model,
        contents=[{"role": "user", "parts": list(parts)}],
        role=LlmRole.MAIN,
        prompt_id=prompt_id,
        # The core counts without a signal, also after an abort. A running count can be aborted.
        signal=AbortController().signal if signal.aborted else signal,
    )
    try:
        response = await generator.count_tokens(request)
    except Exception as error:  # noqa: BLE001 - the request itself reports the failure
        logger.debug("counting tokens failed: %s", error)
        return estimate_tokens(parts)
    total = response.get("totalTokens")
    return total if isinstance(total, int) else 0
