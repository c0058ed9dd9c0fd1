"""Writes event streams like the API, readable for google-genai's client.

The client splits lines where Python's `str.splitlines` does, which is at more characters than an
event stream's line ends: U+0085, U+2028 and U+2029 are legal in a JSON string and break its event.
The API escapes them; so does what is written here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from services.wire import Json, JsonObject, js_json

__all__ = ["as_the_api_writes", "event_stream", "is_readable"]

_FALSE_LINE_ENDS: Final = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_ESCAPED: Final = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}


def event_stream(chunks: Iterable[JsonObject], line_end: str = "\r\n") -> bytes:
    """Format each chunk as one event that two line ends close; the API's line end is CR LF."""
    return b"".join(
        f"data: {js_json(chunk).translate(_ESCAPED)}{line_end * 2}".encode() for chunk in chunks
    )


def is_readable(body: bytes) -> bool:
    """Return whether no character within a line of the stream would be read as a line end."""
    return _FALSE_LINE_ENDS.search(body.decode("utf-8", "replace")) is None


def as_the_api_writes(response: Json) -> Json:
    """Return a response as the Gemini API writes it, which names citations differently."""
    if not isinstance(response, dict) or not response.get("candidates"):
        return response
    return {**response, "candidates": [_candidate(each) for each in response["candidates"]]}


def _candidate(candidate: JsonObject) -> JsonObject:
    metadata = candidate.get("citationMetadata")
    if not isinstance(metadata, dict) or "citations" not in metadata:
        return candidate
    renamed = {**metadata, "citationSources": metadata["citations"]}
    del renamed["citations"]
    return {**candidate, "citationMetadata": renamed}
