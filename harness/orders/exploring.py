"""Which orders are tried: all of them where they are few, else those with few preemptions first.

Stateless search, as in systematic concurrency testing: a run of the control under an order shows
what else was ready at each choice; each of those is the beginning of another order. Source:
Musuvathi et al., "Finding and Reproducing Heisenbugs in Concurrent Programs", OSDI 2008 (CHESS),
and Emmi, Qadeer, Rakamarić, "Delay-Bounded Scheduling", POPL 2011.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from harness.orders.order import Choice, Order, preempts
from harness.orders.places import Place

__all__ = ["Explorer"]

_Entry = tuple[int, int, int, tuple[Place, ...]]


@dataclass(slots=True)
class Explorer:
    """Says which order comes next; takes after each what could have gone otherwise."""

    most: int
    """How many orders at the most."""
    chunks: bool = False
    """Whether chunks after the first are places of their own."""
    begin: tuple[Place, ...] = ()
    """What goes first in every order."""
    tried: int = 0
    _left: list[_Entry] = field(init=False)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self._left = [(0, 0, 0, self.begin)]

    @property
    def exhaustive(self) -> bool:
        """Whether nothing is left to try."""
        return not self._left

    def orders(self, run: Callable[[Order, int], Sequence[Choice] | None]) -> None:
        """Give `run` one order after the other, with the number of preemptions in it.

        It returns the choices of the control's run, or `None` where that left the order: what
        would follow from it belongs to another one.
        """
        while self._left and self.tried < self.most:
            cost, _, _, places = heapq.heappop(self._left)
            self.tried += 1
            choices = run(Order(places, self.chunks), cost)
            if choices is not None:
                self._branch(choices, len(places))

    def _branch(self, choices: Sequence[Choice], begun: int) -> None:
        """Everything that could have gone on instead, at each choice that was not given."""
        cost, last = 0, None
        for at, choice in enumerate(choices):
            if at >= begun and self._of_concern(choice):
                went = tuple(each.chosen for each in choices[:at])
                for other in choice.ready:
                    if other != choice.chosen:
                        more = cost + preempts(other, choice.ready, last)
                        entry = (more, at, next(self._numbers), (*went, other))
                        heapq.heappush(self._left, entry)
            cost += preempts(choice.chosen, choice.ready, last)
            last = choice.chosen.path

    def _of_concern(self, choice: Choice) -> bool:
        """Whether a choice is one of this level: those of answers alone were tried before."""
        return not self.chunks or any(place.kind == "chunk" for place in choice.ready)
