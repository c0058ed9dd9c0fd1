"""Reads and writes text files as upstream does: UTF-8, with byte order marks and line ends kept.

Source: core `services/fileSystemService.ts`.
"""

from __future__ import annotations

from pathlib import Path

from services.node_errors import error_code, node_error_message
from services.tools.paths import exists

__all__ = ["TextFileError", "TextFiles", "read_if_there", "read_text", "write_text"]


class TextFileError(Exception):
    """A file cannot be read or written; `code` is the symbolic error, the message is Node's."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


def read_text(path: Path) -> str:
    """The file's text; bytes that are not UTF-8 become U+FFFD, a byte order mark is kept.

    Raises:
        TextFileError: an error of the file system.
    """
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError as error:
        raise _failure(error, path, "read") from error


def read_if_there(path: Path) -> str | None:
    """The file's text; `None` if there is no file.

    Raises:
        TextFileError: it exists and cannot be read.
    """
    try:
        return read_text(path)
    except TextFileError as error:
        if error.code == "ENOENT":
            return None
        raise


def write_text(path: Path, text: str) -> None:
    """Write `text`, and create missing folders.

    Raises:
        TextFileError: an error of the file system.
    """
    try:
        if not exists(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TextFileError(
            node_error_message(error, "mkdir", path.parent), error_code(error)
        ) from error
    valid = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    try:
        path.write_bytes(valid.encode())
    except OSError as error:
        raise _failure(error, path, "open") from error


class TextFiles:
    """The text files that tools edit: those on disk, unless a surface has others.

    The editor of a client may have text that is not saved yet. `load` fetches what `read_if_there`
    then returns, because a question to the user is made without waiting.
    """

    async def load(self, path: Path) -> None:
        """Fetch the text of the file for the next `read_if_there`; the disk needs no fetching."""

    def read_if_there(self, path: Path) -> str | None:
        """The file's text; `None` if there is no file.

        Raises:
            TextFileError: it exists and cannot be read.
        """
        return read_if_there(path)

    async def write(self, path: Path, text: str) -> None:
        """Write `text`, and create missing folders.

        Raises:
            TextFileError: the file cannot be written.
        """
        write_text(path, text)


def _failure(error: OSError, path: Path, on_folder: str) -> TextFileError:
    code = error_code(error)
    if code == "EISDIR" and on_folder == "read":
        # Node opens a folder without an error, and fails at the first read, which names no path.
        return TextFileError(node_error_message(error, "read"), code)
    return TextFileError(node_error_message(error, "open", path), code)
