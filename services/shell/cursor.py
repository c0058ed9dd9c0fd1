"""A position in a command line, and what its text shows without Bash's grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from services.wire import js_trim

__all__ = ["CommandDetail", "Cursor", "Unreadable", "unquoted"]

_PLAIN_WORD: Final = re.compile(r"(?:(?:\\\n)+(?=[^\s;&|()<>])|(?!\\\n)[^\s;&|()<>])+")
_JOINS_WORDS: Final = re.compile(r"(?:\\\n)+(?=[^\s;&|()<>])")
_LINE_END: Final = re.compile(r"\r*(?:\n|\Z)")
_RESERVED_WORDS: Final = (
    "! { } [[ ]] case coproc do done elif else esac fi for function if in select then time until "
    "while"
)
_RESERVED: Final = frozenset(_RESERVED_WORDS.split())
_DEEPEST: Final = 50


class Unreadable(Exception):
    """The line is not Bash, or has syntax that this reader does not know."""


@dataclass(frozen=True, slots=True)
class CommandDetail:
    """One thing that a line does.

    `name` is that of a program, or says what else it is (`subshell`, `redirection (>)`); `text` is
    without redirections; `start` counts code points from the start of the line.
    """

    name: str
    text: str
    start: int
    program: bool = True


class Cursor:
    """Moves through the text once, left to right, and keeps the noted details."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ended = f"{text}\n"
        self.place = 0
        self.details: list[CommandDetail] = []
        self.doubtful = False
        self._in_backticks = False
        self._depth = 0

    def _at(self, text: str, place: int | None = None) -> bool:
        return self.text.startswith(text, self.place if place is None else place)

    def _at_line_end(self) -> bool:
        return _LINE_END.match(self.text, self.place) is not None

    def _at_end_of_command(self) -> bool:
        if self._at_line_end():
            return True
        if self._at("&>"):
            return False
        return self.text[self.place] in "#;&|)" or (self._in_backticks and self._at("`"))

    def _skip_blank(self) -> None:
        while self.place < len(self.text):
            if self._at("\\\n"):
                self.place += 2
            elif self.text[self.place] in " \t":
                self.place += 1
            elif self._at("\r") and not self._at_line_end():
                # Upstream reads a blank, Bash a letter.
                self.doubtful = True
                self.place += 1
            else:
                return

    def _peek_word(self) -> str | None:
        match = _PLAIN_WORD.match(self.text, self.place)
        if match is None:
            return None
        word = match[0].replace("\\\n", "")
        if word != match[0] and word in _RESERVED:
            # Bash reads a reserved word, upstream a program.
            self.doubtful = True
            return None
        return word.partition("`")[0] if self._in_backticks else word

    def _joins_words(self) -> bool:
        """Whether letters follow a line continuation here, and so belong to the word."""
        return _JOINS_WORDS.match(self.text, self.place) is not None

    def _note(self, name: str, start: int, *, program: bool = False) -> None:
        """Note a detail that ends here."""
        text = js_trim(self.text[start : self.place])
        self.details.append(CommandDetail(name, text, start, program=program))

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        if self._depth >= _DEEPEST:
            raise Unreadable
        self._depth += 1
        yield
        self._depth -= 1


def unquoted(word: str) -> str:
    """`word` without the quotes around the whole of it."""
    if word.startswith(("'", '"')) and word.endswith(word[0]):
        return word[1:-1]
    return js_trim(word)
