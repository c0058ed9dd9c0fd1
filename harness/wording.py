"""Shared parts of messages: counts, shortened lists, and suggestions for misspelt words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

__all__ = ["counted", "did_you_mean", "listed", "near_words"]

_NEAR: Final = 3
_LONG: Final = 200


def counted(count: int, noun: str) -> str:
    """Format a count with its noun: `1 case`, `2 cases`. The noun's first word takes the `s`."""
    first, _, rest = noun.partition(" ")
    return f"{count} {first}{'' if count == 1 else 's'}{' ' if rest else ''}{rest}"


def listed(names: Iterable[str], most: int = 5) -> str:
    """Join the first few names, and the number of the others."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def near_words(word: str, known: Iterable[str]) -> list[str]:
    """Return the known words that resemble a misspelt one, the nearest first."""
    words = list(known)
    if word in words:
        return [word]
    # A much longer word resembles no known word, and the comparison is slow.
    return get_close_matches(word, words, n=_NEAR) if len(word) < _LONG else []


def did_you_mean(near: Sequence[str], otherwise: str) -> str:
    """Return the advice of an error: the nearest words, or the given advice."""
    if not near:
        return otherwise
    *others, last = near
    return f"did you mean {', '.join(others)} or {last}?" if others else f"did you mean {last}?"
