"""Lanes: texts in a JSON value that are pieces of one text, cut where a stream was cut.

Pieces are found in lists: of events with deltas of a message, of chunks of a model's answer, and of
the parts of one content. Thoughts and answers are separate texts, also where they are
interleaved; so are candidates, and the events of different subagents.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Final

__all__ = ["Path", "lanes"]

Path = tuple[str | int, ...]
"""Keys and indices from a value to a text in it."""
_Piece = tuple[Hashable, Path, str]

_DELTAS: Final = frozenset({"message", "tool_update"})
_HOLDING: Final = frozenset({"candidates", "content", "text", "thought"})
"""An item without any of these keys holds no piece."""
_IN_BETWEEN: Final = frozenset({"usage", "session_update", "custom"})
"""Events that come between deltas of one message."""


def lanes(items: Sequence[Any]) -> Iterator[list[tuple[Path, str]]]:
    """The lanes of a list that have more than one piece: paths from the list, and texts."""
    running: dict[Hashable, list[tuple[Path, str]]] = {}
    for number, item in enumerate(items):
        pieces: Iterable[_Piece] = ()
        if isinstance(item, dict) and not _HOLDING.isdisjoint(item):
            pieces = list(_pieces(item))
        if running and not pieces and not _lets_pass(item):
            yield from (lane for lane in running.values() if len(lane) > 1)
            running = {}
        for lane, path, text in pieces:
            running.setdefault(lane, []).append(((number, *path), text))
    yield from (lane for lane in running.values() if len(lane) > 1)


def _pieces(item: dict[str, Any]) -> Iterator[_Piece]:
    if isinstance(item.get("candidates"), list):
        for number, candidate in enumerate(item["candidates"]):
            content = candidate.get("content") if isinstance(candidate, dict) else None
            parts = content.get("parts") if isinstance(content, dict) else None
            for lane, path, text in _parts(parts):
                place = ("candidates", number, "content", "parts", *path)
                yield (number, lane), place, text
    elif _kind(item) in _DELTAS:
        who = tuple(str(item.get(key)) for key in ("type", "role", "threadId", "requestId"))
        for lane, path, text in _parts(item.get("content")):
            yield (who, lane), ("content", *path), text
    else:
        yield from _part(item)


def _parts(parts: Any) -> Iterator[_Piece]:
    if isinstance(parts, list):
        for number, part in enumerate(parts):
            if isinstance(part, dict):
                for lane, path, text in _part(part):
                    yield lane, (number, *path), text


def _part(part: dict[str, Any]) -> Iterator[_Piece]:
    for key in ("text", "thought"):
        if isinstance(part.get(key), str):
            thought = key == "thought" or bool(part.get("thought")) or part.get("type") == "thought"
            yield ("part", thought), (key,), part[key]


def _lets_pass(item: Any) -> bool:
    """Whether the texts around `item` may be pieces of one."""
    if not isinstance(item, dict):
        return False
    if "candidates" in item or "usageMetadata" in item or "$sleep" in item:
        return True
    return _kind(item) in _IN_BETWEEN


def _kind(item: dict[str, Any]) -> str:
    kind = item.get("type")
    return kind if isinstance(kind, str) else ""
