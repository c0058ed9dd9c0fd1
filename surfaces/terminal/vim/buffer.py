"""`Buffer`: the text and the cursor, and what Vim's keys do to them.

Source: `packages/cli` `ui/components/shared/vim-buffer-actions.ts`. Two things are as in Vim
itself: what is deleted can always be put back, and a change of whole lines leaves an empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from surfaces.terminal.vim.words import Place, next_end, next_start, previous_start

__all__ = ["MOTIONS", "SPANS", "Buffer", "Find", "FindKey", "Register", "Span"]

FindKey = Literal["f", "F", "t", "T"]
_REVERSED: Final[Mapping[FindKey, FindKey]] = {"f": "F", "F": "f", "t": "T", "T": "t"}


@dataclass(frozen=True, slots=True)
class Register:
    """What was deleted or copied last."""

    text: str
    linewise: bool


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text, its end excluded; with `linewise` it is whole lines, the last included."""

    start: Place
    end: Place
    linewise: bool = False


@dataclass(frozen=True, slots=True)
class Find:
    """A search in the line: the key that began it, and the letter."""

    key: FindKey
    letter: str

    @property
    def forward(self) -> bool:
        """Whether it looks behind the cursor."""
        return self.key in "ft"

    @property
    def till(self) -> bool:
        """Whether it stops before the letter."""
        return self.key in "tT"

    def reversed(self) -> Find:
        """The same in the other direction."""
        return replace(self, key=_REVERSED[self.key])


@dataclass(frozen=True, slots=True)
class Buffer:
    """Lines, at least one, and the cursor. Methods return the buffer that results."""

    lines: tuple[str, ...]
    row: int = 0
    col: int = 0

    @property
    def line(self) -> str:
        """The line of the cursor."""
        return self.lines[self.row]

    @property
    def place(self) -> Place:
        """Where the cursor is."""
        return self.row, self.col

    @property
    def first_letter(self) -> int:
        """The column of the line's first letter that is no blank."""
        return len(self.line) - len(self.line.lstrip())

    def at(self, row: int, col: int) -> Buffer:
        """The cursor at a place."""
        return replace(self, row=row, col=col)

    def on_letter(self) -> Buffer:
        """The cursor on the line's last letter, where it stood behind it."""
        return self.at(self.row, min(self.col, max(0, len(self.line) - 1)))

    def text(self, span: Span) -> str:
        """The text of a span."""
        (first, start), (last, end) = span.start, span.end
        if span.linewise:
            return "\n".join(self.lines[first : last + 1])
        if first == last:
            return self.lines[first][start:end]
        between = self.lines[first + 1 : last]
        return "\n".join((self.lines[first][start:], *between, self.lines[last][:end]))

    def without(self, span: Span) -> Buffer:
        """The text without a span, the cursor where it was."""
        (first, start), (last, end) = span.start, span.end
        if span.linewise:
            lines = self.lines[:first] + self.lines[last + 1 :] or ("",)
            return Buffer(lines, min(first, len(lines) - 1), 0)
        joined = self.lines[first][:start] + self.lines[last][end:]
        return Buffer((*self.lines[:first], joined, *self.lines[last + 1 :]), first, start)

    def emptied(self, span: Span) -> Buffer:
        """The text without a span, to write in its place."""
        if not span.linewise:
            return self.without(span)
        first, last = span.start[0], span.end[0]
        return Buffer((*self.lines[:first], "", *self.lines[last + 1 :]), first, 0)

    def inserted(self, text: str) -> Buffer:
        """The text with `text` at the cursor, which stands behind it."""
        joined = f"{self.line[: self.col]}{text}{self.line[self.col :]}".split("\n")
        added = text.split("\n")
        row = self.row + len(added) - 1
        col = len(added[-1]) + (self.col if len(added) == 1 else 0)
        return Buffer((*self.lines[: self.row], *joined, *self.lines[self.row + 1 :]), row, col)

    def with_line(self, row: int) -> Buffer:
        """The text with an empty line at `row`, the cursor in it."""
        return Buffer((*self.lines[:row], "", *self.lines[row:]), row, 0)

    def put(self, register: Register, count: int, *, before: bool) -> Buffer:
        """The text with what the register has."""
        if register.linewise:
            added = register.text.split("\n") * count
            row = self.row + (not before)
            return Buffer((*self.lines[:row], *added, *self.lines[row:]), row, 0)
        col = self.col if before else min(self.col + 1, len(self.line))
        after = self.at(self.row, col).inserted(register.text * count)
        return after.at(after.row, max(0, after.col - 1)).on_letter()

    def replaced(self, letter: str, count: int) -> Buffer:
        """The text with `letter` in place of `count` letters."""
        end = min(self.col + count, len(self.line))
        if end <= self.col:
            return self
        changed = self.line[: self.col] + letter * (end - self.col) + self.line[end:]
        return self._with(changed, end - 1)

    def case_toggled(self, count: int) -> Buffer:
        """The text with capitals in place of small letters, and the other way round."""
        end = min(self.col + count, len(self.line))
        if end <= self.col:
            return self
        changed = self.line[: self.col] + self.line[self.col : end].swapcase() + self.line[end:]
        return self._with(changed, end).on_letter()

    def found(self, find: Find, count: int) -> int | None:
        """The column of the letter, the `count`th one; `None`: it is not there."""
        if find.forward:
            columns = range(self.col + 1, len(self.line))
        else:
            columns = range(self.col - 1, -1, -1)
        hits = [column for column in columns if self.line[column] == find.letter]
        return hits[count - 1] if len(hits) >= count else None

    def find_span(self, find: Find, count: int) -> Span | None:
        """From the cursor to the letter, both included."""
        column = self.found(find, count)
        if column is None:
            return None
        if find.forward:
            return Span(self.place, (self.row, column + (not find.till)))
        start = column + find.till
        return Span((self.row, start), (self.row, self.col + 1)) if start <= self.col else None

    def to_found(self, find: Find, count: int) -> Buffer:
        """The cursor at the letter, or beside it."""
        column = self.found(find, count)
        if column is None:
            return self
        if find.till:
            column = max(self.col, column - 1) if find.forward else min(self.col, column + 1)
        return self.at(self.row, column)

    def _with(self, line: str, col: int) -> Buffer:
        return Buffer((*self.lines[: self.row], line, *self.lines[self.row + 1 :]), self.row, col)


