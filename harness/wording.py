"""The words that messages share: counts, lists that are cut, and the nearest of known words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

__all__ = ["counted", "did_you_mean", "listed", "near_words"]

_NEAR: Final = 3
_LONG: Final = 200


def counted(count: int, noun: str) -> str:
    """A count with its noun: `1 case`, `2 cases`. Only the noun's first word takes the `s`."""
    first, _, rest = noun.partition(" ")
    return f"{count} {first}{'' if count == 1 else 's'}{' ' if rest else ''}{rest}"


def listed(names: Iterable[str], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def near_words(word: str, known: Iterable[str]) -> list[str]:
    """The known words that are nearest to a misspelt one, the nearest first."""
    words = list(known)
    if word in words:
        return [word]
    # A word of many times the length is near to none, and finding that out takes long.
    return get_close_matches(word, words, n=_NEAR) if len(word) < _LONG else []


def did_you_mean(near: Sequence[str], otherwise: str) -> str:
    """The second half of an error: the nearest words, or else what to do."""
    if not near:
        return otherwise
    *others, last = near
    return f"did you mean {', '.join(others)} or {last}?" if others else f"did you mean {last}?"
