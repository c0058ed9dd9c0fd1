"""`CallBox`: a tool call in the transcript."""

from __future__ import annotations

from typing import Final

from rich.padding import Padding
from rich.text import Text

from surfaces.terminal.blocks import Block, Pen, Row, framed
from surfaces.terminal.call_words import CallShown

__all__ = ["CallBox"]

_LIVE_LINES: Final = 15
_ALL_LINES: Final = 5_000


class CallBox(Block):
    """One tool call."""

    __slots__ = ("call",)

    announced = True

    def __init__(self, call: CallShown) -> None:
        super().__init__()
        self.call = call

    def rows(self, pen: Pen) -> list[Row]:
        """The call's line and what stands below; nothing while a question shows it."""
        if self.call.hidden:
            return []
        shown = self.call.line()
        body = self.call.body(_ALL_LINES if pen.expanded else _LIVE_LINES)
        if body.plain:
            shown = Text("\n\n").join([shown, body])
        shown.overflow = "fold"
        return pen.rows(framed(shown, pen) if self.call.boxed else Padding(shown, (0, 0, 0, 1)))

    @property
    def finished(self) -> bool:  # type: ignore[override]  # here it follows from the call
        """Whether the call has ended."""
        return self.call.settled

    @property
    def words(self) -> str:
        """The call's line, its state as a word, and what stands below."""
        return "" if self.call.hidden else self.call.words(_ALL_LINES)