Motion = Callable[[Buffer, int], Buffer]
"""Moves the cursor; the number is how often, 0 for no number."""
Spanned = Callable[[Buffer, int], Span | None]
"""The part of the text that a motion passes; the number is as for `Motion`."""


def _left(buffer: Buffer, count: int) -> Buffer:
    row, col = buffer.place
    for _ in range(count or 1):
        if col > 0:
            col -= 1
        elif row > 0:
            row -= 1
            col = max(0, len(buffer.lines[row]) - 1)
    return buffer.at(row, col)


def _right(buffer: Buffer, count: int) -> Buffer:
    row, col = buffer.place
    for _ in range(count or 1):
        if col < len(buffer.lines[row]) - 1:
            col += 1
        elif row < len(buffer.lines) - 1:
            row, col = row + 1, 0
    return buffer.at(row, col)


def _vertical(buffer: Buffer, count: int, *, step: int) -> Buffer:
    row = min(max(0, buffer.row + step * (count or 1)), len(buffer.lines) - 1)
    return buffer.at(row, buffer.col).on_letter()


def _by_words(
    buffer: Buffer, count: int, *, step: Callable[..., Place | None], big: bool
) -> Buffer:
    place = buffer.place
    for _ in range(count or 1):
        found = step(buffer.lines, place, big=big)
        if found is None:
            break
        place = found
    return buffer.at(*place)


def _line_end(buffer: Buffer, count: int) -> Buffer:
    down = _vertical(buffer, count - 1, step=1) if count > 1 else buffer
    return down.at(down.row, len(down.line)).on_letter()


