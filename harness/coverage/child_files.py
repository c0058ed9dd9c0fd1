"""Probes over agents' own chat recordings: whether there is one, its tokens, its duration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import combinations
from typing import Any, Final

from harness.coverage.words import texts_in
from harness.replay.observation import ChildObservation, Observation
from services.wire import JsonObject

__all__ = ["child_files"]

_LAST_CHANCE: Final = "You have one final chance to complete the task"
_MINUTE: Final = 60.0
_HALF: Final = 1_048_576 // 2
"""Half a context window in tokens: a longer history is compressed (core `core/tokenLimits.ts`)."""


def child_files(seen: Observation) -> Iterator[str]:
    """What agents' files show, and whether agents of one answer worked at the same time."""
    beside: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for child in seen.children:
        name, lines = _file(seen, child)
        yield from _said(lines, name.split("/")[-2:][0] in _sessions(seen))
        times = _times(lines)
        beside[child.thread.rpartition("/")[0]].append(times)
        if times[1] - times[0] >= _MINUTE:
            yield "child:took_a_minute"
        asked = [index for index, line in enumerate(lines) if _is_last_chance(line)]
        times = _times(lines[asked[-1] :] if asked else ())
        if times[1] - times[0] >= _MINUTE / 2:
            yield "child:long_last_turn"
    for spans in beside.values():
        if any(one[0] < two[1] and two[0] < one[1] for one, two in combinations(spans, 2)):
            yield "child:overlapping"


def _file(seen: Observation, child: ChildObservation) -> tuple[str, Sequence[JsonObject]]:
    """Path and lines of a child's file; empty if it has none."""
    for name, lines in seen.recording.items():
        if child.agent_id and name.endswith(f"/{child.agent_id}.jsonl"):
            return name, [line for line in lines if isinstance(line, dict)]
    return "", ()


def _sessions(seen: Observation) -> set[str]:
    """Ids of the sessions that are no child of another one."""
    heads = [lines[0] for lines in seen.recording.values() if lines]
    return {
        str(head.get("sessionId"))
        for head in heads
        if isinstance(head, dict) and head.get("kind") != "subagent"
    }


def _said(lines: Sequence[JsonObject], of_parent: bool) -> Iterator[str]:
    answers = [line for line in lines if line.get("type") == "gemini"]
    if answers and of_parent and lines[0].get("kind") == "subagent":
        yield "child:recorded"
    for tokens in (line.get("tokens") for line in answers):
        total = tokens.get("total") if isinstance(tokens, dict) else None
        if isinstance(total, int) and not isinstance(total, bool):
            yield "child:recorded.tokens"
            if total > _HALF:
                yield "child:recorded.half_full"


def _is_last_chance(line: JsonObject) -> bool:
    said = line.get("type") == "user"
    return said and any(_LAST_CHANCE in text for text in texts_in(line.get("content")))


def _times(lines: Sequence[JsonObject]) -> tuple[float, float]:
    """Times of the first and the last line, in seconds; 0 and 0 without lines."""
    times: list[float] = []
    for line in lines:
        changed: Any = line.get("$set")
        found = changed.get("lastUpdated") if isinstance(changed, dict) else None
        try:
            written = found or line.get("timestamp") or line.get("startTime")
            times.append(datetime.fromisoformat(str(written)).timestamp())
        except ValueError:
            continue
    return (min(times), max(times)) if times else (0.0, 0.0)
