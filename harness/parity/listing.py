"""Limits how many divergences of a channel are listed.

Repetitions of a divergence at other places, such as a tool that only one side declares in every
request, count once. So a long conversation is not cut for differences that a waiver accepts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from harness.canonical import canonical, sha256_hex
from harness.parity.divergence import Divergence

__all__ = ["MAX_ALIKE", "MAX_LISTED", "listed"]

MAX_LISTED: Final = 100
"""Listed divergences of one channel, repetitions not counted."""

MAX_ALIKE: Final = 5_000
"""Listed divergences of one channel, repetitions counted."""


def listed(every: Iterator[Divergence]) -> tuple[list[Divergence], bool]:
    """The listed divergences, and whether there are more."""
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
    """A digest that is equal for the same difference at another position."""
    place = re.sub(r"\[\d+\]", "[]", found.path)
    values = [found.label, place, found.control, found.candidate]
    return sha256_hex(canonical([found.kind.value, *values]))
