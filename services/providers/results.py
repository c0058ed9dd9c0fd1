"""The results of functions as text, for providers that take no JSON objects."""

from __future__ import annotations

from services.providers.shape import compact, parsed_object, text
from services.wire import JsonObject

__all__ = ["read_result", "result_text"]


def result_text(response: JsonObject) -> str:
    """Return the result of a function as text: its `output` if it has nothing else.

    An `output` that is blank or a JSON object is sent as JSON, too, because providers refuse blank
    texts, and so that `read_result` returns the same result.
    """
    output = text(response.get("output")) if response.keys() == {"output"} else None
    if output is None or not output.strip() or parsed_object(output) is not None:
        return compact(response)
    return output


def read_result(said: str) -> JsonObject:
    """Return the result of a function that `said` stands for."""
    found = parsed_object(said)
    return {"output": said} if found is None else found
