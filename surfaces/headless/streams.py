"""Writing to standard output and standard error, and what must not get there.

Source: `packages/cli` `ui/utils/textOutput.ts`; `strip-ansi`.
"""

from __future__ import annotations

import re
from typing import Final, TextIO

__all__ = ["OutputClosed", "Streams", "strip_ansi"]

_ANSI: Final = re.compile(
    r"\x1b\][\s\S]*?(?:\x07|\x1b\\|\x9c)"
    r"|[\x1b\x9b][\[\]()#;?]*(?:[0-9]{1,4}(?:[;:][0-9]{0,4})*)?[0-9A-PR-TZcf-nq-uy=><~]"
)


class OutputClosed(Exception):
    """The reader of standard output has left."""


def strip_ansi(text: str) -> str:
    """`text` without the sequences that move a terminal's cursor or change its colours."""
    return _ANSI.sub("", text) if "\x1b" in text or "\x9b" in text else text


class Streams:
    """Both standard streams. Everything is on its way when a call returns.

    Args:
        out: where answers go.
        err: for messages; ignored once it is closed.
    """

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self._out = out
        self._err = err
        self._at_start = True

    @property
    def reports_on_a_terminal(self) -> bool:
        """Whether standard error is a terminal."""
        try:
            return self._err.isatty()
        except ValueError:
            return False

    def write(self, text: str) -> None:
        """Write an answer.

        Raises:
            OutputClosed: the reader has left.
        """
        if not text:
            return
        try:
            self._out.write(_writable(text))
            self._out.flush()
        except (BrokenPipeError, ValueError) as error:
            # ValueError is what a stream object says that was closed on this side.
            raise OutputClosed from error
        shown = strip_ansi(text)
        if shown:
            self._at_start = shown.endswith("\n")

    def end_line(self) -> None:
        """End the line of the answer, if one has begun."""
        if not self._at_start:
            self.write("\n")

    def report(self, text: str) -> None:
        """Write a line to standard error."""
        try:
            self._err.write(_writable(f"{text}\n"))
            self._err.flush()
        except (BrokenPipeError, ValueError):
            return


def _writable(text: str) -> str:
    """`text` with pairs of surrogates joined and halves of pairs replaced, as files have it."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
