"""Finds where two requests differ, without building the contents of every request.

Requests are stored as differences. The differ walks both sides' requests in order and keeps for
each lineage the projected contents with a hash of each prefix; a bisection over these hashes finds
the first differing content.
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
    """Compares requests, whose contents continue those of the request before.

    It reports a difference where it enters the conversation, not in the requests that repeat it.
    """

    def __init__(self, control: Observation, candidate: Observation) -> None:
        self._sides = (_Conversations(), _Conversations())
        self._texts = (_instructions(control), _instructions(candidate))

    def pair(self, control: Item, candidate: Item) -> tuple[Sequence[Difference], bool]:
        """The differences, and whether the contents, which hold the hidden ids, agree."""
        here, there = self._sides[0].at(control), self._sides[1].at(candidate)
        if control.digest == candidate.digest:
            return (), True
        head, tail = _split(control, self._texts[0])
        other_head, other_tail = _split(candidate, self._texts[1])
        found: list[Difference] = []
        if canonical(head) != canonical(other_head):
            found.extend(differences(head, other_head))
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
    """A request without contents, its system instruction as text; and its contents."""
    head = dict(item.value)
    tail = [head.pop("sameAsPrevious"), head.pop("newContents")]
    # An unknown digest is a placeholder: it stays, so that a lone instruction shows.
    instruction = head["systemInstruction"]
    head["systemInstruction"] = texts.get(instruction, instruction)
    return head, tail


class _Conversation:
    """The projected contents of a lineage's latest request."""

    def __init__(self) -> None:
        self.contents: list[Content] = []
        self.chain: list[bytes] = []

    def advance(self, same: int, new: list[Content]) -> None:
        """Keep `same` leading contents and append `new`."""
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
        """The conversation in `request`, which must be the next request of its side."""
        value: dict[str, Any] = request.value
        lineage = self._lineages.setdefault((value["role"], value["thread"]), _Conversation())
        lineage.advance(value["sameAsPrevious"], value["newContents"])
        return lineage


def _contents_differences(control: _Conversation, candidate: _Conversation) -> list[Difference]:
    """The differences in the first differing content, with paths from `contents[N]`."""
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
