"""`Device`: what the terminal can do, as far as its environment says."""

from __future__ import annotations

import curses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

__all__ = ["Colourless", "Device"]

_FEWEST_COLOURS: Final = 8
_NO_CURSOR: Final = frozenset({"dumb", "unknown", ""})


@dataclass(frozen=True, slots=True)
class Device:
    """A terminal."""

    colours: bool = True
    """Whether it shows colours, and the user wants them (`NO_COLOR`)."""
    cursor: bool = True
    """Whether text can be written to any place of it."""

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> Device:
        """The terminal that `TERM` names. One that no database knows is taken to be capable."""
        term = variables.get("TERM", "")
        if os.name == "nt":
            return cls(colours=not variables.get("NO_COLOR"))
        colours = not variables.get("NO_COLOR") and _colours(term) != 0
        return cls(colours=colours, cursor=term not in _NO_CURSOR)


def _colours(term: str) -> int | None:
    """How many colours a terminal has; 0: too few for the screen; `None`: it is not known."""
    try:
        curses.setupterm(term, 1)
        count = curses.tigetnum("colors")
    except curses.error:
        return None
    return count if count >= _FEWEST_COLOURS else 0


class Colourless(LineFilter):
    """Leaves bold, dim, underlined and reversed text, and no colour."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments without colours."""
        return [
            Segment(text, None if style is None else _plain(style), control)
            for text, style, control in segments
        ]


@lru_cache(1024)
def _plain(style: Style) -> Style:
    return Style(
        bold=style.bold,
        dim=style.dim,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        reverse=style.reverse,
    )
