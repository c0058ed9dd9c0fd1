"""The exact, one-sided lower confidence bound of a proportion.

Source: Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of
the binomial", Biometrika 26, 1934.
"""

from __future__ import annotations

import math
from typing import Final

__all__ = ["lower_bound"]

_HALVINGS: Final = 60
"""After these an interval of length 1 is narrower than the precision of doubles."""


def lower_bound(found: int, tried: int, confidence: float = 0.95) -> float:
    """Return the lower confidence bound of a proportion after `found` hits in `tried` tries.

    It is the proportion at which `found` or more hits have the probability `1 - confidence`.

    Raises:
        ValueError: no such counts, or a confidence that is not between 0 and 1.
    """
    if not 0 <= found <= tried:
        raise ValueError(f"{found} of {tried} is no count of findings")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence}")
    if found == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _at_least(found, tried, middle) < 1 - confidence:
            low = middle
        else:
            high = middle
    return low


def _at_least(found: int, tried: int, chance: float) -> float:
    """Probability of `found` or more hits in `tried` independent tries of that chance."""
    if chance in (0, 1):
        return chance
    hit, miss, all_ways = math.log(chance), math.log1p(-chance), math.lgamma(tried + 1)
    # By logarithms: from 1,030 tries on, there are more ways than a float can hold.
    return math.fsum(
        math.exp(
            all_ways
            - math.lgamma(hits + 1)
            - math.lgamma(tried - hits + 1)
            + hits * hit
            + (tried - hits) * miss
        )
        for hits in range(found, tried + 1)
    )
