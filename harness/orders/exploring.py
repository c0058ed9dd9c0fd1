"""Chooses the orders to try: all if they are few, else those with few preemptions first.

It is a stateless search, as in systematic concurrency testing: the control's run under an order
shows what else was ready at each choice, and each alternative begins another order. Source:
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
    """Yields orders to run, and adds the alternatives that each run shows."""

    most: int
    """The most orders to try."""
    chunks: bool = False
    """Whether chunks after the first are places of their own."""
    begin: tuple[Place, ...] = ()
    """The places with which every order begins."""
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
        """Call `run` with one order after the other and its number of preemptions.

        It returns the choices of the control's run, or `None` if that run left the order.
        """
        while self._left and self.tried < self.most:
            cost, _, _, places = heapq.heappop(self._left)
            self.tried += 1
            choices = run(Order(places, self.chunks), cost)
            if choices is not None:
                self._branch(choices, len(places))

    def _branch(self, choices: Sequence[Choice], begun: int) -> None:
        """Add an order for each alternative, at each choice after the `begun` given ones."""
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
        """Whether this search branches at a choice: with chunks, only where one is ready."""
        return not self.chunks or any(place.kind == "chunk" for place in choice.ready)
