"""`Order`: the order in which places are released, and `Schedule`: an order imposed on a run.

Of several ready places the one that comes first in the order is chosen. Without one in the order,
the work that went last goes on as long as it can, then the first by path. Releasing another place
while the last work could go on is a *preemption*. Few preemptions show most faults, so orders with
few are tried first. Source: Musuvathi and Qadeer, "Iterative Context Bounding for Systematic
Testing of Multithreaded Programs", PLDI 2007.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.orders.places import Path, Place, nearness

__all__ = ["Choice", "Order", "Schedule", "left_at", "preempts"]


@dataclass(frozen=True, slots=True)
class Choice:
    """A released place, and the ready ones among which it was chosen, sorted."""

    chosen: Place
    ready: tuple[Place, ...]

    @property
    def free(self) -> bool:
        """Whether several places were ready."""
        return len(self.ready) > 1


@dataclass(frozen=True, slots=True)
class Order:
    """The places with which an order begins; the default order is empty."""

    places: tuple[Place, ...] = ()
    chunks: bool = False
    """Whether chunks after the first are held, too."""


def preempts(chosen: Place, ready: Iterable[Place], last: Path | None) -> bool:
    """Whether a ready place is nearer to the `last` released path than `chosen` is."""
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
        """The next place of `ready`, which is not empty."""
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
        """The places released so far, in order."""
        return tuple(choice.chosen for choice in self.choices)

    @property
    def missed(self) -> str | None:
        """A message on where the run left the order; `None` if it followed it."""
        return left_at(self.order.places, self.went)


def left_at(wanted: Sequence[Place], went: Sequence[Place]) -> str | None:
    """A message on the first place where `went` does not follow `wanted`; `None` if it does."""
    for place, instead in zip(wanted, went, strict=False):
        if place != instead:
            return f"{place} was next, but {instead} continued"
    if len(went) < len(wanted):
        return f"{wanted[len(went)]} was next, but did not occur"
    return None
