"""Brings the threads of two runs into one order, so that parallel agents can be compared.

Which of two independent threads is served first is chance. So requests, retries, side events and
calls get a normal form before alignment: between two items of one thread, the items of its children
stand child by child. The order within a thread stays, and so does the order between a thread and
the threads that it started. These are projection rules over whole runs, with names and reasons.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType
from typing import Final, TypeVar

from harness.replay.observation import ChildObservation, Observation, ObservedRequest
from services.threads import MAIN, thread_order

__all__ = ["RUN_RULES", "Comparable", "by_thread", "made_comparable"]

RUN_RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "agent_ids": (
            "The id of an agent is random, and the ids of its calls and the name of its recording "
            "begin with it. The agent's thread replaces the id everywhere, so a report under the "
            "id of another agent is a difference."
        ),
        "thread_interleaving": (
            "Chance decides which of two parallel agents is served first. The order of an agent's "
            "steps, and their order relative to the steps of its parent, stay compared. An agent "
            "that waits for its sibling where it should not is hidden here; `parity orders` sets "
            "these orders itself."
        ),
        "unseen_sessions": (
            "The subagents of the published core have sessions only with "
            "agentSessionSubagentEnabled. Without a session there are no events to compare; the "
            "activities are compared."
        ),
        "unseen_progress": (
            "Baselines and traces of earlier builds lack what calls show while they work. Create "
            "them again to compare it."
        ),
    }
)
"""Names and reasons of the rules about whole runs."""

T = TypeVar("T")
_Key = tuple[tuple[int, int], ...]
_MADE_BY_CALLS: Final = frozenset({"utility_tool", "utility_summarizer", "utility_edit_corrector"})
"""Roles of requests that a running call makes, perhaps beside children of other calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparable:
    """Both runs as compared, and how often each rule of `RUN_RULES` hid something."""

    control: Observation
    candidate: Observation
    fired: Mapping[str, int]


def made_comparable(control: Observation, candidate: Observation) -> Comparable:
    """Put both runs' threads into one order, and drop children's events that one side lacks."""
    fired: Counter[str] = Counter()
    moved = sum(map(_moved, _keys(control), _keys(candidate)))
    if moved:
        fired["thread_interleaving"] = moved
    here, there = by_thread(control), by_thread(candidate)
    blind = _sessionless(here) | _sessionless(there)
    if blind:
        hidden = (_without_events(here, blind), _without_events(there, blind))
        fired["unseen_sessions"] = len(blind & (_with_session(here) | _with_session(there)))
        here, there = hidden
    if (here.progress is None) != (there.progress is None):
        fired["unseen_progress"] = len(here.progress or there.progress or ())
        here, there = replace(here, progress=None), replace(there, progress=None)
    return Comparable(control=here, candidate=there, fired=+fired)


def by_thread(seen: Observation) -> Observation:
    """The run in normal form; most runs are already."""
    requests, calls, retries, sides = map(_normal, _keys(seen))
    orders = {"requests": requests, "tool_states": calls, "retries": retries, "side": sides}
    if all(order == sorted(order) for order in orders.values()):
        return seen
    places = {name: {was: now for now, was in enumerate(order)} for name, order in orders.items()}
    states = list(seen.tool_states.items())
    return replace(
        seen,
        requests=[seen.requests[index] for index in requests],
        tool_states=dict(states[index] for index in calls),
        retries=[seen.retries[index] for index in retries],
        side_events=[seen.side_events[index] for index in sides],
        threads={
            name: {
                places["side" if name == "side_events" else name][was]: thread
                for was, thread in placed.items()
            }
            for name, placed in seen.threads.items()
        },
        order=[_renumbered(seen, places, *each) for each in seen.order],
        times={
            _renumbered(seen, places, channel, index, 0)[:2]: at
            for (channel, index), at in seen.times.items()
        },
    )


def _renumbered(
    seen: Observation,
    places: Mapping[str, Mapping[int, int]],
    channel: str,
    index: int,
    events: int,
) -> tuple[str, int, int]:
    first = len(seen.retries)
    if channel == "retries" and index >= first:
        return channel, first + places["side"].get(index - first, index - first), events
    return channel, places.get(channel, {}).get(index, index), events


def _keys(seen: Observation) -> tuple[list[_Key], list[_Key], list[_Key], list[_Key]]:
    """The threads of requests, calls, retries and side events, in order."""
    return (
        [_of_request(request) for request in seen.requests],
        _placed(seen, "tool_states", len(seen.tool_states)),
        _placed(seen, "retries", len(seen.retries)),
        _placed(seen, "side_events", len(seen.side_events)),
    )


def _of_request(request: ObservedRequest) -> _Key:
    thread = thread_order(request.thread)
    return (*thread, (-1, -1)) if request.role in _MADE_BY_CALLS else thread


def _placed(seen: Observation, name: str, count: int) -> list[_Key]:
    placed = seen.threads.get(name, {})
    return [thread_order(placed.get(index, MAIN)) for index in range(count)]


def _normal(keys: Sequence[_Key]) -> list[int]:
    """Indices in normal form: stretches between items of one thread, sorted by its children."""

    def arranged(indices: Sequence[int], thread: _Key) -> list[int]:
        depth = len(thread) + 1
        found: list[int] = []
        for own, stretch in groupby(indices, key=lambda index: keys[index] == thread):
            if own:
                found.extend(stretch)
                continue
            # Sorting is stable: order within a thread stays.
            members = sorted(stretch, key=lambda index: keys[index][:depth])
            for child, theirs in groupby(members, key=lambda index: keys[index][:depth]):
                found.extend(arranged(list(theirs), child))
        return found

    return arranged(range(len(keys)), ())


def _moved(here: Sequence[_Key], there: Sequence[_Key]) -> int:
    """How many items have another position among those of other threads."""
    if here == there:
        return 0
    numbers: Counter[_Key] = Counter()
    at: dict[tuple[_Key, int], int] = {}
    for place, key in enumerate(there):
        at[key, numbers[key]] = place
        numbers[key] += 1
    numbers.clear()
    places: list[int] = []
    for key in here:
        if (key, numbers[key]) in at:
            places.append(at[key, numbers[key]])
        numbers[key] += 1
    tails: list[int] = []  # of the longest ascending runs: what is not in the longest has moved
    for place in places:
        end = bisect_left(tails, place)
        tails[end : end + 1] = [place]
    return len(places) - len(tails)


def _with_session(seen: Observation) -> set[str]:
    return {child.thread for child in seen.children if child.events is not None}


def _sessionless(seen: Observation) -> set[str]:
    return {child.thread for child in seen.children if child.events is None}


def _without_events(seen: Observation, threads: set[str]) -> Observation:
    def blind(child: ChildObservation) -> ChildObservation:
        return replace(child, events=None) if child.thread in threads else child

    return replace(seen, children=[blind(child) for child in seen.children])
