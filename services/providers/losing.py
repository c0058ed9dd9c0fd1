"""Named rules for what a provider's format cannot carry.

A rule is a function that returns its argument without that, and its docstring is the reason. A rule
that changes nothing returns its argument itself. What all rules of a provider leave is carried
there and back exactly, which tests/services/providers checks on generated messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["described", "reduced"]

T = TypeVar("T")


def reduced(value: T, rules: Iterable[Callable[[T], T]], fired: Counter[str] | None = None) -> T:
    """Apply `rules` in order; count in `fired` those that changed something, by name."""
    for rule in rules:
        changed = rule(value)
        if fired is not None and changed is not value and changed != value:
            fired[rule.__name__] += 1
        value = changed
    return value


def described(rule: Callable[..., object]) -> str:
    """Return the reason of a rule as one paragraph, for the docs."""
    return " ".join((rule.__doc__ or "").split())
