"""A recording's file: JSON lines appended one at a time, by a writer that a full disk stops.

Source: core `services/chatRecordingService.ts` (`appendRecord`, `rewriteConversationFile`).
"""

from __future__ import annotations

import errno
import logging
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from services.wire import JsonObject, js_json

__all__ = ["SessionFile", "is_disk_full", "json_line"]

logger = logging.getLogger(__name__)

# Upstream knows the first only; a used-up quota would end the turn there.
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF: Final = re.compile("[\ud800-\udfff]")


def is_disk_full(error: OSError) -> bool:
    """Whether `error` says that there is no space left."""
    return error.errno in _FULL


def json_line(record: JsonObject) -> bytes:
    """One line of a recording. Half a surrogate pair is escaped, so that it is read back."""
    text = js_json(record)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        joined = _PAIR.sub(_join, text)
        return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", joined).encode() + b"\n"


def _join(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


class SessionFile:
    """Appends records. When the disk is full it says so once and is closed from then on."""

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
            self._unless_full(lambda: self._append(json_line(record)))

    def replace(self, records: Iterable[JsonObject], now_ms: int) -> None:
        """Write the whole file anew; what could not be read of the old one stays beside it.

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
            if not is_disk_full(error):
                raise
            self.closed = True
            self._on_full()

    def _append(self, line: bytes) -> None:
        try:
            file = self.path.open("ab")
        except FileNotFoundError:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("ab")
        with file:
            file.write(line)

    def _replace(self, content: bytes, now_ms: int) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            backup = self.path.with_name(f"{self.path.name}.unreadable-{now_ms}")
            try:
                self.path.rename(backup)
                logger.warning("the unreadable session file was kept as %s", backup)
            except OSError:
                logger.exception("the unreadable session file %s could not be kept", self.path)
        written = self.path.with_name(f"{self.path.name}.tmp-{os.getpid()}")
        try:
            written.write_bytes(content)
            written.rename(self.path)
        except OSError:
            written.unlink(missing_ok=True)
            raise
