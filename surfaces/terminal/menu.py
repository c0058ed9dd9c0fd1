"""`SuggestionMenu`: what the text in the input may become: commands, arguments, paths, agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from rich.text import Text
from textual.widgets import Static

from surfaces.terminal.inert import inert_line

__all__ = ["Completed", "Offered", "SuggestionMenu"]

_MOST: Final = 8


class Offered(Protocol):
    """What a line of the menu offers."""

    @property
    def value(self) -> str:
        """The text."""
        ...

    @property
    def description(self) -> str:
        """What stands beside it."""
        ...

    @property
    def runs_at_once(self) -> bool:
        """Whether Enter sends it."""
        ...


@dataclass(frozen=True, slots=True)
class Completed:
    """What Enter does with the open menu: the text, and whether it is sent at once."""

    text: str
    sends: bool


class SuggestionMenu(Static):
    """Suggestions, one of them chosen. Without suggestions it is not shown."""

    def __init__(self) -> None:
        super().__init__(id="menu", markup=False)
        self._text = ""
        self._place = 0
        self._offered: Sequence[Offered] = ()
        self._chosen = 0

    def on_resize(self) -> None:
        """Cut the lines where the terminal ends now."""
        if self._offered:
            self._draw()

    def offer(self, text: str, place: int, suggestions: Sequence[Offered]) -> None:
        """Show `suggestions` for what stands in `text` from `place` on, the first one chosen."""
        self._text, self._place, self._offered, self._chosen = text, place, suggestions, 0
        self.display = bool(suggestions)
        self._draw()

    def close(self) -> None:
        """Show nothing until the text changes."""
        self.offer("", 0, ())

    def is_for(self, text: str) -> bool:
        """Whether the menu is open, and belongs to `text`."""
        return bool(self._offered) and self._text == text

    def move(self, step: int) -> None:
        """Choose the line so many steps further; after the last comes the first."""
        self._chosen = (self._chosen + step) % len(self._offered)
        self._draw()

    @property
    def chosen(self) -> str | None:
        """The text of the chosen line."""
        return self._offered[self._chosen].value if self._offered else None

    @property
    def words(self) -> str:
        """The chosen line and its place, for a screen reader."""
        if not self._offered:
            return ""
        each = self._offered[self._chosen]
        place = f"Suggestion {self._chosen + 1} of {len(self._offered)}"
        return f"{place}: {inert_line(each.value)}  {inert_line(each.description)}".rstrip()

    def completed(self) -> str:
        """The text with the chosen suggestion; after a folder, its files may follow."""
        value = self._offered[self._chosen].value
        return f"{self._text[: self._place]}{value}{'' if value.endswith('/') else ' '}"

    def entered(self) -> Completed | None:
        """What Enter does; `None`: it sends the text as it is, which is complete.

        Source: `packages/cli` `ui/components/InputPrompt.tsx`: Enter sends a complete command, and
        accepts the chosen line otherwise.
        """
        typed = self._text[self._place :]
        complete = not typed or any(each.value == typed for each in self._offered)
        if complete and self._chosen == 0:
            return None
        return Completed(self.completed(), self._offered[self._chosen].runs_at_once)

    def _draw(self) -> None:
        room = max(1, self.size.width or self.app.size.width)
        first = max(0, self._chosen - _MOST + 1)
        shown = self._offered[first : first + _MOST]
        width = max((len(inert_line(each.value)) for each in shown), default=0)
        lines = []
        for number, each in enumerate(shown, first):
            chosen = number == self._chosen
            words = f"{inert_line(each.value):<{width}}  {inert_line(each.description)}".rstrip()
            line = Text(f"{'●' if chosen else ' '} {words}", "bold" if chosen else "")
            line.truncate(room, overflow="ellipsis")
            lines.append(line)
        self.update(Text("\n").join(lines))
