"""What two conversations have in common: the one comparison that looks at whole histories."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from services.wire import Content

__all__ = ["shared_prefix"]


def shared_prefix(before: Sequence[Content], now: Sequence[Content]) -> int:
    """How many leading contents two conversations share.

    Whole stretches are compared at once, where the same objects cost a pointer each; only a
    conversation that was rewritten is searched for the place.
    """
    length = len(before)
    if length <= len(now) and before == now[:length]:
        return length
    length = min(length, len(now))
    if before[:length] == now[:length]:
        return length
    return next(index for index in count() if before[index] != now[index])
