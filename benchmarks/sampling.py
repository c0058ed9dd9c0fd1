"""Taking CPU time of several subjects in turn, so that a busy machine disturbs them alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

__all__ = ["BLOCK", "Samples", "Subject", "across", "gc_paused", "median_of", "sample", "typical"]

BLOCK: Final = 4
"""Turns of one subject that are measured in a row."""

Samples = Mapping[str, Sequence[float]]
"""Subject to its samples, seconds of CPU."""


class Subject(Protocol):
    """Something that does the same small thing again and again."""

    async def turn(self) -> None:
        """Do it once."""
        ...


@contextmanager
def gc_paused() -> Iterator[None]:
    """Collect now, and not again before the end, so that no turn pays for a collection."""
    gc.collect()
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


async def sample(
    subjects: Mapping[str, Subject], *, visits: int, block: int = BLOCK
) -> dict[str, list[float]]:
    """CPU seconds of single turns, `visits` times `block` of each subject.

    Every visit begins with another subject, and with one turn that does not count: it finds the
    processor's caches full of somebody else's work, which no conversation of its own would.
    """
    taken: dict[str, list[float]] = {name: [] for name in subjects}
    order = list(subjects)
    with gc_paused():
        for _ in range(visits):
            for name in order:
                subject = subjects[name]
                await subject.turn()
                for _ in range(block):
                    begun = time.process_time()
                    await subject.turn()
                    taken[name].append(time.process_time() - begun)
            order = [*order[1:], order[0]]
    return taken


def typical(samples: Samples) -> dict[str, float]:
    """Each subject's lower quartile: what disturbs a turn only ever makes it longer."""
    return {name: sorted(values)[len(values) // 4] for name, values in samples.items()}


def median_of(repeats: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The median over repeats, name by name; a name is in all of them or in none."""
    return {name: statistics.median(each[name] for each in repeats) for name in repeats[0]}


def across(
    repeats: Sequence[Mapping[str, float]], value: Callable[[Mapping[str, float]], float]
) -> tuple[float, str]:
    """The median of `value` over repeats, and how far it went: `1.01 to 1.12 in 5`.

    A ratio is taken within each repeat, where all subjects had the same machine to themselves.
    """
    found = [value(each) for each in repeats]
    spread = f"{min(found):.2f} to {max(found):.2f} in {len(found)}" if len(found) > 1 else ""
    return statistics.median(found), spread
