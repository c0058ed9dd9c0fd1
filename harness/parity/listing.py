"""Which of a channel's differences are listed: enough to judge by, and no more than one can hold.

A difference that every request repeats, such as a tool that only one side declares, is listed
wherever it is, so that a waiver can be held against all of it; else a long conversation would be
cut, and diverge, for nothing but what is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from harness.canonical import canonical, sha256_hex
from harness.parity.divergence import Divergence

__all__ = ["MAX_ALIKE", "MAX_LISTED", "listed"]

MAX_LISTED: Final = 100
"""Divergences of one channel that are described; the same one at another place doesn't count."""

MAX_ALIKE: Final = 5_000
"""Divergences of one channel in all, repeated ones included."""


def listed(every: Iterator[Divergence]) -> tuple[list[Divergence], bool]:
    """The divergences that are described, and whether there are others."""
    found: list[Divergence] = []
    seen: set[str] = set()
    for each in every:
        alike = _alike(each)
        new = alike not in seen
        if len(found) >= MAX_ALIKE or (new and len(seen) >= MAX_LISTED):
            return found, True
        seen.add(alike)
        found.append(each)
    return found, False


def _alike(found: Divergence) -> str:
    """Equal for what differs in the same way at another position."""
    place = re.sub(r"\[\d+\]", "[]", found.path)
    values = [found.label, place, found.control, found.candidate]
    return sha256_hex(canonical([found.kind.value, *values]))
