"""Which of a case's differences is the first cause: what explains the others.

Three things are done one after the other while a run lasts, and are taken down when they happen:
questions to the model, retries and changes of model or mode, calls of tools. Of these the earliest
explains the later ones, whatever sort it is. What is looked at when the run is over, and what the
client receives, follows from them.
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
"""Channels whose items are taken down as they happen."""
Times = Mapping[tuple[ChannelName, int], tuple[int, int]]
"""Channel and index of an item to when it happened."""


def first_cause_at(
    divergences: Iterable[tuple[int, Divergence]], causes: Sequence[int] = ()
) -> int | None:
    """The index of the first cause among `divergences`; `None` without any.

    Args:
        divergences: Each with its index.
        causes: Indices of divergences in the order in which they happened, as far as known
            (`Timelines.causes`). Without them the order of the channels decides: a different
            question explains everything that comes after it, a different event explains nothing.
    """
    at = {index: number for number, index in enumerate(causes)}

    def rank(each: tuple[int, Divergence]) -> tuple[int, int, int, int]:
        index, found = each
        channel = _ORDER.index(found.channel)
        if found.kind is Kind.REPLAY:
            return (2, 0, channel, index)  # how the replay took what the runs did
        if found.channel in IN_TIME:
            return (0, at.get(index, len(at)), channel, index)
        return (1, 0, channel, index)

    return min(divergences, key=rank, default=(None, None))[0]


def in_order(divergences: Sequence[Divergence], times: tuple[Times, Times]) -> list[int]:
    """Indices of what differs among things taken down as they happened, the earliest first.

    Args:
        divergences: All of a case.
        times: For each side when each of its items happened. Until the first difference both
            sides do the same, so what either side did first is the first difference.
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
