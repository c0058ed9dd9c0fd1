"""`SlashMenu`: the commands and arguments that the text in the input may become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text
from textual.widgets import Static

from surfaces.commands import Suggestion
from surfaces.terminal.inert import inert_line

__all__ = ["SlashMenu"]

_MOST: Final = 8


class SlashMenu(Static):
    """Suggestions, one of them chosen. Without suggestions it is not shown."""

    def __init__(self) -> None:
        super().__init__(id="menu", markup=False)
        self._text = ""
        self._offered: Sequence[Suggestion] = ()
        self._chosen = 0

    def offer(self, text: str, suggestions: Sequence[Suggestion]) -> None:
        """Show `suggestions` for `text`, the first one chosen."""
        self._text, self._offered, self._chosen = text, suggestions, 0
        self.display = bool(suggestions)
        self._draw()

    def is_for(self, text: str) -> bool:
        """Whether the menu is open, and belongs to `text`."""
        return bool(self._offered) and self._text == text

    def move(self, step: int) -> None:
        """Choose the line so many steps further; after the last comes the first."""
        self._chosen = (self._chosen + step) % len(self._offered)
        self._draw()

    def completed(self) -> str:
        """The text with the chosen suggestion in place of its last word."""
        head, blank, _ = self._text.rpartition(" ")
        value = self._offered[self._chosen].value
        return f"{head}{blank}{value} " if blank else f"/{value} "

    def _draw(self) -> None:
        first = max(0, self._chosen - _MOST + 1)
        shown = self._offered[first : first + _MOST]
        width = max((len(inert_line(each.value)) for each in shown), default=0)
        lines = Text(no_wrap=True, overflow="ellipsis")
        for number, each in enumerate(shown, first):
            chosen = number == self._chosen
            line = f"{'●' if chosen else ' '} {inert_line(each.value):<{width}}"
            lines.append(f"{line}  {inert_line(each.description)}\n", "bold" if chosen else "")
        lines.rstrip()
        self.update(lines)
