"""Files and folders that only their owner can read: they hold conversations.

A file is created with its mode, whatever the umask, so that there is no moment at which others can
open it. The published core (0.61.0) leaves most of these modes to the umask.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, Literal, TextIO, overload

__all__ = ["PRIVATE_FILE", "PRIVATE_FOLDER", "make_private_folder", "open_private", "write_private"]

PRIVATE_FILE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700


@overload
def open_private(file: Path, mode: Literal["w", "a", "x"], **options: Any) -> TextIO: ...
@overload
def open_private(file: Path, mode: Literal["wb", "ab", "xb"], **options: Any) -> BinaryIO: ...
def open_private(file: Path, mode: str, **options: Any) -> IO[Any]:
    """`file.open(mode)`; a file that this creates has mode 0600, one that is there keeps its own.

    Args:
        file: What is opened.
        mode: As for `open`: `w`, `a`, `x`, with `b` for bytes.
        options: The other arguments of `open`: `encoding`, `errors`, `newline`, `buffering`.

    Raises:
        OSError: as `open` does.
    """

    def opener(path: str, flags: int) -> int:
        return os.open(path, flags, PRIVATE_FILE)

    return open(file, mode, opener=opener, **options)


def write_private(file: Path, content: bytes, *, draft: bool = False) -> None:
    """Write a whole file; see `open_private`.

    Args:
        file: The file.
        content: All that is in it afterwards.
        draft: The file is going to replace another one. An existing file is deleted first, because
            its mode would stay.

    Raises:
        OSError: as `open` does.
    """
    if draft:
        file.unlink(missing_ok=True)
    with open_private(file, "xb" if draft else "wb") as stream:
        stream.write(content)


def make_private_folder(folder: Path) -> None:
    """`mkdir -p`; each folder that this creates has mode 0700.

    Raises:
        OSError: as `Path.mkdir` does.
    """
    missing = []
    for place in (folder, *folder.parents):
        if place.exists():
            break
        missing.append(place)
    for place in reversed(missing):
        place.mkdir(PRIVATE_FOLDER, exist_ok=True)
    folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
