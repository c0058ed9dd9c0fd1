"""`Answer`: an answer of the model in the transcript."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rich.segment import Segment

from surfaces.terminal.blocks import Block, Pen, Row
from surfaces.terminal.inert import inert
from surfaces.terminal.markdown import MarkdownPieces, Piece, drawn

__all__ = ["Answer", "AnswerPart"]

_ANSWER_MARK: Final = "✦ "


class AnswerPart(Block):
    """A piece of an answer."""

    __slots__ = ("_first", "_piece", "finished", "joined")

    def __init__(self, piece: Piece, *, first: bool) -> None:
        """A piece; the `first` one of an answer has the mark."""
        super().__init__()
        self._piece, self._first = piece, first
        self.joined, self.finished = piece.joined, False

    def become(self, piece: Piece) -> None:
        """Show `piece` from now on."""
        if piece != self._piece:
            self._piece, self.joined = piece, piece.joined
            self.revision += 1

    def rows(self, pen: Pen) -> list[Row]:
        """The Markdown, beside the mark."""
        rows = pen.rows(drawn(self._piece, dark=pen.dark), pen.width - len(_ANSWER_MARK))
        while rows and _is_blank(rows[0]):
            rows.pop(0)
        while rows and _is_blank(rows[-1]):
            rows.pop()
        marks = [_ANSWER_MARK if self._first else "  ", *["  "] * len(rows)]
        return [[Segment(mark), *row] for mark, row in zip(marks, rows, strict=False)]

    @property
    def words(self) -> str:
        """The source of the Markdown."""
        return f"{'Model: ' if self._first else ''}{self._piece.text.strip()}"


class Answer:
    """An answer of the model, which grows while it is streamed."""

    def __init__(self, add: Callable[[Block], None]) -> None:
        """`add` gets its parts as they begin."""
        self._add = add
        self._pieces = MarkdownPieces()
        self._open = AnswerPart(self._pieces.open, first=True)
        add(self._open)

    def append(self, text: str) -> None:
        """Add a fragment of Markdown."""
        for piece in self._pieces.add(inert(text)):
            self._open.become(piece)
            self._open.finished = True
            self._open = AnswerPart(self._pieces.open, first=False)
            self._add(self._open)
        self._open.become(self._pieces.open)

    def end(self) -> None:
        """Note that nothing follows."""
        self._open.finished = True


def _is_blank(row: Row) -> bool:
    return not any(segment.text.strip() for segment in row)
