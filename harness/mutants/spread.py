"""An order of runs in which each adds what those before it have not executed.

A mutant runs a bounded number of times, and most modules are executed by every case in the same
way. Cases that differ elsewhere (they run hooks, compress, resume) are then the ones that may show
the mutant. The order is the greedy cover of all lines for the time that it takes; when everything
is covered, the cover of what is left begins anew.
See V. Chvatal, "A greedy heuristic for the set-covering problem", Mathematics of Operations
Research 4(3), 1979.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Final

from harness.mutants.reach import Lines

__all__ = ["FIXED_S", "spread"]

FIXED_S: Final = 0.02
"""What a run costs besides what it took when it was measured."""


def spread(runs: Sequence[tuple[Lines, float]]) -> list[int]:
    """The numbers of runs, with their lines and seconds, in that order."""
    masks = list(_masks([lines for lines, _ in runs]))
    costs = [seconds + FIXED_S for _, seconds in runs]
    order: list[int] = []
    left = set(range(len(runs)))
    while left:
        found = list(_cover({number: masks[number] for number in left}, costs))
        order += found
        left.difference_update(found)
    return order


def _cover(masks: dict[int, int], costs: Sequence[float]) -> Iterator[int]:
    """Yield runs until none adds a line. At least one is yielded."""
    covered = 0
    heap = [(-mask.bit_count() / costs[number], number) for number, mask in masks.items()]
    heapq.heapify(heap)
    first = True
    while heap:
        _, number = heapq.heappop(heap)
        adds = masks[number] & ~covered
        worth = (-adds.bit_count() / costs[number], number)
        # What a run adds only gets less, so that an estimate which is still the best is right.
        if heap and worth > heap[0]:
            heapq.heappush(heap, worth)
        elif adds or first:
            first = False
            covered |= adds
            yield number
        else:
            return


def _masks(runs: Sequence[Lines]) -> Iterator[int]:
    """One number for all lines of a run: the lines of each file have bits of their own."""
    sizes: dict[str, int] = {}
    for lines in runs:
        for file, bits in lines.items():
            sizes[file] = max(sizes.get(file, 0), (bits.bit_length() + 7) // 8)
    for lines in runs:
        whole = b"".join(lines.get(file, 0).to_bytes(size, "big") for file, size in sizes.items())
        yield int.from_bytes(whole, "big")
