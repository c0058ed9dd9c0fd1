"""Wraps lines with a hanging indent on a terminal; elsewhere lines stay whole.

In a log or a pipe a line stays whole for `grep`. A command is broken only between its words, with
a backslash, so that it can be copied from the screen.
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
"""The minimum width for wrapping."""
_COMMAND: Final = re.compile(r"(?:^ *|: +)(?=parity )")
_WORD: Final = re.compile(r"\s*\S+")
_SHELL_WORD: Final = re.compile(r"""\s*(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\]|['"\\])+""")


def say(text: str, *, err: bool = False, hang: int = _HANG) -> None:
    """Print lines, wrapped on a terminal.

    Args:
        text: Printable text.
        err: Print to standard error.
        hang: Columns by which the following lines of each are indented.
    """
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        columns = shutil.get_terminal_size().columns
        shown = [each for line in text.split("\n") for each in wrapped(line, columns, hang=hang)]
        text = "\n".join(shown)
    click.echo(text, err=err)


def wrapped(text: str, columns: int, *, hang: int = _HANG) -> list[str]:
    """Wrap `text` to lines of at most `columns` columns, unless one word is longer.

    If the text is a command or ends in one (`reproduce: parity run …`), each line of the command
    except the last ends in a backslash.
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
    """Yield the words of a text with the spaces before them, and whether they are a command's."""
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
