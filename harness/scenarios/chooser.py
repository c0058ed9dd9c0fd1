"""`Chooser`: makes every decision of the grammar.

The grammar draws only whole numbers in ranges, and does not know Hypothesis. So a scenario is a
list of small numbers, which Hypothesis can mutate and shrink. 0 is always the plainest choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

__all__ = ["Chooser"]

T = TypeVar("T")

_PER_MILLE = 1000


class Chooser:
    """Makes choices, weighted by a profile. Options are written plainest first."""

    def __init__(
        self,
        whole: Callable[[int, int], int],
        weights: Mapping[str, Mapping[str, int]] | None = None,
    ) -> None:
        """Draw by `whole(low, high)`, both ends included.

        `weights` overrides weights: choice → option → weight. Weight 0 excludes an option.
        """
        self._whole = whole
        self._weights = weights or {}

    def draws(self, feature: str) -> bool:
        """Whether a scenario may need this feature; profiles exclude some under `features`."""
        return self._weights.get("features", {}).get(feature, 1) > 0

    def whole(self, low: int, high: int) -> int:
        """A whole number, `low` and `high` included; `low` is the plainest."""
        return low if low == high else self._whole(low, high)

    def among(self, options: Sequence[T]) -> T:
        """One of `options`, all equally likely; the first is the plainest."""
        return options[self.whole(0, len(options) - 1)]

    def chance(self, name: str, per_mille: int) -> bool:
        """True `per_mille` times in a thousand; profiles override that under `chances`."""
        wanted = self._weights.get("chances", {}).get(name, per_mille)
        if wanted <= 0:
            return False
        return self.whole(0, _PER_MILLE - 1) >= _PER_MILLE - wanted

    def times(self, name: str, most: int, per_mille: int) -> Iterator[int]:
        """0, 1, 2 … while `chance` is true, at most `most` times."""
        for index in range(most):
            if not self.chance(name, per_mille):
                return
            yield index

    def option(self, name: str, options: Mapping[str, int]) -> str:
        """One of the names in `options`, by weight; profiles may override the weights."""
        changed = self._weights.get(name, {})
        weights = {option: changed.get(option, weight) for option, weight in options.items()}
        place = self.whole(0, sum(weights.values()) - 1)
        for option, weight in weights.items():
            place -= weight
            if place < 0:
                return option
        raise AssertionError("the weights of a choice add up to what was drawn from")
