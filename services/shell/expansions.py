"""Words of a command line: quotes, expansions and here-documents, with the commands inside them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

from services.shell.cursor import Cursor, Unreadable

__all__ = ["HereDocument", "WordReader"]

_ANSI_QUOTE: Final = re.compile(r"\$'(?:\\.|[^'\\])*'", re.DOTALL)
_CONTINUATION: Final = re.compile(r"(?:\\\n)+")
_LINE_END: Final = re.compile(r"\r*(?:\n|\Z)")
_PROMPT_EXPANSION: Final = re.compile(r"@\s*[pP]\s*\Z")
_PARAMETER: Final = re.compile(r"\$\{[#!]?(?:\w+|[@*#?$!-])")
_DEFAULT: Final = re.compile(r":?[-=?+]")
_IN_A_WORD: Final = re.compile(r"\w[^\w\s-]")
_METACHARACTERS: Final = ";|&<>()"
_FREE_TEXT: Final = re.compile(
    r"(?:\([\w\s]*\)|[^\w$'\"(}])(?:[^$'\"}`\\{]|\\[^$'\"}`\\{])*(?=[$}])"
)
"""Inside the default of a parameter, tree-sitter-bash takes this whole, metacharacters included."""


@dataclass(frozen=True, slots=True)
class HereDocument:
    """A here-document: its delimiter, and how its text is read."""

    delimiter: str
    tabs: bool
    quoted: bool


class WordReader(Cursor, ABC):
    """Reads words; a subclass reads the commands in them."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._heredocs: list[HereDocument] = []

    @abstractmethod
    def _list(
        self, closer: str = "", until: tuple[str, ...] = (), *, required: bool = True
    ) -> None:
        """Commands up to `closer` or a reserved word of `until`, which are not consumed."""

    def _word(self) -> str:
        """One word, never empty, with its quotes; notes the substitutions inside it."""
        start = self.place
        while self.place < len(self.text) and not self._at_word_end():
            character = self.text[self.place]
            if match := _CONTINUATION.match(self.text, self.place):
                if not self._joins_words():
                    break
                self.place = match.end()
            elif character == "\\":
                self.place += 2
            elif character == "'":
                self._single_quotes()
            elif character == '"':
                self._double_quotes()
            elif self._at("$'"):
                self._ansi_quotes()
            elif not self._substitution():
                self.place += 1
        if self.place > len(self.text) or self.place == start:
            raise Unreadable
        return self.text[start : self.place]

    def _at_word_end(self) -> bool:
        character = self.text[self.place]
        if character in "<>":
            return not self._process_substitution_here()
        return character in " \t\r\n;&|()" or (character == "`" and self._in_backticks)

    def _single_quotes(self) -> None:
        end = self.text.find("'", self.place + 1)
        if end < 0:
            raise Unreadable
        self.place = end + 1

    def _ansi_quotes(self) -> None:
        match = _ANSI_QUOTE.match(self.text, self.place)
        if match is None:
            raise Unreadable
        self.place = match.end()

    def _double_quotes(self) -> None:
        self.place += 1
        while not self._at('"'):
            if self.place >= len(self.text) or (self._in_backticks and self._at("`")):
                raise Unreadable
            if self._at("\\"):
                self.place += 2
            elif self.text[self.place] in "<>" or not self._substitution(quoted=True):
                self.place += 1
        self.place += 1

    def _process_substitution_here(self) -> bool:
        return self._at("<(") or self._at(">(")

    def _substitution(self, *, quoted: bool = False) -> bool:
        """Read an expansion, if one starts here, and note the commands in it."""
        start = self.place
        if self._at("$(("):
            self.place += 3
            self._arithmetic()
        elif self._at("${"):
            with self._deeper():
                self._parameter(quoted=quoted)
        elif self._at("$("):
            self._nested(2)
            self._note("command substitution", start)
        elif self._at("`"):
            self._backticks()
            self._note("command substitution", start)
        elif self._process_substitution_here():
            self._nested(2)
            self._note("process substitution", start)
        else:
            return False
        return True

    def _nested(self, opening: int) -> None:
        self.place += opening
        self._list(")")
        self.place += 1

    def _backticks(self) -> None:
        """Bash ends them at the next backtick, whatever is quoted before it."""
        end = self.text.find("`", self.place + 1)
        self.doubtful = self.doubtful or "\\" in self.text[self.place : end]
        outer, self._in_backticks = self._in_backticks, True
        self.place += 1
        self._list("`")
        self._in_backticks = outer
        self.doubtful = self.doubtful or self.place != end
        self.place += 1

    def _arithmetic(self, *, separated: bool = False) -> None:
        """Read up to the `))` that matches the parentheses just opened."""
        open_here = 0
        while True:
            if self.place >= len(self.text) or self.text[self.place] in "`'\"\\":
                raise Unreadable
            if self._at(";") and not separated:
                raise Unreadable
            if self._at(")") and not open_here:
                break
            open_here += self._at("(") - self._at(")")
            if not self._at("$") or not self._substitution():
                self.place += 1
        if not self._at("))"):
            raise Unreadable
        self.place += 2

    def _parameter(self, *, quoted: bool) -> None:
        start, opening = self.place, _PARAMETER.match(self.text, self.place)
        if opening is None:
            raise Unreadable
        self.place = opening.end()
        default = _DEFAULT.match(self.text, self.place)
        begun = self.place = default.end() if default else self.place
        while not self._at("}"):
            if self.place >= len(self.text) or self._at("{"):
                raise Unreadable
            if self._at("\\"):
                self.place += 2
            elif self._at("'") and not quoted:
                self._single_quotes()
            elif self._at('"'):
                self._double_quotes()
            elif self._at("`"):
                # Upstream does not look inside.
                self.doubtful = True
                end = self.text.find("`", self.place + 1)
                if end < 0 or self._in_backticks:
                    raise Unreadable
                self.place = end + 1
            elif not self._at("$") or not self._substitution(quoted=quoted):
                self.doubtful = self.doubtful or self._at("'") or self._process_substitution_here()
                self.place += self._plain_length(begun) if default else 1
        if _PROMPT_EXPANSION.search(self.text, start, self.place):
            raise Unreadable
        self.place += 1

    def _plain_length(self, begun: int) -> int:
        """How many plain characters of a default that begins at `begun` are read together."""
        misplaced = self.text[self.place] in _METACHARACTERS
        free = _FREE_TEXT.match(self.text, self.place)
        within = self.place > begun
        if free is None or (within and (misplaced or _IN_A_WORD.match(self.text, self.place - 1))):
            if misplaced:
                raise Unreadable
            return 1
        self.doubtful = self.doubtful or "<(" in free[0] or ">(" in free[0]
        return free.end() - self.place

    def _skip_space(self) -> None:
        """Blanks, comments and line ends, with the here-documents behind them."""
        while self.place < len(self.text):
            self._skip_blank()
            if self._at("#"):
                self.place = self._ended.find("\n", self.place)
            elif match := _LINE_END.match(self.text, self.place):
                self.place = match.end()
                self._skip_heredocs()
            else:
                return

    def _skip_heredocs(self) -> None:
        documents, self._heredocs = self._heredocs, []
        for document in documents:
            while not self._heredoc_line(document):
                pass

    def _heredoc_line(self, document: HereDocument) -> bool:
        """Skip one line of a here-document; return whether it ends the document."""
        if self.place >= len(self.text):
            raise Unreadable
        end = self._ended.find("\n", self.place)
        line = self.text[self.place : end]
        if line.strip() == document.delimiter:
            # Upstream lets an indented delimiter end it, Bash does not.
            exact = line.lstrip("\t") if document.tabs else line
            self.doubtful = self.doubtful or exact != document.delimiter
            self.place = min(end + 1, len(self.text))
            return True
        if not document.quoted and ("$(" in line or "`" in line):
            self.doubtful = True
            end = self._heredoc_substitutions(end)
        self.place = min(end + 1, len(self.text))
        return False

    def _heredoc_substitutions(self, end: int) -> int:
        """Note the substitutions up to `end`; return the end of the last line read."""
        while self.place < end:
            if self._at("$(") and self._substitution(quoted=True):
                end = self._ended.find("\n", self.place)
            else:
                self.place += 2 if self._at("\\") else 1
        return end
