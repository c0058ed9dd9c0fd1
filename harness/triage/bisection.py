"""The search for the first red revision.

With merges, a history is no list. Git halves it (`git rev-list --bisect-all`): the search asks git
for the remaining commits, most informative first, and judges one of them, until none is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Found", "Judged", "Light", "search"]


class Light(StrEnum):
    """The verdict on a revision."""

    GREEN = "green"
    RED = "red"
    SKIPPED = "skipped"
    """No verdict: the revision cannot be traced, or its case is inconclusive."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A revision and its verdict."""

    commit: str
    light: Light
    why: str = ""
    """Why it is red or was skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The result of a search."""

    commit: str
    """The earliest revision known to be red."""
    green: str
    """The latest one known to be green."""
    suspects: tuple[str, ...] = ()
    """Skipped revisions that could be the first red one, too; without any, `commit` is."""
    judged: tuple[Judged, ...] = ()
    """All judged revisions, in order."""


def search(
    bad: str,
    good: str,
    left: Callable[[str, Sequence[str]], Sequence[str]],
    judge: Callable[[str], Judged],
) -> Found:
    """Find the first red revision after `good`, which is green, up to `bad`, which is red.

    Args:
        bad: A red commit.
        good: A green ancestor of it.
        left: The commits of `bad` that no green commit has, with `bad`, the most informative first.
        judge: Judges a commit; called at most once for each.
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
        # The neighbours of a skipped revision are often skipped, too: look further away.
        away = _spread(len(candidates) - len(fresh))
        seen = judge(fresh[int(away * len(fresh))])
        judged[seen.commit] = seen
        if seen.light is Light.RED:
            bad = seen.commit
        elif seen.light is Light.GREEN:
            greens.append(seen.commit)


def _spread(number: int) -> float:
    """The `number`-th of 0, 1/2, 1/4, 3/4, 1/8, …: each is far from all before it."""
    found, weight = 0.0, 0.5
    while number:
        found += weight * (number & 1)
        number >>= 1
        weight /= 2
    return found
