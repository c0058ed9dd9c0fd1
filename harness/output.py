"""Standard output and error that may be full, closed, or no longer read.

A command goes on when its output breaks, because what it prints is the least of what it does: a run
still completes its journal and its reports. `StandardOutput.exit_code` reports the loss at the end.
The exit codes are those of well-known tools: 141 where the reader of a pipe has left, as of a
process that SIGPIPE ended, and otherwise 2 with one sentence on standard error.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["BROKEN_PIPE", "OUTPUT_LOST", "StandardOutput", "stopping_at_broken_output"]

BROKEN_PIPE: Final = 141
"""Exit code where the reader of the output has left: 128 + SIGPIPE."""
OUTPUT_LOST: Final = 2
"""Exit code where the output could not be written for another reason."""

_IN, _OUT, _ERR = 0, 1, 2


class _Stream(io.FileIO):
    """A standard stream that drops what it is given from its first error on."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self.failure: OSError | None = None
        self.raises = False
        """Whether the writer receives the error, and can stop."""
        self.reported = False
        """Whether the command has its own exit code for the error."""

    def write(self, data: ReadableBuffer, /) -> int:
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.failure = error
        if self.raises:
            raise self.failure
        return memoryview(data).nbytes


class StandardOutput:
    """This process's standard output; making one puts it, and standard error, into place.

    Streams that were closed are opened on the null device first. Otherwise the next file that is
    opened takes the number of the missing stream, and receives what is printed.
    """

    def __init__(self) -> None:
        _open_closed_streams()
        self._out = _installed("stdout", _OUT)
        _installed("stderr", _ERR)
        if sys.stdin is None:
            sys.stdin = open(_IN, closefd=False)  # noqa: SIM115 - a descriptor, for good

    def exit_code(self, code: int) -> int:
        """What a command that came to `code` exits with; prints the sentence about lost output."""
        if self._out is None:
            return code
        try:
            sys.stdout.flush()
        except OSError as error:
            self._out.failure = error
        failure = self._out.failure
        if failure is None or self._out.reported:
            return code
        if failure.errno == errno.EPIPE:
            return BROKEN_PIPE
        problem = f"standard output cannot be written: {failure.strerror}"
        click.echo(f"parity: {problem}; the rest of the output is lost", err=True)
        return OUTPUT_LOST


@contextmanager
def stopping_at_broken_output() -> Iterator[None]:
    """Let broken output raise inside the `with` block, for a command that must stop then.

    Such a command has its own exit code for a reader that has left.

    Raises:
        click.exceptions.Exit: standard output failed in another way, and the block let that out.
    """
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if not isinstance(raw, _Stream):
        yield
        return
    raw.raises = True
    try:
        yield
        raw.reported = raw.failure is not None and raw.failure.errno == errno.EPIPE
    except OSError as error:
        if error is not raw.failure:
            raise
        raise click.exceptions.Exit(OUTPUT_LOST) from error
    finally:
        raw.raises = False


def _open_closed_streams() -> None:
    for descriptor, mode in ((_IN, os.O_RDONLY), (_OUT, os.O_RDONLY), (_ERR, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is this one. Output that can only be read stays an error.
            os.set_inheritable(os.open(os.devnull, mode), True)


def _installed(name: str, descriptor: int) -> _Stream | None:
    """Replace a stream of `sys`; `None` where a caller has put something of its own there."""
    before = getattr(sys, name)
    if before is None:
        encoding, line_buffering, write_through = "utf-8", False, False
    elif isinstance(before, io.TextIOWrapper) and _number(before) == descriptor:
        before.flush()
        encoding, line_buffering = before.encoding, before.line_buffering
        write_through = before.write_through
    else:
        return None
    raw = _Stream(descriptor)
    text = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=encoding,
        errors="replace",  # a sign that a terminal lacks ends no command
        line_buffering=line_buffering,
        write_through=write_through,
    )
    setattr(sys, name, text)
    return raw


def _number(stream: io.TextIOWrapper) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None
