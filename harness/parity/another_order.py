"""Recognises results of calls that are the same on both sides, in another order.

The comparison goes place by place, so it reports two exchanged results as two changes.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.parity.evidence import Evidence
from harness.timeline.model import Moment, MomentKind
from harness.timeline.words import cut, quoted
from services.wire import Json

__all__ = ["Reordered", "reordered"]

_PLACE: Final = re.compile(
    r"(?P<list>(?:contents|newContents)\[(?P<content>\d{1,9})\])"
    r"\.parts\[(?P<part>\d{1,9})\]\.functionResponse\.(?P<key>.+)"
)
_EMITTED: Final = "emitted tool_response "
_TEXT: Final = 32
_WORD: Final = 48
_NAMED: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Reordered:
    """The same results on both sides: each result in a few words, in its side's order."""

    control: tuple[str, ...]
    candidate: tuple[str, ...]
    at: str = ""
    """Path of the content that holds them; empty for results in events."""
    by_id: bool = False
    """The results differ in nothing but the ids of their calls."""

    @property
    def count(self) -> int:
        """How many results there are."""
        return len(self.control)

    def listed(self, side: int) -> str:
        """One side's results in their order."""
        words = (self.control, self.candidate)[side]
        return ", ".join(words[:_NAMED]) + (", …" if len(words) > _NAMED else "")


def reordered(evidence: Evidence) -> Reordered | None:
    """The results, if their order is all that differs at the first cause; else `None`."""
    if evidence.first.channel is ChannelName.REQUESTS:
        return _in_request(evidence)
    if evidence.first.channel is ChannelName.EVENTS and evidence.first.sort == "tool_response":
        return _emitted_in_order(evidence) or _emitted_by_id(evidence)
    return None


def _in_request(evidence: Evidence) -> Reordered | None:
    """Results in a request to the model."""
    places = [(found, match) for found in evidence.beside if (match := _PLACE.match(found.path))]
    if len(places) < 2 or len(places) != len(evidence.beside):
        return None
    lists = {match["list"] for _, match in places}
    if len(lists) != 1:
        return None
    at, content = lists.pop(), int(places[0][1]["content"])
    if {match["key"] for _, match in places} == {"id"}:
        return _by_id([found for found, _ in places], at)
    sides = []
    for side in (0, 1):
        results = _results(evidence.fields(side), content)
        for found, match in places:
            part, value = int(match["part"]), (found.control, found.candidate)[side]
            if part not in results:
                return None
            _put(results[part], match["key"].split("."), value)
        sides.append([results[part] for part in sorted(results)])
    here, there = ([json.dumps(each, sort_keys=True) for each in side] for side in sides)
    if here == there or Counter(here) != Counter(there):
        return None
    control, candidate = (tuple(map(_word, side)) for side in sides)
    return Reordered(control=control, candidate=candidate, at=at)


def _results(fields: dict[str, Any] | None, content: int) -> dict[int, dict[str, Any]]:
    """A copy of the results in a content of a request, by the numbers of their parts."""
    contents = (fields or {}).get("contents")
    if not isinstance(contents, list) or content >= len(contents):
        return {}
    whole = contents[content]
    parts = whole.get("parts") if isinstance(whole, dict) else None
    return {
        number: json.loads(json.dumps(part["functionResponse"]))
        for number, part in enumerate(parts if isinstance(parts, list) else ())
        if isinstance(part, dict) and isinstance(part.get("functionResponse"), dict)
    }


def _put(result: dict[str, Any], keys: Sequence[str], value: Json) -> None:
    """Put back a compared value, which the timeline may have cut."""
    *outer, last = keys
    for key in outer:
        inner = result.get(key)
        if not isinstance(inner, dict):
            return
        result = inner
    if value == ABSENT:
        result.pop(last, None)
    else:
        result[last] = value


def _word(result: dict[str, Any]) -> str:
    response = result.get("response")
    said = next(iter(response.values()), "") if isinstance(response, dict) else ""
    text = said if isinstance(said, str) else json.dumps(said)
    return f"{result.get('name')} {quoted(text, _TEXT)}"


def _emitted_in_order(evidence: Evidence) -> Reordered | None:
    """Results that the client received as events at other points."""
    moved = [found for found in evidence.of(ChannelName.EVENTS) if found.kind is Kind.ORDER]
    if evidence.first.kind is not Kind.ORDER or any(f.sort != "tool_response" for f in moved):
        return None
    if len(moved) != len([*evidence.of(ChannelName.EVENTS)]):
        return None
    ends = [at for found in moved for at in (found.control_index, found.candidate_index)]
    known = [at for at in ends if at is not None]
    sides: list[dict[int, str]] = [{}, {}]
    for row in evidence.timelines.rows:
        for side, moment in enumerate((row.control, row.candidate)):
            if row.kind is not MomentKind.EVENT or moment is None:
                continue
            if moment.line.startswith(_EMITTED) and min(known) <= moment.index <= max(known):
                sides[side][moment.index] = _emitted_word(moment)
    control, candidate = (tuple(side[index] for index in sorted(side)) for side in sides)
    if control == candidate or Counter(control) != Counter(candidate):
        return None
    return Reordered(control=control, candidate=candidate)


def _emitted_word(moment: Moment) -> str:
    """A result in an event: the description of its call if there is one, else its text."""
    display = (moment.fields or {}).get("display")
    about = display.get("description") if isinstance(display, dict) else None
    if isinstance(about, str) and about and moment.fields is not None:
        return cut(f"{moment.fields.get('name')} {about}", _WORD)
    return cut(moment.line.removeprefix(_EMITTED), _WORD)


def _emitted_by_id(evidence: Evidence) -> Reordered | None:
    """Results that differ only in the ids of their calls."""
    found = list(evidence.of(ChannelName.EVENTS))
    if any(each.sort != "tool_response" or each.path != "requestId" for each in found):
        return None
    return _by_id(found, "")


def _by_id(found: Sequence[Divergence], at: str) -> Reordered | None:
    control = tuple(str(each.control) for each in found)
    candidate = tuple(str(each.candidate) for each in found)
    if len(found) < 2 or Counter(control) != Counter(candidate):
        return None
    return Reordered(control=control, candidate=candidate, at=at, by_id=True)
