"""The search itself: which revision is the first that is red? Git counts, somebody else judges.

A history is no list where it has merges. Git knows how to halve one (`git rev-list --bisect-all`),
so the search is: ask it for what is left, most informative first, judge that, tell it the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Found", "Judged", "Light", "search"]


class Light(StrEnum):
    """What a revision is."""

    GREEN = "green"
    RED = "red"
    SKIPPED = "skipped"
    """It cannot be told: the revision cannot be traced, or nothing can be decided."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A revision, and what it was found to be."""

    commit: str
    light: Light
    why: str = ""
    """For one that was skipped, or red: in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The end of a search."""

    commit: str
    """The earliest revision known to be red."""
    green: str
    """The latest one known to be green."""
    suspects: tuple[str, ...] = ()
    """Skipped revisions that could be the first red one as well; none: `commit` is."""
    judged: tuple[Judged, ...] = ()
    """All that were looked at, in order."""


def search(
    bad: str,
    good: str,
    left: Callable[[str, Sequence[str]], Sequence[str]],
    judge: Callable[[str], Judged],
) -> Found:
    """Find the first red revision after `good`, which is green, up to `bad`, which is red.

    Args:
        bad: A red commit.
        good: A green commit that it comes from.
        left: The commits that `bad` has and the green ones have not, `bad` among them, the most
            informative first.
        judge: Looks at one. Called at most once for each.
    """
    greens = [good]
    judged: dict[str, Judged] = {}
    while True:
        candidates = [commit for commit in left(bad, greens) if commit != bad]
        fresh = [commit for commit in candidates if commit not in judged]
        if not fresh:
            return Found(
                commit=bad,
                green=greens[-1],
                suspects=tuple(candidates),
                judged=tuple(judged.values()),
            )
        # Whoever stands beside one that cannot be told often cannot either: spread out then.
        away = _spread(len(candidates) - len(fresh))
        seen = judge(fresh[int(away * len(fresh))])
        judged[seen.commit] = seen
        if seen.light is Light.RED:
            bad = seen.commit
        elif seen.light is Light.GREEN:
            greens.append(seen.commit)


def _spread(number: int) -> float:
    """The `number`-th of 0, 1/2, 1/4, 3/4, 1/8, …: each far from all before it, below 1."""
    found, weight = 0.0, 0.5
    while number:
        found += weight * (number & 1)
        number >>= 1
        weight /= 2
    return found
