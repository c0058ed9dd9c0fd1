"""Texts of models, tools and files on a terminal: shown, never obeyed."""

from __future__ import annotations

import re
from typing import Final

from surfaces.headless.streams import strip_ansi

__all__ = ["inert", "inert_line"]

_CONTROLS: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_TAB_WIDTH: Final = 4


def inert(text: str) -> str:
    """`text` without terminal sequences, control characters and changes of direction."""
    plain = strip_ansi(text).replace("\r\n", "\n")
    # A carriage return begins the line anew: only its last state is to be seen.
    if "\r" in plain:
        plain = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in plain.split("\n"))
    return _CONTROLS.sub("", plain).expandtabs(_TAB_WIDTH)


def inert_line(text: str) -> str:
    """The same in one line."""
    return " ".join(inert(text).split())
