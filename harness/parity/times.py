"""Compares when things happened in two runs that did the same.

Both runs use a virtual clock that stands still during real work, so within one product every time
must be equal: of events, recorded lines, reports of children, retries and starts of hooks. The only
chance is a request that one agent makes while the real work of another goes on: it moves time by
1 ms, and the duration of the real work decides what comes after that (`Observation.raced`). A time
may differ by as much as such requests have moved it, and no more.

Times are not compared:

- across products: the published core does other work between its requests;
- with a baseline, which does not contain the clock's times;
- where parallel agents were served in another order (`thread_interleaving`), since each request
  moves time;
- with several subagents: a hook's process beside another subagent's request decides which of them
  moves time first, and one engine then differs from itself;
- where the runs differ in anything else, since a run that did something else is at other times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Final

from harness.parity.channel_diff import Aligned
from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.parity.rules import ISO_TIME, TIME_KEYS
from harness.replay.observation import Observation
from services.clock import VIRTUAL_EPOCH_MS
from services.wire import Json

__all__ = ["AT_MS", "HOOK", "is_time", "late_divergences", "times_are_comparable"]

AT_MS: Final = "atMs"
"""The path of the time of an item whose value contains none."""
HOOK: Final = "hook"
"""The label of the start of a hook."""
_RULE: Final = "timestamps"
_EPOCH: Final = datetime.fromisoformat("1970-01-01T00:00:00Z")


def is_time(found: Divergence) -> bool:
    """Whether the sides differ in nothing but the time of an item."""
    if found.path == AT_MS:
        return True
    values = (found.control, found.candidate)
    key = found.path.rpartition(".")[2]
    return key in TIME_KEYS and all(isinstance(v, str) and ISO_TIME.fullmatch(v) for v in values)


def times_are_comparable(control: Observation, candidate: Observation) -> bool:
    """Whether both runs have the times of one product's clock, and at most one subagent."""
    if max(len(control.children), len(candidate.children)) > 1:
        return False
    return bool(control.times and candidate.times) and control.words == candidate.words


def late_divergences(
    control: Observation, candidate: Observation, aligned: Mapping[ChannelName, Aligned]
) -> list[Divergence]:
    """The times that differ between two runs that are equal otherwise.

    What happens after a late item is late as well: an item is named only where it is late by
    another amount than the item before it in this list.

    Args:
        control: The control in normal form (`threads.by_thread`).
        candidate: The candidate, likewise.
        aligned: The channels whose texts differ, projected.
    """
    found: list[Divergence] = []
    late_ms = 0.0
    for each in _differing(control, candidate, aligned):
        slack_ms = max(_moved_ms(control, each.control_ms), _moved_ms(candidate, each.candidate_ms))
        shift_ms = each.candidate_ms - each.control_ms
        if min(abs(shift_ms), abs(shift_ms - late_ms)) > slack_ms:
            late_ms = shift_ms
            found.append(each.divergence)
    return [*found, *_hooks(control, candidate)]


@dataclass(frozen=True, slots=True)
class _Late:
    """A time that differs, as a divergence, and in virtual milliseconds since the runs began."""

    divergence: Divergence
    control_ms: float
    candidate_ms: float


def _moved_ms(seen: Observation, at_ms: float) -> float:
    """By how much requests beside real work had moved the time of `at_ms`, at most."""
    return sum(ms for began, ms in seen.raced if began <= at_ms)


def _differing(
    control: Observation, candidate: Observation, aligned: Mapping[ChannelName, Aligned]
) -> Iterator[_Late]:
    for number in range(len(control.retries) + len(control.side_events)):
        key = (ChannelName.RETRIES.value, number)
        here, there = control.times.get(key), candidate.times.get(key)
        if here is not None and there is not None and here != there:
            event = number - len(control.retries)
            label = "retry" if event < 0 else str(control.side_events[event].get("event"))
            place = (control.name, ChannelName.RETRIES, label, number, number)
            yield _Late(_changed(place, AT_MS, here, there), here, there)
    for channel, both in aligned.items():
        for a, b in both.pairs:
            if a is not None and b is not None:
                place = (control.name, channel, both.control[a].label, a, b)
                yield from _hidden(place, both, a, b)


def _hidden(place: _Place, both: Aligned, a: int, b: int) -> Iterator[_Late]:
    theirs = both.candidate[b].hidden
    for path, mine in both.control[a].hidden.items():
        if mine.rule == _RULE and path in theirs and mine.value != theirs[path].value:
            here, there = mine.value, theirs[path].value
            yield _Late(_changed(place, path, here, there), _since(here), _since(there))


def _since(time: str) -> float:
    return (datetime.fromisoformat(time) - _EPOCH).total_seconds() * 1000 - VIRTUAL_EPOCH_MS


def _hooks(control: Observation, candidate: Observation) -> Iterator[Divergence]:
    """Starts of hooks that differ. The real work of hooks decides the order of parallel ones."""
    here, there = _starts(control), _starts(candidate)
    for key in sorted({*here, *there}):
        thread, event, hook = key
        for mine, theirs in zip_longest(here.get(key, ()), there.get(key, ())):
            if mine is not None and theirs is not None:
                slack_ms = max(_moved_ms(control, mine), _moved_ms(candidate, theirs))
                if abs(mine - theirs) <= slack_ms:
                    continue
            yield Divergence(
                cassette=control.name,
                channel=ChannelName.RETRIES,
                kind=_kind(mine, theirs),
                label=HOOK if thread == "main" else f"{HOOK}, thread {thread}",
                path=AT_MS,
                control=_start(event, hook, mine),
                candidate=_start(event, hook, theirs),
            )


def _starts(seen: Observation) -> dict[tuple[str, str, str], list[int]]:
    """Thread, event and hook → when it started, ascending."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for run in seen.hooks:
        found.setdefault((run.thread, run.event, run.hook), []).append(run.at_ms)
    return found


def _kind(mine: int | None, theirs: int | None) -> Kind:
    if mine is None:
        return Kind.EXTRA
    return Kind.MISSING if theirs is None else Kind.CHANGED


def _start(event: str, hook: str, at_ms: int | None) -> Json:
    return ABSENT if at_ms is None else {"event": event, "hook": hook, AT_MS: at_ms}


_Place = tuple[str, ChannelName, str, int, int]
"""Cassette, channel, label, and an index on each side."""


def _changed(place: _Place, path: str, here: Json, there: Json) -> Divergence:
    cassette, channel, label, a, b = place
    return Divergence(
        cassette=cassette,
        channel=channel,
        kind=Kind.CHANGED,
        label=label,
        control_index=a,
        candidate_index=b,
        path=path,
        control=here,
        candidate=there,
    )