def _first_letter(buffer: Buffer, _: int) -> Buffer:
    first = buffer.first_letter
    return buffer.at(buffer.row, first if first < len(buffer.line) else 0)


def _to_line(buffer: Buffer, count: int, *, last: bool) -> Buffer:
    return buffer.at(_row(buffer, count, last=last), 0)


def _row(buffer: Buffer, count: int, *, last: bool) -> int:
    highest = len(buffer.lines) - 1
    return min(count - 1, highest) if count else highest * last


def _words_span(buffer: Buffer, count: int, *, big: bool) -> Span:
    """To the begin of a word; without a further word, to the end of the line."""
    place = buffer.place
    for _ in range(count or 1):
        found = next_start(buffer.lines, place, big=big)
        if found is None:
            place = (place[0], len(buffer.lines[place[0]]))
            break
        place = found
    return Span(buffer.place, place)


def _word_ends_span(buffer: Buffer, count: int, *, big: bool) -> Span:
    end = _by_words(buffer, count, step=next_end, big=big)
    return Span(buffer.place, (end.row, min(end.col + 1, len(end.line))))


def _words_back_span(buffer: Buffer, count: int, *, big: bool) -> Span:
    return Span(_by_words(buffer, count, step=previous_start, big=big).place, buffer.place)


def _letters_span(buffer: Buffer, count: int, *, back: bool) -> Span:
    other = buffer.col - (count or 1) if back else buffer.col + (count or 1)
    return _in_line(buffer, min(max(0, other), len(buffer.line)))


def _in_line(buffer: Buffer, col: int) -> Span:
    start, end = sorted((buffer.col, col))
    return Span((buffer.row, start), (buffer.row, end))


def _line_end_span(buffer: Buffer, count: int) -> Span:
    row = min(buffer.row + max(1, count) - 1, len(buffer.lines) - 1)
    return Span(buffer.place, (row, len(buffer.lines[row])))


def _rows(buffer: Buffer, other: int) -> Span:
    first, last = sorted((buffer.row, min(max(0, other), len(buffer.lines) - 1)))
    return Span((first, 0), (last, 0), linewise=True)


MOTIONS: Final[Mapping[str, Motion]] = {
    "h": _left,
    "l": _right,
    "j": partial(_vertical, step=1),
    "k": partial(_vertical, step=-1),
    "w": partial(_by_words, step=next_start, big=False),
    "W": partial(_by_words, step=next_start, big=True),
    "e": partial(_by_words, step=next_end, big=False),
    "E": partial(_by_words, step=next_end, big=True),
    "b": partial(_by_words, step=previous_start, big=False),
    "B": partial(_by_words, step=previous_start, big=True),
    "0": lambda buffer, _: buffer.at(buffer.row, 0),
    "$": _line_end,
    "^": _first_letter,
    "gg": partial(_to_line, last=False),
    "G": partial(_to_line, last=True),
}
"""The keys that move the cursor."""
SPANS: Final[Mapping[str, Spanned]] = {
    "h": partial(_letters_span, back=True),
    "l": partial(_letters_span, back=False),
    "j": lambda buffer, count: _rows(buffer, buffer.row + (count or 1)),
    "k": lambda buffer, count: _rows(buffer, buffer.row - (count or 1)),
    "w": partial(_words_span, big=False),
    "W": partial(_words_span, big=True),
    "e": partial(_word_ends_span, big=False),
    "E": partial(_word_ends_span, big=True),
    "b": partial(_words_back_span, big=False),
    "B": partial(_words_back_span, big=True),
    "0": lambda buffer, _: _in_line(buffer, 0),
    "$": _line_end_span,
    "^": lambda buffer, count: _in_line(buffer, _first_letter(buffer, count).col),
    "gg": lambda buffer, count: _rows(buffer, _row(buffer, count, last=False)),
    "G": lambda buffer, count: _rows(buffer, _row(buffer, count, last=True)),
    "line": lambda buffer, count: _rows(buffer, buffer.row + max(1, count) - 1),
}
"""What the keys behind an operator name; `line` is the operator's own key."""
