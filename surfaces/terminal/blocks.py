"""The blocks of the transcript. A block keeps its text, and makes lines of it when it is shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from rich.box import ROUNDED
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.panel import Panel as Frame
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from surfaces.terminal.call_words import CallShown
from surfaces.terminal.inert import inert
from surfaces.terminal.markdown import MarkdownPieces, Piece, drawn

__all__ = [
    "Answer",
    "AnswerPart",
    "Block",
    "CallBox",
    "Notice",
    "Panel",
    "Pen",
    "Row",
    "UserMessage",
    "framed",
]

_LIVE_LINES: Final = 15
_ALL_LINES: Final = 5_000
_MESSAGE_LINES: Final = 20
_MARKS: Final = {"info": "\u2139", "warning": "⚠", "error": "✕", "hint": "💡", "shell": "!"}
_ANSWER_MARK: Final = "✦ "

Row = list[Segment]


@dataclass(frozen=True, slots=True)
class Pen:
    """What a block needs to make lines: the width in columns, and how things look."""

    console: Console
    width: int
    expanded: bool
    """Whether long texts are shown whole."""
    dark: bool
    styles: Mapping[str, Style]
    """`user`, `error`, `warning` and `frame`."""

    def rows(self, shown: RenderableType, width: int | None = None) -> list[Row]:
        """`shown` as lines of at most `width` columns."""
        options = self.console.options.update(width=max(1, width or self.width), height=None)
        return self.console.render_lines(shown, options, pad=False)


class Block(ABC):
    """A part of the transcript; its `revision` grows when it changes."""

    __slots__ = ("revision",)

    joined = False
    """Whether no blank line stands before it."""

    def __init__(self) -> None:
        self.revision = 0

    @abstractmethod
    def rows(self, pen: Pen) -> list[Row]:
        """The lines of the block."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The block for a screen reader: plain text without frames."""


class UserMessage(Block):
    """What the user has sent."""

    __slots__ = ("_mark", "_text")

    def __init__(self, text: str, *, mark: str = ">") -> None:
        super().__init__()
        self._text, self._mark = inert(text), mark

    def rows(self, pen: Pen) -> list[Row]:
        """The mark and the text, a long one cut."""
        lines = self._text.split("\n")
        if not pen.expanded and len(lines) > _MESSAGE_LINES:
            hidden = len(lines) - _MESSAGE_LINES
            note = f"... last {hidden} lines hidden (Ctrl+O to show) ..."
            lines = [*lines[:_MESSAGE_LINES], note]
        return pen.rows(Text(f"{self._mark} " + "\n".join(lines), style=pen.styles["user"]))

    @property
    def words(self) -> str:
        """As the published CLI says it."""
        return f"User: {self._text}"


class Notice(Block):
    """A line about the session; `severity` chooses mark and colour."""

    __slots__ = ("_severity", "_text")

    def __init__(self, text: str, severity: str = "info") -> None:
        super().__init__()
        self._text, self._severity = inert(text), severity

    def rows(self, pen: Pen) -> list[Row]:
        """The mark and the text."""
        mark = _MARKS.get(self._severity, _MARKS["info"])
        return pen.rows(Text(f"{mark} {self._text}", style=pen.styles.get(self._severity, "")))

    @property
    def words(self) -> str:
        """The severity in place of the mark."""
        severity = self._severity if self._severity in _MARKS else "info"
        return self._text if severity == "info" else f"{severity.capitalize()}: {self._text}"


class Panel(Block):
    """Lines of a command that belong together."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = inert(text)

    def rows(self, pen: Pen) -> list[Row]:
        """The text in a frame."""
        return pen.rows(framed(Text(self._text), pen))

    @property
    def words(self) -> str:
        """The text."""
        return self._text


class AnswerPart(Block):
    """A piece of an answer."""

    __slots__ = ("_first", "_piece", "joined")

    def __init__(self, piece: Piece, *, first: bool) -> None:
        """A piece; the `first` one of an answer has the mark."""
        super().__init__()
        self._piece, self._first = piece, first
        self.joined = piece.joined

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
            self._open = AnswerPart(self._pieces.open, first=False)
            self._add(self._open)
        self._open.become(self._pieces.open)


class CallBox(Block):
    """One tool call."""

    __slots__ = ("call",)

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
    def words(self) -> str:
        """The call's line, its state as a word, and what stands below."""
        return "" if self.call.hidden else self.call.words(_ALL_LINES)


def framed(text: Text, pen: Pen) -> Frame:
    """`text` in a frame."""
    return Frame(text, box=ROUNDED, border_style=pen.styles["frame"], padding=(0, 1))


def _is_blank(row: Row) -> bool:
    return not any(segment.text.strip() for segment in row)
