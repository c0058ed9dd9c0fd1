"""Reading parts, thoughts and responses.

Source: core `utils/partUtils.ts`, `utils/thoughtUtils.ts`,
`utils/generateContentResponseUtilities.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from math import ceil
from typing import Final, NamedTuple

from services.wire import Json, JsonObject, Part, js_length, js_trim

__all__ = [
    "Thought",
    "citations",
    "first_parts",
    "function_calls",
    "parse_thought",
    "part_list_to_string",
    "response_text",
    "response_texts",
]

_BOLD: Final = "**"
_MEDIA: Final = (("audio/", "Audio"), ("video/", "Video"), ("image/", "Image"))
_FIXED_WORDS: Final = (
    ("codeExecutionResult", "[Code Execution Result]"),
    ("executableCode", "[Executable Code]"),
    ("fileData", "[File Data]"),
)


class Thought(NamedTuple):
    """A thought, split at its bold heading; the subject is empty without one."""

    subject: str
    description: str


def part_list_to_string(
    value: str | Part | Sequence[str | Part] | None, *, verbose: bool = False
) -> str:
    """`value` as text.

    Args:
        value: Text, a part, or several of these, joined without a separator.
        verbose: Whether parts without text become a label in brackets.
    """
    if not value:
        return ""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return "".join(part_list_to_string(part, verbose=verbose) for part in value)
    label = _label(value) if verbose else None
    return label if label is not None else value.get("text") or ""


def _label(part: Part) -> str | None:
    """The label of a part without text; a thought is labelled by its flag."""
    if "videoMetadata" in part:
        return "[Video Metadata]"
    if "thought" in part:
        thought = part["thought"]
        return f"[Thought: {str(thought).lower() if isinstance(thought, bool) else thought}]"
    for key, words in _FIXED_WORDS:
        if key in part:
            return words
    if "functionCall" in part:
        return f"[Function Call: {part['functionCall'].get('name', 'undefined')}]"
    if "functionResponse" in part:
        return f"[Function Response: {part['functionResponse'].get('name', 'undefined')}]"
    if "inlineData" in part:
        return _media_label(part["inlineData"])
    return None


def _media_label(blob: JsonObject) -> str:
    given = blob.get("mimeType")
    mime_type = "unknown" if given is None else given
    size = Decimal(ceil(js_length(blob.get("data") or "") * 3 / 4)) / 1024
    # JavaScript's toFixed rounds halves up where format() rounds them to even.
    kilobytes = size.quantize(Decimal("0.1"), rounding=ROUND_HALF_UP)
    kind = next((name for prefix, name in _MEDIA if mime_type.startswith(prefix)), "Media")
    return f"[{kind}: {mime_type}, {kilobytes} KB]"


def parse_thought(text: str) -> Thought:
    """Split a thought into the text between the first two `**`, and the rest."""
    before, opened, rest = text.partition(_BOLD)
    subject, closed, after = rest.partition(_BOLD)
    if not opened or not closed:
        return Thought("", js_trim(text))
    return Thought(js_trim(subject), js_trim(before + after))


def _first_candidate(response: Mapping[str, Json]) -> JsonObject:
    candidates = response.get("candidates")
    return candidates[0] if candidates else {}


def first_parts(response: Mapping[str, Json]) -> Sequence[Part]:
    """The parts of the first candidate; empty when there are none."""
    content = _first_candidate(response).get("content")
    return (content.get("parts") if content else None) or ()


def response_text(response: Mapping[str, Json]) -> str | None:
    """The first candidate's text without its thoughts; None when it has no parts at all."""
    parts = first_parts(response)
    if not parts:
        return None
    return "".join(part["text"] for part in parts if part.get("text") and not part.get("thought"))


def response_texts(responses: Iterable[Mapping[str, Json]]) -> list[str]:
    """The texts of responses that have parts; `""` where these have no text."""
    texts = map(response_text, responses)
    return [text for text in texts if text is not None]


def function_calls(response: Mapping[str, Json]) -> list[JsonObject]:
    """The first candidate's function calls, not copied."""
    calls = (part.get("functionCall") for part in first_parts(response))
    return [call for call in calls if call is not None]


def citations(response: Mapping[str, Json]) -> list[str]:
    """The first candidate's citations with a URI, as `(title) uri` or the bare URI."""
    metadata = _first_candidate(response).get("citationMetadata") or {}
    return [
        f"({citation['title']}) {citation['uri']}" if citation.get("title") else citation["uri"]
        for citation in metadata.get("citations") or ()
        if "uri" in citation
    ]
