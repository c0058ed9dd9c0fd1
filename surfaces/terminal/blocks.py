"""The blocks of the transcript. A block keeps its text, and makes lines of it when it is shown.

The first screen waits for this module, so the blocks that need much are in modules of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rich.box import ROUNDED
from rich.console import Console, RenderableType
from rich.panel import Panel as Frame
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from surfaces.terminal.inert import inert

__all__ = [
    "Block",
    "Notice",
    "Panel",
    "Pen",
    "Row",
    "UserMessage",
    "framed",
]

_MESSAGE_LINES: Final = 20
_MESSAGE_LETTERS: Final = 4_000
_MARKS: Final = {"info": "\u2139", "warning": "⚠", "error": "✕", "hint": "💡", "shell": "!"}

Row = list[Segment]


@dataclass(frozen=True, slots=True)
class Pen:
    """What a block needs to make lines: the width in columns, and how things look."""

    console: Console
    width: int
    expanded: bool
    """Whether long texts are shown whole."""
    dark: bool
    base: Style
    """The style of everything; the filters for `NO_COLOR` need one on every segment."""
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
    finished = True
    """Whether it will not change any more."""
    announced = False
    """Whether a screen reader says its first line before it is finished."""

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
        text = self._text if pen.expanded else _beginning(self._text)
        return pen.rows(Text(f"{self._mark} {text}", style=pen.styles["user"]))

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


def framed(text: Text, pen: Pen) -> Frame:
    """`text` in a frame."""
    return Frame(text, box=ROUNDED, border_style=pen.styles["frame"], padding=(0, 1))


def _beginning(text: str) -> str:
    """The first lines of a long text, and how much is hidden."""
    lines = text.split("\n")
    shown, unit = "\n".join(lines[:_MESSAGE_LINES]), f"{len(lines) - _MESSAGE_LINES} lines"
    if len(shown) > _MESSAGE_LETTERS:
        shown, unit = shown[:_MESSAGE_LETTERS], f"{len(text) - _MESSAGE_LETTERS} letters"
    elif len(lines) <= _MESSAGE_LINES:
        return text
    return f"{shown}\n... last {unit} hidden (Ctrl+O to show) ..."
