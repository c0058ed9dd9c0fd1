"""Masks: as long as the secret, and recognisable."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from services.redaction.kinds import Found

__all__ = ["MASK", "is_masked", "is_placeholder", "masked", "with_masks"]

MASK: Final = "REDACTED"
"""How the mask of anything that is long enough begins; the rest is filled with `x`."""
_FILLERS: Final = ("x", "\u00d7", "\u203b", "\U0001d5eb")
"""Of one, two, three and four bytes in UTF-8."""
_MASKED: Final = re.compile(rf"(?:{MASK})?[{''.join(_FILLERS)}\r\n]*\Z")
_STANDS_FOR: Final = re.compile(
    r"(?i)(?:your|my|the|some|an?|insert|put|change|test|fake|dummy|sample|example)[-_ ]"
    r"|[<$\{%]|\.\.\.|…|placeholder|changeme|(?:none|null|undefined|true|false)\Z"
)
_REPEATED: Final = 2
_LONG: Final = 12
"""From here on the first characters may be a key's fixed beginning: `AIzaSyXXXXXX`."""


def masked(value: str) -> str:
    """The mask of `value`: as many characters and UTF-8 bytes, lines where they were."""
    if value.isascii() and "\n" not in value and "\r" not in value:
        if len(value) < len(MASK):
            return "x" * len(value)
        return MASK + "x" * (len(value) - len(MASK))
    head = MASK if len(value) >= len(MASK) and value[: len(MASK)].isascii() else ""
    return head + "".join(map(_filler, value[len(head) :]))


def with_masks(text: str, found: Iterable[Found]) -> str:
    """`text` with masks at places that are in order and apart."""
    pieces, end = [], 0
    for one in found:
        pieces += [text[end : one.start], masked(text[one.start : one.end])]
        end = one.end
    return "".join([*pieces, text[end:]])


def _filler(character: str) -> str:
    """One character of as many UTF-8 bytes; line ends stay."""
    if character in "\r\n":
        return character
    code = ord(character)
    return _FILLERS[(code >= 0x80) + (code >= 0x800) + (code >= 0x10000)]


def is_masked(value: str) -> bool:
    """Whether `value` is a mask already."""
    return _MASKED.match(value) is not None


def is_placeholder(value: str) -> bool:
    """Whether `value` only stands for a secret, as examples in documentation do."""
    return (
        is_masked(value)
        or _STANDS_FOR.match(value) is not None
        or len(set(value)) <= _REPEATED
        or (len(value) >= _LONG and len(set(value[6:])) <= _REPEATED)
        or "redacted" in value.lower()
    )
