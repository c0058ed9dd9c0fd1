"""Matches the turns of a chat with those of the history that replaced them.

After a resume or a rewind the turns keep their ids. A recording may have an id more than once: its
turns keep their order. Masking and compression give every turn a new
id and may merge turns. The parts that they keep are the same objects, except responses that they
cut and calls that they sign. Calls may share an id: their parts keep their order.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from services.recording.records import HistoryTurn
from services.wire import Content, Part

__all__ = ["successors", "with_parts"]


def successors(
    old: Sequence[HistoryTurn], new: Sequence[HistoryTurn]
) -> tuple[dict[int, int], dict[int, Part]]:
    """Find the new turn for each old turn: the one with its id, else the one with its parts.

    Returns:
        The index of the new turn for the index of each old turn that is still there; and the new
        part for the identity (`id`) of each replaced part.
    """
    named: defaultdict[str, deque[int]] = defaultdict(deque)
    for index, (turn_id, _) in enumerate(new):
        named[turn_id].append(index)
    found = {
        index: named[turn_id].popleft() for index, (turn_id, _) in enumerate(old) if named[turn_id]
    }
    pairs: list[tuple[Part, Part]] = []
    for index, place in found.items():
        parts, now = (turn[1].get("parts") or [] for turn in (old[index], new[place]))
        pairs += zip(parts, now, strict=True) if len(parts) == len(now) else ()
    held: defaultdict[object, deque[tuple[int, Part]]] = defaultdict(deque)
    for index, (_, content) in enumerate(old):
        for part in (content.get("parts") or ()) if index not in found else ():
            for key in _keys(part):
                held[key].append((index, part))
    for place in sorted(chain.from_iterable(named.values())):
        for part in new[place][1].get("parts") or ():
            match = next((held[key][0] for key in _keys(part) if held[key]), None)
            if match is not None:
                index, was = match
                for key in _keys(was):
                    held[key].remove(match)
                if found.setdefault(index, place) == place:
                    pairs.append((was, part))
    return found, {id(was): part for was, part in pairs if was is not part}


def with_parts(content: Content, changed: Mapping[int, Part]) -> Content:
    """Replace the parts whose identity (`id`) is in `changed`.

    A content without such parts is returned itself.
    """
    parts: list[Part] = content.get("parts") or []
    if not any(id(part) in changed for part in parts):
        return content
    return {**content, "parts": [changed.get(id(part), part) for part in parts]}


def _keys(part: Part) -> Iterator[object]:
    """The keys for finding a part: its identity, then the id of its call."""
    yield id(part)
    for kind in ("functionResponse", "functionCall"):
        call = part.get(kind)
        if isinstance(call, dict) and isinstance(call.get("id"), str):
            yield kind, call["id"]
