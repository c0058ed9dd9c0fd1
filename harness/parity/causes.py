"""Finds the first cause: the difference of a case that explains the others.

A run records requests, retries (with changes of model or mode) and tool calls as they happen. The
earliest difference among these explains the later ones. The events of the client, and what is read
after the run, follow from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from harness.parity.channel import When
from harness.parity.channels import CHANNELS, channel_of
from harness.parity.divergence import ChannelName, Divergence, Kind

__all__ = ["IN_TIME", "first_cause_at", "in_order"]

_ORDER: Final = tuple(ChannelName)
IN_TIME: Final = frozenset(each.name for each in CHANNELS if each.when is When.AS_IT_HAPPENS)
"""Channels whose items are recorded as they happen."""
Times = Mapping[tuple[ChannelName, int], tuple[int, int]]
"""Channel and index of an item → when it happened."""


def first_cause_at(
    divergences: Iterable[tuple[int, Divergence]], causes: Sequence[int] = ()
) -> int | None:
    """The index of the first cause among the numbered `divergences`; `None` without any.

    `causes` has the indices of divergences in the order in which they happened, as far as known
    (`Timelines.causes`). Otherwise the order of the channels decides: a differing request explains
    everything after it, a differing event explains nothing.
    """
    at = {index: number for number, index in enumerate(causes)}

    def rank(each: tuple[int, Divergence]) -> tuple[int, int, int, int]:
        index, found = each
        channel = _ORDER.index(found.channel)
        if found.kind is Kind.REPLAY:
            return (2, 0, channel, index)  # follows from what the runs did
        if found.channel in IN_TIME:
            return (0, at.get(index, len(at)), channel, index)
        return (1, 0, channel, index)

    return min(divergences, key=rank, default=(None, None))[0]


def in_order(divergences: Sequence[Divergence], times: tuple[Times, Times]) -> list[int]:
    """Indices of the divergences in the channels `IN_TIME`, the earliest first.

    `times` has for each side when each item happened. Both sides do the same until the first
    difference, so the item that either side did first is the first difference.
    """
    found: list[tuple[tuple[int, int], bool, tuple[int, int], int, int]] = []
    for index, each in enumerate(divergences):
        if each.channel not in IN_TIME or each.kind in (Kind.REPLAY, Kind.NONDETERMINISTIC):
            continue
        remarks_on = channel_of(each.channel).remarks_on
        channel = remarks_on or each.channel
        places = (each.control_index, each.candidate_index)
        known = [
            side[channel, place]
            for side, place in zip(times, places, strict=True)
            if place is not None and (channel, place) in side
        ]
        if known:
            # A remark on a request is no earlier than the request itself.
            remark = remarks_on is not None
            found.append((min(known), remark, max(known), _ORDER.index(each.channel), index))
    return [index for *_, index in sorted(found)]
