"""A command line cut into words, the way the command heuristics read it.

Deliberately no shell: one flat list, operators as words of their own, variables cut out.
Source: the `shell-quote` package's `parse`, which core `policy/policy-engine.ts` and
`utils/shell-utils.ts` use.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["BadSubstitution", "ShellWord", "shell_words"]

_CONTROL: Final = r"(?:\|\||&&|;;|\|&|<\(|<<<|>>|>&|<&|[&;()|<>])"
_CONTROL_CHARACTERS: Final = "&;()|<>"
_BARE: Final = r"(?:\\['\"|&;()<> \t]|[^\s'\"|&;()<> \t])+"
_CHUNK = re.compile(rf"{_CONTROL}|(?:{_BARE}|\"(?:\\\"|[^\"])*?\"|'(?:\\'|[^'])*?')+")
_VARIABLE = re.compile(r"[A-Za-z0-9_]*")


class BadSubstitution(ValueError):
    """`${` that is never closed, or that names nothing."""


@dataclass(frozen=True, slots=True)
class ShellWord:
    """One word. `literal` is false for operators, globs and comments."""

    text: str
    literal: bool = True


def shell_words(command: str, *, keep_variables: bool = False) -> list[ShellWord]:
    """Cut `command` into words; `$x` becomes nothing, or stays with `keep_variables`.

    Raises:
        BadSubstitution: see there.
    """
    words: list[ShellWord] = []
    for match in _CHUNK.finditer(command):
        reader = _WordReader(match.group(), keep_variables)
        words += reader.read()
        if reader.commented:
            break
    return words


class _WordReader:
    """One chunk without blanks outside quotes, read character by character."""

    def __init__(self, chunk: str, keep_variables: bool) -> None:
        self._chunk = chunk
        self._keep = keep_variables
        self._at = 0
        self._text = ""
        self.commented = False

    def read(self) -> list[ShellWord]:
        quote = ""
        glob = False
        while self._at < len(self._chunk):
            character = self._chunk[self._at]
            glob = glob or (not quote and character in "*?")
            if quote:
                quote = self._quoted(character, quote)
            elif character in "\"'":
                quote = character
            elif character in _CONTROL_CHARACTERS:
                return [ShellWord(self._chunk, literal=False)]
            elif character == "#":
                self.commented = True
                return [*([ShellWord(self._text)] if self._text else []), ShellWord("", False)]
            elif character == "\\":
                self._at += 1
                self._text += self._chunk[self._at : self._at + 1]
            elif character == "$":
                self._variable()
            else:
                self._text += character
            self._at += 1
        return [ShellWord(self._text, literal=not glob)]

    def _quoted(self, character: str, quote: str) -> str:
        if character == quote:
            return ""
        if quote == '"' and character == "\\":
            self._at += 1
            escaped = self._chunk[self._at : self._at + 1]
            self._text += escaped if escaped and escaped in '"\\$' else "\\" + escaped
        elif quote == '"' and character == "$":
            self._variable()
        else:
            self._text += character
        return quote

    def _variable(self) -> None:
        """Read the name after `$`; leaves the position on its last character."""
        self._at += 1
        following = self._chunk[self._at : self._at + 1]
        if following == "{":
            end = self._chunk.find("}", self._at + 1)
            if end <= self._at + 1:
                raise BadSubstitution
            name = self._chunk[self._at + 1 : end]
            self._at = end
        elif following and following in "*@#?$!_-":
            # One character too many is taken here, as upstream does.
            name = following
            self._at += 1
        else:
            found = _VARIABLE.match(self._chunk, self._at)
            name = found.group() if found else ""
            self._at += len(name) - 1
        if self._keep or not name:
            self._text += f"${name}"
