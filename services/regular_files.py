"""Reads regular files only, and no more than a limit; for paths from outside.

Opening a FIFO waits for a writer, a device may never end, and a file may grow while it is read. The
errors are `OSError`s whose `strerror` completes "cannot be read:".
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Final

__all__ = ["MOST_TEXT", "FileTooLarge", "NotARegularFile", "open_regular", "read_regular"]

MOST_TEXT: Final = 64 * 1024 * 1024
"""The limit in bytes for files that the product reads whole."""

_PIECE: Final = 1 << 16


class NotARegularFile(OSError):
    """The path leads to a FIFO, a socket or a device."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EINVAL, "it is not a regular file", str(path))


class FileTooLarge(OSError):
    """The file holds more than the caller reads."""

    def __init__(self, path: Path, most: int) -> None:
        # Not EFBIG, which is for a machine that limits files.
        super().__init__(errno.EOVERFLOW, f"it is larger than {most:,} bytes", str(path))


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading, without waiting for anything.

    Raises:
        IsADirectoryError: it is a folder.
        NotARegularFile: it is anything else that is no regular file.
        OSError: it cannot be opened.
    """
    # Without O_NONBLOCK a FIFO would be waited for here; reading a regular file ignores it.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise NotARegularFile(path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, most: int) -> bytes:
    """The bytes of a regular file.

    Args:
        path: The file.
        most: The most bytes that it may hold.

    Raises:
        IsADirectoryError, NotARegularFile: as for `open_regular`.
        FileTooLarge: it holds more than `most` bytes.
        OSError: it cannot be read.
    """
    with open_regular(path) as stream:
        # One large read would make room for `most` bytes, however few there are.
        pieces = iter(lambda: stream.read(_PIECE), b"")
        data = b"".join(islice(pieces, most // _PIECE + 1))
    if len(data) > most:
        raise FileTooLarge(path, most)
    return data
