"""`Order`: in which order places are let go, and what was let go when.

Where several places are ready at once one is chosen. What an order says comes first; what it says
nothing of goes as it would without switching: whatever went on last goes on as long as it can, then
the first by path. Going on with another while the last could go on is a *preemption*; that few of
them show most faults is why orders are tried in the order of their number. Source: Musuvathi and
Qadeer, "Iterative Context Bounding for Systematic Testing of Multithreaded Programs", PLDI 2007.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.orders.places import Path, Place, nearness

__all__ = ["Choice", "Order", "Schedule", "left_at", "preempts"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One place was let go, out of those that were ready, which are sorted."""

    chosen: Place
    ready: tuple[Place, ...]

    @property
    def free(self) -> bool:
        """Whether there was anything to choose between."""
        return len(self.ready) > 1


@dataclass(frozen=True, slots=True)
class Order:
    """The places in the order in which they are to be let go; whatever is left follows by itself.

    The empty order is the default one.
    """

    places: tuple[Place, ...] = ()
    chunks: bool = False
    """Whether chunks after the first are places of their own."""


def preempts(chosen: Place, ready: Iterable[Place], last: Path | None) -> bool:
    """Whether `chosen` goes on although something nearer to what went on last, at `last`, could."""
    if last is None:
        return False
    return nearness(chosen.path, last) < max(nearness(place.path, last) for place in ready)


@dataclass(slots=True)
class Schedule:
    """An order being imposed on one run."""

    order: Order
    choices: list[Choice] = field(default_factory=list)
    _rank: dict[Place, int] = field(init=False)

    def __post_init__(self) -> None:
        self._rank = {place: number for number, place in enumerate(self.order.places)}

    def next(self, ready: Iterable[Place]) -> Place:
        """The one of `ready` whose turn it is; there is at least one."""
        places = sorted(ready, key=lambda place: place.sort_key)
        last = self.choices[-1].chosen.path if self.choices else ()
        unsaid = len(self._rank)

        def turn(place: Place) -> tuple[int, int]:
            return self._rank.get(place, unsaid), -nearness(place.path, last)

        chosen = min(places, key=turn)
        self.choices.append(Choice(chosen, tuple(places)))
        return chosen

    @property
    def went(self) -> tuple[Place, ...]:
        """What was let go so far, in order."""
        return tuple(choice.chosen for choice in self.choices)

    @property
    def missed(self) -> str | None:
        """Where the run left the order, in words; `None` where it followed it."""
        return left_at(self.order.places, self.went)


def left_at(wanted: Sequence[Place], went: Sequence[Place]) -> str | None:
    """Where `went` is no continuation of `wanted`, in words; `None` where it is one."""
    for place, instead in zip(wanted, went, strict=False):
        if place != instead:
            return f"it was the turn of {place}, and {instead} went on"
    if len(went) < len(wanted):
        return f"it was the turn of {wanted[len(went)]}, and it never came"
    return None
