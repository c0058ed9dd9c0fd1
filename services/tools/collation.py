"""Sorts names as `String.prototype.localeCompare` does for en-US.

An approximation of the Unicode root collation that is exact for ASCII and for Latin letters with
accents: base letters first, then accents, then case (lower before upper).
"""

from __future__ import annotations

import unicodedata
from typing import Final

__all__ = ["collation_key"]

_BEFORE_DIGITS: Final = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
_ACCENTS: Final = "\u0301\u0300\u0306\u0302\u030c\u030a\u0308\u030b\u0303\u0307\u0327\u0328\u0304"
_ACCENT_RANK: Final = {accent: chr(index) for index, accent in enumerate(_ACCENTS)}
"""The order of accents on one letter; others come after these."""
_RANK: Final = {character: index for index, character in enumerate(_BEFORE_DIGITS)}

CollationKey = tuple[tuple[tuple[int, str], ...], tuple[str, ...], tuple[bool, ...], str]


def collation_key(text: str) -> CollationKey:
    """A sort key for `text`."""
    primary: list[tuple[int, str]] = []
    accents: list[str] = []
    cases: list[bool] = []
    for character in unicodedata.normalize("NFD", text):
        if unicodedata.combining(character):
            if accents:
                accents[-1] += _ACCENT_RANK.get(character, character)
            continue
        if character < " ":
            continue
        for letter in character.casefold():
            rank = _RANK.get(letter)
            primary.append((rank, "") if rank is not None else (len(_RANK), letter))
            accents.append("")
            cases.append(character != character.lower())
    return tuple(primary), tuple(accents), tuple(cases), text
