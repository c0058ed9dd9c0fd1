"""Reads recorded answers: event streams, and JSON objects."""

from __future__ import annotations

import json
from typing import Final

from harness.http.exchanges import ExchangeSkipped
from harness.http.recorded_yaml import MAX_DEPTH
from services.json_values import is_deeper
from services.wire import JsonObject

__all__ = ["parse_event_stream", "parse_object"]

_END: Final = "[DONE]"
"""What ends a stream of OpenAI's; it is no JSON."""


def parse_event_stream(body: bytes) -> list[JsonObject]:
    """Return the JSON objects of an event stream, in order.

    Only CR and LF end a line here; what else Unicode calls a line end is text.
    """
    chunks: list[JsonObject] = []
    text = body.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    for event in text.split("\n\n"):
        data = [line[5:].strip() for line in event.split("\n") if line.startswith("data:")]
        if data and data != [_END]:
            chunks.append(parse_object("\n".join(data)))
    return chunks


def parse_object(text: str | bytes) -> JsonObject:
    """Return the JSON object of a recorded answer.

    Raises:
        ExchangeSkipped: it is none, or is nested too deeply.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ExchangeSkipped("the answer is not JSON") from error
    if not isinstance(value, dict):
        raise ExchangeSkipped("the answer is not a JSON object")
    if is_deeper(value, MAX_DEPTH):
        raise ExchangeSkipped(f"the answer is nested deeper than {MAX_DEPTH} levels")
    return value
