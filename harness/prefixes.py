"""Finds the common prefix of two conversations, the only comparison of whole histories."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from services.wire import Content

__all__ = ["shared_prefix"]


def shared_prefix(before: Sequence[Content], now: Sequence[Content]) -> int:
    """Return the number of leading contents that two conversations share.

    Whole prefixes are compared at once, which is fast for identical objects. Only if they differ
    are the contents compared one by one.
    """
    length = len(before)
    if length <= len(now) and before == now[:length]:
        return length
    length = min(length, len(now))
    if before[:length] == now[:length]:
        return length
    return next(index for index in count() if before[index] != now[index])
