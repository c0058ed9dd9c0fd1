"""A recording's file of JSON lines. A full disk closes it.

Only its owner can read it; the core leaves that to the umask.

Source: core `services/chatRecordingService.ts` (`appendRecord`, `rewriteConversationFile`).
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from services.exhaustion import notice
from services.private_files import make_private_folder, open_private, write_private
from services.wire import JsonObject, js_json

__all__ = ["SessionFile", "is_disk_full", "json_line"]

logger = logging.getLogger(__name__)

# Upstream knows the first only; a used-up quota would end the turn there.
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


def is_disk_full(error: OSError) -> bool:
    """Whether `error` says that there is no space left."""
    return error.errno in _FULL


def json_line(record: JsonObject) -> bytes:
    """One line of a recording. Half a surrogate pair is escaped, so that it is read back."""
    return js_json(record).encode() + b"\n"


class SessionFile:
    """Appends records. A full disk calls `on_full` once and closes it."""

    def __init__(self, path: Path, on_full: Callable[[], None]) -> None:
        self.path = path
        self.closed = False
        self._on_full = on_full

    def append(self, record: JsonObject) -> None:
        """Write one line, unless the file is closed. It is on disk when this returns.

        Raises:
            OSError: it cannot be written, and not for want of space.
        """
        if not self.closed:
            self.append_lines([json_line(record)])

    def append_lines(self, portions: Iterable[bytes]) -> None:
        """Write encoded lines, opening the file once; see `append`.

        Raises:
            OSError: they cannot be written, and not for want of space.
        """
        if not self.closed:
            self._unless_full(lambda: self._append(portions))

    def replace(self, records: Iterable[JsonObject], now_ms: int) -> None:
        """Write the whole file anew, and keep the unreadable old one.

        The old file becomes `<file>.unreadable-<now_ms>`.

        Raises:
            OSError: it cannot be written, and not for want of space.
        """
        if not self.closed:
            content = b"".join(map(json_line, records))
            self._unless_full(lambda: self._replace(content, now_ms))

    def _unless_full(self, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            notice(error, self.path)
            if not is_disk_full(error):
                raise
            self.closed = True
            self._on_full()

    def _append(self, portions: Iterable[bytes]) -> None:
        try:
            file = open_private(self.path, "ab")
        except (FileNotFoundError, NotADirectoryError):
            make_private_folder(self.path.parent)
            file = open_private(self.path, "ab")
        with file:
            file.writelines(portions)

    def _replace(self, content: bytes, now_ms: int) -> None:
        make_private_folder(self.path.parent)
        if self.path.exists():
            backup = self.path.with_name(f"{self.path.name}.unreadable-{now_ms}")
            try:
                self.path.rename(backup)
                logger.warning("the unreadable session file was kept as %s", backup)
            except OSError as error:
                notice(error, self.path)
                logger.exception("the unreadable session file %s could not be kept", self.path)
        written = self.path.with_name(f"{self.path.name}.tmp-{os.getpid()}")
        try:
            write_private(written, content, draft=True)
            written.rename(self.path)
        except OSError:
            written.unlink(missing_ok=True)
            raise
