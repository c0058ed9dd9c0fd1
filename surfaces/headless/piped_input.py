"""What was piped into the program. Source: `packages/cli` `utils/readStdin.ts`."""

from __future__ import annotations

import codecs
import io
import select
import sys
from typing import BinaryIO, Final, TextIO

__all__ = ["MAX_INPUT_BYTES", "read_piped_input", "with_piped_input"]

MAX_INPUT_BYTES: Final = 8 * 1024 * 1024
PATIENCE_S: Final = 0.5
"""How long to wait for the first byte of a pipe; an idle pipe counts as empty."""


def read_piped_input(stdin: TextIO) -> str:
    """All of standard input; nothing if that is a terminal.

    What goes beyond `MAX_INPUT_BYTES` is left out; bytes that are no UTF-8 become U+FFFD.
    """
    source: BinaryIO | None = getattr(stdin, "buffer", None)
    if stdin.isatty() or source is None or not _has_something(stdin):
        return ""
    kept = source.read(MAX_INPUT_BYTES + 1)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    # A character that the limit cuts in two is left out as a whole.
    return decoder.decode(kept[:MAX_INPUT_BYTES], final=len(kept) <= MAX_INPUT_BYTES)


def with_piped_input(piped: str, prompt: str) -> str:
    """The prompt that is sent: what was piped comes first."""
    if piped and prompt:
        return f"{piped}\n\n{prompt}"
    return piped or prompt


def _has_something(stdin: TextIO) -> bool:
    try:
        descriptor = stdin.fileno()
    except (io.UnsupportedOperation, ValueError):
        return True
    if sys.platform == "win32":
        return True
    ready, _, _ = select.select([descriptor], [], [], PATIENCE_S)
    return bool(ready)
