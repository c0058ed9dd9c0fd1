"""Values per content of a history, computed once although the history is replaced often.

Masking replaces a few of the newest contents. All before them stay the same objects, and their
values stay valid: contents are never changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Generic, TypeVar

from services.wire import Content

__all__ = ["PerContent", "shared_prefix", "shared_stack"]

T = TypeVar("T")


def shared_prefix(old: Sequence[Content], new: Sequence[Content]) -> int:
    """How many of the first objects both share."""
    differs = bytes(map(is_, old, new)).find(0)
    return min(len(old), len(new)) if differs < 0 else differs


def shared_stack(old: Sequence[Content], new: Sequence[Content]) -> int:
    """The same, for a history that grows and shrinks at its end alone.

    A removed content never comes back, so the search begins at the end.
    """
    for index in range(min(len(old), len(new)), 0, -1):
        if old[index - 1] is new[index - 1]:
            return index
    return 0


class PerContent(Generic[T]):
    """A value for each content of a history, kept for the contents that the next one shares.

    Holds the contents of the latest history only.
    """

    def __init__(self, make: Callable[[Content], T]) -> None:
        self._make = make
        self._contents: list[Content] = []
        self._values: list[T] = []

    def of(self, contents: Sequence[Content]) -> Sequence[T]:
        """The values of `contents`, in order; valid until the next call."""
        known = shared_prefix(self._contents, contents)
        self._values[known:] = map(self._make, contents[known:])
        self._contents = list(contents)
        return self._values
