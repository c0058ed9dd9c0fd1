"""The order in which the items of several channels happened, on one side and on both.

The run records it (`Observation.order`). A baseline has no such record: its requests are placed
before the answers that the events show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from harness.canonical import canonical
from harness.parity.align import Pair
from harness.parity.channel import When
from harness.parity.channels import CHANNELS
from harness.parity.divergence import ChannelName
from harness.replay.observation import Observation, ObservedRequest

__all__ = ["Place", "Placed", "merged", "moments_of"]

Place = tuple[ChannelName, int]
"""One item of one side: its channel and its index there."""
Placed = tuple[ChannelName, int | None, int | None]
"""One item of both sides; `None` where a side has nothing."""

_AT_THE_END: Final = tuple(each.name for each in CHANNELS if each.when is When.AFTERWARDS)


def moments_of(seen: Observation, lengths: Mapping[ChannelName, int]) -> list[Place]:
    """Every item of one side in the order in which it happened; those of the end come last.

    `lengths` has the number of items of each channel.
    """
    before: dict[int, list[Place]] = {}
    placed: set[Place] = set()
    for name, index, events in seen.order or _guessed(seen):
        place = (ChannelName(name), index)
        if index < lengths.get(place[0], 0) and place not in placed:
            placed.add(place)
            before.setdefault(events, []).append(place)
    found: list[Place] = []
    for number in range(lengths.get(ChannelName.EVENTS, 0)):
        found.extend(before.pop(number, ()))
        found.append((ChannelName.EVENTS, number))
    for number in sorted(before):
        found.extend(before[number])
    for channel, length in lengths.items():
        if channel not in (ChannelName.EVENTS, *_AT_THE_END):
            found.extend((channel, n) for n in range(length) if (channel, n) not in placed)
    for channel in _AT_THE_END:
        found.extend((channel, number) for number in range(lengths.get(channel, 0)))
    return found


def _guessed(seen: Observation) -> Iterator[tuple[str, int, int]]:
    """An order for a run without a record.

    Each main request comes before one answer of the model, other requests before the next main
    request, a retry before the repeated request, and a call's states before its response.
    """
    stretches = _stretches(seen)
    last = len(seen.events)
    waiting: list[tuple[str, int]] = []
    asked: dict[tuple[str, str], str] = {}
    announced = 0
    for index, request in enumerate(seen.requests):
        repeated = asked.get(request.lineage) == request.digest or _nudges(request)
        asked[request.lineage] = request.digest
        if repeated and announced < len(seen.retries):
            waiting.append(("retries", announced))
            announced += 1
        waiting.append(("requests", index))
        if request.role == "main" and request.method.startswith("generate"):
            at = next(stretches, last)
            yield from ((channel, each, at) for channel, each in waiting)
            waiting = []
    yield from ((channel, each, last) for channel, each in waiting)
    ends: dict[str, int] = {}
    for number, event in enumerate(seen.events):
        if event.get("type") == "tool_response":
            ends[str(event.get("requestId"))] = number
    for index, call in enumerate(seen.tool_states):
        yield "tool_states", index, ends.get(call, last)


def _nudges(request: ObservedRequest) -> bool:
    """Whether a request repeats another with a remark on the invalid answer."""
    last = request.new_contents[-1:] or ({},)
    return "[System: You previously" in canonical(last[0])


def _stretches(seen: Observation) -> Iterator[int]:
    """The numbers of the events with which the model's answers begin."""
    fresh = True
    for number, event in enumerate(seen.events):
        kind = event.get("type")
        if kind in ("agent_start", "tool_response") or event.get("role") == "user":
            fresh = True
        elif fresh and kind in ("message", "tool_request", "usage", "error", "agent_end"):
            fresh = False
            yield number


def merged(
    control: Sequence[Place],
    candidate: Sequence[Place],
    pairs: Mapping[ChannelName, Sequence[Pair]],
    *,
    by_candidate: bool,
) -> list[Placed]:
    """Both sides in one order, each pair once.

    The order is the control's, or the candidate's with `by_candidate`. Items that only the other
    side has keep their place before the items that follow them there.
    """
    chosen = 1 if by_candidate else 0
    base, other = (candidate, control) if by_candidate else (control, candidate)
    partner: dict[Place, int | None] = {}
    lone: set[Place] = set()
    for channel, both in pairs.items():
        for pair in both:
            mine, theirs = pair[chosen], pair[1 - chosen]
            if mine is not None:
                partner[channel, mine] = theirs
            elif theirs is not None:
                lone.add((channel, theirs))
    at = {place: number for number, place in enumerate(other)}
    found: list[tuple[ChannelName, int | None, int | None]] = []
    reached = 0
    for channel, index in base:
        theirs = partner.get((channel, index))
        if theirs is not None:
            until = at[channel, theirs]
            found.extend((c, None, n) for c, n in other[reached:until] if (c, n) in lone)
            reached = max(reached, until)
        found.append((channel, index, theirs))
    found.extend((c, None, n) for c, n in other[reached:] if (c, n) in lone)
    return [(c, b, a) for c, a, b in found] if by_candidate else found
