"""Finds where two requests differ, without building the contents of every request.

Requests are stored as differences. The differ walks both sides' requests in order and keeps the
projected contents of each lineage. Of a request it compares only the contents that no earlier
request has compared, so that the cost follows the new contents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from harness.canonical import canonical
from harness.parity.diff import Difference, bounded, differences
from harness.parity.divergence import ABSENT
from harness.parity.items import Item
from harness.replay.observation import Observation
from services.wire import Content

__all__ = ["RequestDiffer"]

_Lineage = tuple[str, str]
"""The role and the thread of requests that continue each other."""


class RequestDiffer:
    """Compares requests, whose contents continue those of the request before.

    It reports a difference where it enters the conversation, not in the requests that repeat it.
    """

    def __init__(self, control: Observation, candidate: Observation) -> None:
        self._sides = (_Conversations(), _Conversations())
        self._texts = (_instructions(control), _instructions(candidate))
        self._compared: tuple[dict[_Lineage, int], ...] = ({}, {})
        """Of each side: how many leading contents of a lineage have been compared."""

    def pair(self, control: Item, candidate: Item) -> tuple[Sequence[Difference], bool]:
        """The differences, and whether the contents, which hold the hidden ids, agree."""
        here, there = self._sides[0].at(control), self._sides[1].at(candidate)
        starts, caught_up = self._starts((control, candidate))
        self._compared[0][_lineage(control)] = len(here)
        self._compared[1][_lineage(candidate)] = len(there)
        if control.digest == candidate.digest and caught_up:
            return (), True
        head, tail = _split(control, self._texts[0])
        other_head, other_tail = _split(candidate, self._texts[1])
        found: list[Difference] = []
        if canonical(head) != canonical(other_head):
            found.extend(differences(head, other_head))
        alike = caught_up and canonical(tail) == canonical(other_tail)
        if not alike:
            found.extend(_contents_differences(here, there, starts))
        return found, alike

    def alone(self, side: int, item: Item) -> None:
        """Continue one side's conversation with a request that the other does not make."""
        self._sides[side].at(item)
        compared = self._compared[side]
        compared[_lineage(item)] = min(compared.get(_lineage(item), 0), _same(item))

    def _starts(self, pair: tuple[Item, Item]) -> tuple[tuple[int, int], bool]:
        """Where to compare the contents from, and whether all before the new ones were compared.

        Where one side has rewritten contents that were compared, both are compared again.
        """
        known = [
            compared.get(_lineage(item), 0)
            for compared, item in zip(self._compared, pair, strict=True)
        ]
        kept = [min(count, _same(item)) for count, item in zip(known, pair, strict=True)]
        again = max(count - same for count, same in zip(known, kept, strict=True))
        here, there = (max(0, count - again) for count in known)
        if kept[0] == kept[1]:
            here, there = kept
        caught_up = all(
            start >= _same(item) for start, item in zip((here, there), pair, strict=True)
        )
        return ((here, there) if here and there else (0, 0)), caught_up


def _same(item: Item) -> int:
    same: int = item.value["sameAsPrevious"]
    return same


def _lineage(item: Item) -> _Lineage:
    return item.value["role"], item.value["thread"]


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


class _Conversations:
    """All lineages of one side, walked request by request."""

    def __init__(self) -> None:
        self._lineages: dict[_Lineage, list[Content]] = {}

    def at(self, request: Item) -> list[Content]:
        """The projected contents of `request`, which must be the next request of its side."""
        contents = self._lineages.setdefault(_lineage(request), [])
        contents[request.value["sameAsPrevious"] :] = request.value["newContents"]
        return contents


def _contents_differences(
    control: Sequence[Content], candidate: Sequence[Content], starts: tuple[int, int]
) -> list[Difference]:
    """The differences from the contents at `starts` on, with paths from `contents[N]`.

    Contents that one side has in addition are looked for where the two begin to differ. The path of
    such a content of the candidate has its place there, every other path the place in the control.
    """
    here, there = control[starts[0] :], candidate[starts[1] :]
    texts = [canonical(each) for each in here], [canonical(each) for each in there]
    first = _alike(*texts)
    last = _alike(*(side[first:][::-1] for side in texts))
    ends = len(here) - last, len(there) - last
    found: list[Difference] = []
    for index in range(first, max(ends)):
        where = f"contents[{index + starts[index >= ends[0]]}]"
        if index >= min(ends):
            one = bounded(here[index]) if index < ends[0] else ABSENT
            other = bounded(there[index]) if index < ends[1] else ABSENT
            found.append(Difference(path=where, control=one, candidate=other))
            continue
        found.extend(
            replace(each, path=f"{where}.{each.path}" if each.path else where)
            for each in differences(here[index], there[index])
        )
    return found


def _alike(here: Sequence[str], there: Sequence[str]) -> int:
    """How many of the first agree."""
    pairs = zip(here, there, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
