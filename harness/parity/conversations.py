"""Where two requests' contents begin to differ, without ever building the contents whole.

Requests are kept as differences from the one before. Walking both sides' requests in order, this
keeps, for each lineage, the projected contents and a hash of each prefix: equal tails mean equal
contents, and the first differing one is found by bisection.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from typing import Any

from harness.canonical import canonical
from harness.parity.diff import Difference, bounded, differences
from harness.parity.divergence import ABSENT
from harness.parity.projection import Item
from services.wire import Content

__all__ = ["Conversation", "Conversations", "contents_differences"]


class Conversation:
    """The projected contents of a lineage's latest request."""

    def __init__(self) -> None:
        self.contents: list[Content] = []
        self.chain: list[bytes] = []

    def advance(self, same: int, new: list[Content]) -> None:
        """Keep `same` leading contents and put `new` behind them."""
        del self.contents[same:], self.chain[same:]
        for content in new:
            before = self.chain[-1] if self.chain else b""
            self.contents.append(content)
            self.chain.append(hashlib.sha256(before + canonical(content).encode()).digest())


class Conversations:
    """All lineages of one side, walked request by request."""

    def __init__(self) -> None:
        self._lineages: dict[tuple[str, str], Conversation] = {}

    def at(self, request: Item) -> Conversation:
        """The conversation as it stands in `request`, which must be the next one of its side."""
        value: dict[str, Any] = request.value
        lineage = self._lineages.setdefault((value["role"], value["thread"]), Conversation())
        lineage.advance(value["sameAsPrevious"], value["newContents"])
        return lineage


def contents_differences(control: Conversation, candidate: Conversation) -> list[Difference]:
    """What differs in the first differing content, paths from `contents[N]`; empty if equal."""
    here, there = control.contents, candidate.contents
    common = min(len(here), len(there))
    # Prefix hashes agree up to a point and never after it.
    first = bisect_left(range(common), True, key=lambda n: control.chain[n] != candidate.chain[n])
    where = f"contents[{first}]"
    if first == len(here) == len(there):
        return []
    if first == len(here):
        return [Difference(path=where, control=ABSENT, candidate=bounded(there[first]))]
    if first == len(there):
        return [Difference(path=where, control=bounded(here[first]), candidate=ABSENT)]
    return [
        Difference(
            path=f"{where}.{found.path}" if found.path else where,
            control=found.control,
            candidate=found.candidate,
        )
        for found in differences(here[first], there[first])
    ]
