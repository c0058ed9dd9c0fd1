"""The divergences of one channel: project, align, and compare the pairs that still differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.parity.align import Pair, align
from harness.parity.channel import Channel
from harness.parity.diff import Difference, bounded, bounded_pair
from harness.parity.divergence import Divergence, Kind
from harness.parity.items import Hidden, Item
from harness.parity.projection import project
from harness.replay.observation import Observation

__all__ = ["Aliases", "Aligned", "align_channel", "channel_divergences"]


@dataclass(slots=True)
class Aliases:
    """The mapping between the ids of both sides, learned pair by pair.

    The sides may name one thing differently, but each id must map to one id everywhere.
    """

    fired: Counter[str]
    """By rule, how many hidden values did differ."""
    _there: dict[tuple[str, Any], Any] = field(default_factory=dict)
    _back: dict[tuple[str, Any], Any] = field(default_factory=dict)

    def differences(
        self, control: Mapping[str, Hidden], candidate: Mapping[str, Hidden]
    ) -> list[Difference]:
        """Learn from the hidden values of a pair; return those that contradict the mapping."""
        found = []
        for path, mine in control.items():
            theirs = candidate.get(path)
            if theirs is None:
                self.fired[mine.rule] += 1
            elif mine.scope is not None and not self._agree(mine.scope, mine.value, theirs.value):
                here, there = bounded_pair(mine.value, theirs.value)
                found.append(Difference(path=path, control=here, candidate=there))
            elif mine.value != theirs.value:
                self.fired[mine.rule] += 1
        for path, theirs in candidate.items():
            if path not in control:
                self.fired[theirs.rule] += 1
        return found

    def _agree(self, scope: str, mine: Any, theirs: Any) -> bool:
        there = self._there.setdefault((scope, mine), theirs)
        back = self._back.setdefault((scope, theirs), mine)
        return bool(there == theirs and back == mine)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligned:
    """A channel's projected items of both sides, and their pairs."""

    control: Sequence[Item]
    candidate: Sequence[Item]
    pairs: Sequence[Pair]


def align_channel(channel: Channel, control: Observation, candidate: Observation) -> Aligned:
    """Project both sides and pair up their items."""
    across = control.words != candidate.words
    here = project(channel, control, across=across)
    there = project(channel, candidate, across=across)
    pairs = align(
        [item.digest for item in here],
        [item.digest for item in there],
        [item.label for item in here],
        [item.label for item in there],
    )
    return Aligned(control=here, candidate=there, pairs=pairs)


def channel_divergences(
    channel: Channel,
    control: Observation,
    candidate: Observation,
    fired: Counter[str],
    aligned: Aligned | None = None,
) -> Iterator[Divergence]:
    """Yield the divergences in order of position, and count hidden differences in `fired`.

    `aligned` is the result of `align_channel`, if the caller has it.
    """
    aligned = aligned or align_channel(channel, control, candidate)
    here, there, pairs = aligned.control, aligned.candidate, aligned.pairs
    moved = _moved(pairs, here, there)
    came_from = {b: a for a, b in moved.items()}
    implied = channel.implied(pairs, here, there)
    aliases = Aliases(fired)
    differ = channel.differ(control, candidate)
    for a, b in pairs:
        if implied(here[a] if a is not None else there[b or 0]):
            continue
        place: dict[str, Any] = {
            "cassette": control.name,
            "channel": channel.name,
            "label": (here[a] if a is not None else there[b or 0]).label,
            "control_index": a,
            "candidate_index": b,
        }
        if a is not None and b is not None:
            found, alike = differ.pair(here[a], there[b])
            if alike:
                found = [*found, *aliases.differences(here[a].hidden, there[b].hidden)]
            for each in found:
                values = {"control": each.control, "candidate": each.candidate}
                yield Divergence(**place, **values, kind=Kind.CHANGED, path=each.path)
        elif a is not None:
            differ.alone(0, here[a])
            value = bounded(here[a].value)
            if a in moved:
                place["candidate_index"] = moved[a]
                yield Divergence(**place, kind=Kind.ORDER, control=value, candidate=value)
            else:
                yield Divergence(**place, kind=Kind.MISSING, control=value)
        elif b is not None:
            differ.alone(1, there[b])
            if b not in came_from:
                yield Divergence(**place, kind=Kind.EXTRA, candidate=bounded(there[b].value))


def _moved(pairs: Sequence[Pair], here: Sequence[Item], there: Sequence[Item]) -> dict[int, int]:
    """Items of the control that the candidate has at another place, with that place."""
    free: dict[bytes, list[int]] = {}
    for a, b in pairs:
        if a is None and b is not None:
            free.setdefault(there[b].digest, []).append(b)
    moved = {}
    for a, b in pairs:
        if b is None and a is not None and free.get(here[a].digest):
            moved[a] = free[here[a].digest].pop(0)
    return moved
