"""Lines for readers: wrapped with a hanging indent on a terminal, whole everywhere else.

In a log or a pipe a line stays one line, so that `grep` finds it whole. A command that is to be
copied is broken only between its words, with a backslash: it runs as it stands on the screen.
"""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata
from collections.abc import Iterator
from typing import Final

import click

__all__ = ["say", "wrapped"]

_HANG: Final = 4
"""Columns by which the following lines of a text are indented below its first."""
_LEAST: Final = 20
"""Columns below which nothing is wrapped."""
_COMMAND: Final = re.compile(r"(?:^ *|: +)(?=parity )")
_WORD: Final = re.compile(r"\s*\S+")
_SHELL_WORD: Final = re.compile(r"""\s*(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\]|['"\\])+""")


def say(text: str, *, err: bool = False, hang: int = _HANG) -> None:
    """Print lines, on a terminal each over as many as it takes.

    Args:
        text: Printable text.
        err: On standard error.
        hang: Columns by which the following lines of each are indented.
    """
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        columns = shutil.get_terminal_size().columns
        shown = [each for line in text.split("\n") for each in wrapped(line, columns, hang=hang)]
        text = "\n".join(shown)
    click.echo(text, err=err)


def wrapped(text: str, columns: int, *, hang: int = _HANG) -> list[str]:
    """The lines of `text`, each of at most so many columns unless one word is longer.

    A text that is a command, or ends in one (`reproduce: parity run …`), has a backslash at the end
    of each line of the command but the last.
    """
    if columns < _LEAST or _width(text) <= columns:
        return [text]
    hang = hang if hang <= columns * 2 // 3 else _HANG
    indent = " " * (len(text) - len(text.lstrip(" ")) + hang)
    lines, line, before = [], "", False
    for word, in_command in _words(text):
        room = columns - (len(" \\") if in_command else 0)
        if line.strip() and _width(line + word) > room:
            lines.append(f"{line} \\" if before and in_command else line)
            # No build server must take a part of a text for a command to itself.
            line = indent + re.sub(r"^::", r"\\::", word.lstrip())
        else:
            line += word
        before = in_command
    return [*lines, line]


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """The words of a text with the spaces before them, and whether they are a command's."""
    command = _COMMAND.search(text)
    begins = len(text) if command is None else command.end()
    for match in _WORD.finditer(text[:begins]):
        yield match[0], False
    gap = text[:begins][len(text[:begins].rstrip()) :]
    for number, match in enumerate(_SHELL_WORD.finditer(text[begins:])):
        yield match[0] if number else gap + match[0], True


def _width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in text
    )
