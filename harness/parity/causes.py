"""Which of a case's differences is the first cause: what explains the others.

Three things are done one after the other while a run lasts, and are taken down when they happen:
questions to the model, retries and changes of model or mode, calls of tools. Of these the earliest
explains the later ones, whatever sort it is. What is looked at when the run is over, and what the
client is told, follows from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from harness.parity.divergence import ChannelName, Divergence, Kind

__all__ = ["first_cause_at"]

_ORDER: Final = tuple(ChannelName)
_IN_TIME: Final = frozenset(
    {ChannelName.REQUESTS, ChannelName.PROVIDER, ChannelName.RETRIES, ChannelName.TOOL_STATES}
)


def first_cause_at(
    divergences: Iterable[tuple[int, Divergence]], rows: Mapping[int, int]
) -> int | None:
    """The index of the first cause among `divergences`; `None` without any.

    Args:
        divergences: Each with its index.
        rows: The row of the timelines in which each shows, as far as known. Without it the order
            of the channels decides: a different question explains everything that comes after it,
            a different event explains nothing.
    """

    def rank(each: tuple[int, Divergence]) -> tuple[int, int, int, int]:
        index, found = each
        channel = _ORDER.index(found.channel)
        if found.kind is Kind.REPLAY:
            return (1, 0, channel, index)
        if found.channel in _IN_TIME and rows:
            return (0, rows.get(index, len(_ORDER) + max(rows.values())), channel, index)
        return (0 if found.channel in _IN_TIME else 2, 0, channel, index)

    return min(divergences, key=rank, default=(None, None))[0]
