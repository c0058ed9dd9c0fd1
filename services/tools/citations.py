"""Markers of sources in the text of an answer.

Source: core `tools/web-search.ts`, `tools/web-fetch.ts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from services.wire import JsonObject

__all__ = ["grounding", "markers", "source_list", "with_byte_markers", "with_unit_markers"]


def grounding(response: JsonObject) -> JsonObject:
    """The first candidate's grounding metadata; empty when it has none."""
    candidates = response.get("candidates") or [{}]
    return candidates[0].get("groundingMetadata") or {}


def markers(supports: Sequence[Any]) -> list[tuple[int | None, str]]:
    """The places of the markers in the text, the last place first.

    A segment without an end goes to the start of the text; as in upstream's sort, which compares
    NaN, it keeps its place in the list.
    """
    found: list[tuple[int | None, str]] = []
    for support in supports:
        if not isinstance(support, dict):
            continue
        segment, chunks = support.get("segment"), support.get("groundingChunkIndices")
        if segment is not None and chunks is not None:
            marker = "".join(f"[{chunk + 1}]" for chunk in chunks)
            found.append((segment.get("endIndex"), marker))
    return sorted(found, key=lambda each: -(each[0] or 0))


def with_byte_markers(text: str, places: Sequence[tuple[int | None, str]]) -> str:
    """`text` with markers at offsets in its UTF-8 bytes."""
    data = text.encode(errors="replace")
    pieces: list[bytes] = []
    end = len(data)
    for index, marker in places:
        place = max(0, min(index or 0, end))
        pieces += [data[place:end], marker.encode()]
        end = place
    pieces.append(data[:end])
    return b"".join(reversed(pieces)).decode(errors="replace")


def with_unit_markers(text: str, places: Sequence[tuple[int | None, str]]) -> str:
    """`text` with markers at offsets in its UTF-16 units, as upstream does in fetched pages."""
    units: list[bytes] = []
    data = text.encode("utf-16-le", "surrogatepass")
    units = [data[place : place + 2] for place in range(0, len(data), 2)]
    for index, marker in places:
        units.insert(index or 0, marker.encode("utf-16-le"))
    return b"".join(units).decode("utf-16-le", "replace")


def source_list(chunks: Sequence[Any], *, no_uri: str) -> list[str]:
    """`[1] Title (uri)` for each source."""
    lines: list[str] = []
    for number, chunk in enumerate(chunks, 1):
        web = (chunk.get("web") if isinstance(chunk, dict) else None) or {}
        lines.append(f"[{number}] {web.get('title') or 'Untitled'} ({web.get('uri') or no_uri})")
    return lines
