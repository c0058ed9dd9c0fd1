"""Where two requests differ; their contents are compared without ever being built whole.

Requests are kept as differences from the one before. Walking both sides' requests in order, this
keeps, for each lineage, the projected contents and a hash of each prefix: equal tails mean equal
contents, and a bisection finds the first differing one.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from harness.canonical import canonical
from harness.parity.diff import Difference, bounded, differences
from harness.parity.divergence import ABSENT
from harness.parity.items import Item
from harness.replay.observation import Observation
from services.wire import Content

__all__ = ["RequestDiffer"]


class RequestDiffer:
    """Requests, whose contents continue those of the request before.

    A difference is reported where it enters the conversation; the requests that merely carry it
    along are not reported again.
    """

    def __init__(self, control: Observation, candidate: Observation) -> None:
        self._sides = (_Conversations(), _Conversations())
        self._texts = (_instructions(control), _instructions(candidate))

    def pair(self, control: Item, candidate: Item) -> tuple[Sequence[Difference], bool]:
        """What differs, and whether the contents agree: ids stand in those."""
        here, there = self._sides[0].at(control), self._sides[1].at(candidate)
        if control.digest == candidate.digest:
            return (), True
        head, tail = _split(control, self._texts[0])
        other_head, other_tail = _split(candidate, self._texts[1])
        found: list[Difference] = []
        if canonical(head) != canonical(other_head):
            found.extend(differences(head, other_head))
        # Ids stand in the contents: those are compared also where, say, one tool more is declared.
        alike = canonical(tail) == canonical(other_tail)
        if not alike:
            found.extend(_contents_differences(here, there))
        return found, alike

    def alone(self, side: int, item: Item) -> None:
        """Continue one side's conversation with a request that the other does not make."""
        self._sides[side].at(item)


def _instructions(seen: Observation) -> dict[str | None, str | None]:
    return {
        request.system_digest: seen.paths.mask_text(request.system_instruction)
        for request in seen.requests
        if request.system_instruction is not None
    }


def _split(item: Item, texts: Mapping[str | None, str | None]) -> tuple[dict[str, Any], list[Any]]:
    """A request without its contents but with its system instruction as text; and the contents."""
    head = dict(item.value)
    tail = [head.pop("sameAsPrevious"), head.pop("newContents")]
    # A placeholder stands for itself: an instruction on one side only must show.
    instruction = head["systemInstruction"]
    head["systemInstruction"] = texts.get(instruction, instruction)
    return head, tail


class _Conversation:
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


class _Conversations:
    """All lineages of one side, walked request by request."""

    def __init__(self) -> None:
        self._lineages: dict[tuple[str, str], _Conversation] = {}

    def at(self, request: Item) -> _Conversation:
        """The conversation as it stands in `request`, which must be the next one of its side."""
        value: dict[str, Any] = request.value
        lineage = self._lineages.setdefault((value["role"], value["thread"]), _Conversation())
        lineage.advance(value["sameAsPrevious"], value["newContents"])
        return lineage


def _contents_differences(control: _Conversation, candidate: _Conversation) -> list[Difference]:
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
