"""`TerminalDriver`: Textual's driver for a terminal that may lack letters, or go away."""

from __future__ import annotations

import codecs
import os
import selectors
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TextIO

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

__all__ = ["Output", "TerminalDriver", "terminal_output"]

_POLL_S: Final = 0.1
_READ: Final = 64 * 1024
_ASCII: Final = str.maketrans(
    {
        **dict.fromkeys("─━═", "-"),
        **dict.fromkeys("│┃║▌▐▎", "|"),
        **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼╋╔╗╚╝▔▁", "+"),
        **dict.fromkeys("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "*"),
        "●": "*",
        "✦": "*",
        "•": "*",
        "·": "-",
        "…": ".",
        "→": ">",
        "»": ">",
        "⊶": "~",
        "✓": "+",
        "✗": "x",
        "✕": "x",
        "☐": "-",
        "ℹ": "i",  # noqa: RUF001 - the mark of a notice
        "⚠": "!",
        "≡": "=",
        "↑": "^",
        "↓": "v",
        "█": "#",
    }
)
"""Letters of the same width for those that a terminal without Unicode lacks."""


class Output:
    """The terminal as a file. Writing to one that is gone has no effect but calls `gone`."""

    def __init__(self, file: TextIO, gone: Callable[[], None]) -> None:
        self._file = file
        self._gone = gone
        self._lost = False
        try:
            "─".encode(file.encoding or "utf-8")
            self._table = None
        except (UnicodeEncodeError, LookupError):
            self._table = _ASCII

    def write(self, text: str) -> None:
        """Write `text`, with the letters that the terminal has."""
        if self._table is not None:
            encoding = self._file.encoding
            text = text.translate(self._table).encode(encoding, "replace").decode(encoding)
        self._try(lambda: self._file.write(text))

    def flush(self) -> None:
        """Pass on what was written."""
        self._try(self._file.flush)

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._file.isatty()

    def fileno(self) -> int:
        """The file's descriptor."""
        return self._file.fileno()

    def _try(self, action: Callable[[], object]) -> None:
        if self._lost:
            return
        try:
            action()
        except (OSError, ValueError):
            self._lost = True
            self._gone()


def terminal_output(gone: Callable[[], None]) -> Output:
    """Standard output, which is a terminal."""
    stream = sys.__stdout__
    assert stream is not None
    return Output(stream, gone)


class TerminalDriver(LinuxDriver):
    """Draws on standard output, and survives letters that are no UTF-8 and a lost terminal."""

    def __init__(self, app: Any, **options: Any) -> None:
        super().__init__(app, **options)
        self._file: Any = terminal_output(self._gone)

    def run_input_thread(self) -> None:
        """Pass the keys on until the terminal goes away, or the driver stops."""
        parser = XTermParser(self._debug)
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(_POLL_S):
                    data = self._read()
                    if not data:
                        self._gone()
                        return
                    for message in parser.feed(decode(data)):
                        self.process_message(message)
                for message in parser.tick():
                    self.process_message(message)

    def _read(self) -> bytes:
        """What was typed; nothing: the terminal is gone."""
        with suppress(OSError):
            return os.read(self.fileno, _READ)
        return b""

    def _gone(self) -> None:
        """Have the application leave; a thread calls this."""
        lost = getattr(self._app, "terminal_lost", None)
        if lost is not None:
            self._loop.call_soon_threadsafe(lost)
