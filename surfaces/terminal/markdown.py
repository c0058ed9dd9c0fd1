"""Markdown of the model as lines: pieces of a growing text, and how a piece is drawn.

An answer may be long, and is drawn anew with each fragment. `MarkdownPieces` cuts it where a block
of Markdown ends, so that only the last piece is drawn again. Where the cuts are depends on the text
alone, not on the fragments in which it arrives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import ClassVar, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax

__all__ = ["MarkdownPieces", "Piece", "drawn"]

_FEW_LINES: Final = 60
"""From so many lines on, a blank line of code ends a piece."""
_MOST_LINES: Final = 120
_MOST_LETTERS: Final = 4_000
"""Of a line: a longer one is cut."""
_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})([^`]*)$")
_ITEM: Final = re.compile(r"\s*([-*+]|\d{1,9}[.)])(\s|$)")
_TABLE_RULE: Final = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_NUMBER: Final = "number"
_CODE_THEMES: Final = {True: "ansi_dark", False: "ansi_light"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a Markdown text that is drawn by itself."""

    text: str
    joined: bool = False
    """Whether it follows the piece before without a blank line."""
    number: int = 1
    """The number of the first line of its code, where the code begins in an earlier piece."""


class MarkdownPieces:
    """Cuts a growing text into pieces."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        """The complete lines of the open piece."""
        self._rest = ""
        """The line that has no end yet."""
        self._fence: int | None = None
        """The line of the piece that has begun the block of code in which the text is."""
        self._joined = False
        self._number = 1

    def add(self, text: str) -> list[Piece]:
        """Add text; return the pieces that it completes."""
        *lines, self._rest = (self._rest + text).split("\n")
        done = [piece for line in lines for piece in self._add_line(line)]
        while len(self._rest) > _MOST_LETTERS:
            at = self._rest.rfind(" ", 1, _MOST_LETTERS) + 1 or _MOST_LETTERS
            begun, self._rest = self._rest[:at], self._rest[at:]
            done += self._add_line(begun)
            done.append(self._cut(joined=True))
        return done

    @property
    def open(self) -> Piece:
        """The last piece, which may grow."""
        lines = [*self._lines, self._rest] if self._rest else self._lines
        return Piece("\n".join(lines), self._joined, self._number)

    def _add_line(self, line: str) -> list[Piece]:
        ends = self._ends_in_code(line) if self._fence is not None else self._ends(line)
        done = [self._cut(joined=ends == "joined")] if ends else []
        self._lines.append(line)
        self._notice_fence(line)
        return done

    def _ends_in_code(self, line: str) -> str:
        count = len(self._lines)
        enough = count >= _MOST_LINES or (count >= _FEW_LINES and not line.strip())
        return "joined" if enough else ""

    def _ends(self, line: str) -> str:
        """Whether the open piece ends before `line`, and how: `joined`, `apart`, or not."""
        if not line.strip() or not any(map(str.strip, self._lines)):
            return ""
        if not self._lines[-1].strip() and line[:1] not in (" ", "\t"):
            both_items = _ITEM.match(line) and any(map(_ITEM.match, self._lines))
            return "joined" if both_items else "apart"
        return "joined" if len(self._lines) >= _MOST_LINES else ""

    def _notice_fence(self, line: str) -> None:
        found = _FENCE.match(line)
        if found is None:
            return
        if self._fence is None:
            self._fence = len(self._lines) - 1
        elif found[1].startswith(self._marks(self._fence)) and not found[2].strip():
            self._fence = None

    def _marks(self, fence: int) -> str:
        opening = _FENCE.match(self._lines[fence])
        assert opening is not None
        return opening[1]

    def _cut(self, *, joined: bool) -> Piece:
        """End the open piece; the next one goes on in the same block of code or table."""
        lines, number, again = self._lines, self._number, list[str]()
        self._number = 1
        if self._fence is not None:
            begun = number if self._fence == 0 else 1
            self._number = begun + len(lines) - self._fence - 1
            again = [lines[self._fence]]
            lines = [*lines, self._marks(self._fence)]
            self._fence = 0
        elif joined and len(lines) > 2 and "|" in lines[0] and _TABLE_RULE.match(lines[1]):
            again = lines[:2]
        piece = Piece("\n".join(lines).rstrip("\n"), self._joined, number)
        self._lines, self._joined = again, joined
        return piece


class _Heading(Heading):
    """A heading at the left, without a frame."""

    LEVEL_ALIGN: ClassVar = {}


class _Code(CodeBlock):
    """A block of code with numbered lines."""

    def __init__(self, lexer_name: str, theme: str, number: int) -> None:
        super().__init__(lexer_name, theme)
        self._number = number

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _Code:
        """A block of the language that the fence names."""
        language = (token.info or "").strip().partition(" ")[0]
        return cls(language or "text", markdown.code_theme, token.meta.get(_NUMBER, 1))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The lines in colours, each behind its number."""
        code = str(self.text).removesuffix("\n")
        syntax = Syntax(code, self.lexer_name, theme=self.theme, background_color="default")
        lines = list(syntax.highlight(code).split("\n", allow_blank=True))
        lines = lines[: code.count("\n") + 1]  # The lexer ends the last line.
        width = len(str(self._number + len(lines) - 1))
        room = max(1, options.max_width - width - 1)
        dim = Style(dim=True)
        for number, line in enumerate(lines, self._number):
            rows = [line]
            if line.cell_len > room:
                rows = list(line.wrap(console, room, overflow="fold"))
            for place, row in enumerate(rows):
                yield Segment(f"{'' if place else number:>{width}} ", dim)
                row.end = ""
                yield from row.render(console)
                yield Segment.line()


class _Drawn(Markdown):
    """Markdown in which every letter of the text is to be seen: no HTML, no hidden addresses."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
    }


_PARSER: Final = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
_BLANK: Final = _Drawn("", hyperlinks=False)
"""What is copied for each piece: rich makes a parser of its own for each new one."""


def drawn(piece: Piece, *, dark: bool) -> Markdown:
    """`piece`, to be printed by rich; `dark`: on a dark background."""
    shown = copy(_BLANK)
    shown.code_theme = _CODE_THEMES[dark]
    shown.parsed = _PARSER.parse(piece.text)
    for token in _all(shown.parsed):
        if token.type == "softbreak":
            token.type = "hardbreak"  # A line of the model is a line on the screen.
    if shown.parsed and shown.parsed[0].type == "fence":
        shown.parsed[0].meta[_NUMBER] = piece.number
    return shown


def _all(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all(token.children or [])
