"""Files written whole or not at all: a kill or a full disk leaves the old content as it was."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from services.private_files import open_private
from services.redaction import redacted_value

__all__ = ["writable_file", "writable_folder", "write_asked_for", "write_json", "write_whole"]

_DRAFTS: Final = count(1)
_STREAMS: Final = ("/dev/fd/", "/dev/std", "/proc/")
"""Where a path names an open stream of this process, which nothing may be put in place of."""


def write_whole(file: Path, content: str | bytes) -> None:
    """Write a draft beside `file`, and rename it into place; a text becomes UTF-8.

    A new file has mode 0600, one that is there keeps its permissions. A link stays, and the file
    that it leads to is replaced. What is no regular file, for example a pipe, is written directly.

    Raises:
        OSError: it cannot be written. The draft is gone, and `file` is as it was.
    """
    data = content.encode() if isinstance(content, str) else content
    place = Path(os.path.realpath(file))
    mode = _mode(place)
    if (mode is not None and not stat.S_ISREG(mode)) or str(file.absolute()).startswith(_STREAMS):
        _write_straight(file, data)
        return
    # A name of its own length: the file's may be as long as a name can be.
    draft = place.with_name(f".parity-{os.getpid()}-{next(_DRAFTS)}.part")
    try:
        with open_private(draft, "xb") as stream:
            stream.write(data)
            if mode is not None:
                os.fchmod(stream.fileno(), stat.S_IMODE(mode))
        draft.replace(place)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def write_asked_for(file: Path, content: str, option: str) -> None:
    """`write_whole` for a file that the user named with `option`.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        write_whole(file, content)
    except OSError as error:
        problem = f"{file} cannot be written: {error.strerror}"
        raise UsageError(problem, f"choose another place with {option}") from error


def write_json(file: Path, document: object) -> None:
    """Write `document`, without secrets, to the file that the user named with `--json`.

    Raises:
        UsageError: it cannot be written.
    """
    write_asked_for(file, json.dumps(redacted_value(document), indent=1) + "\n", "--json")


def writable_file(file: Path | None, option: str) -> None:
    """Find out before a run whether its report can be written; makes the folder.

    Raises:
        UsageError: naming the option to change.
    """
    if file is None:
        return
    if file.is_dir() or (file.exists() and not os.access(file, os.W_OK)):
        raise UsageError(f"{file} cannot be written", f"choose another file with {option}")
    writable_folder(file.parent, option)


def writable_folder(folder: Path | None, option: str) -> None:
    """The same for a folder.

    Raises:
        UsageError: naming the option to change.
    """
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        problem = f"the folder {folder} cannot be written to: {error.strerror}"
        raise UsageError(problem, f"choose another place with {option}") from error


def _mode(place: Path) -> int | None:
    try:
        return place.stat().st_mode
    except FileNotFoundError:
        return None


def _write_straight(file: Path, data: bytes) -> None:
    # Without O_NONBLOCK, opening a pipe that has no reader would wait for one.
    descriptor = os.open(file, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    os.set_blocking(descriptor, True)
    with open(descriptor, "wb") as stream:  # noqa: PTH123 - a descriptor
        stream.write(data)
