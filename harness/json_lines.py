"""Writes the lines of journals: JSON, each line flushed at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Self, TextIO

from harness.errors import ReplayFailure
from harness.journal_lock import JournalLock
from services.redaction import redacted_value

__all__ = ["JsonLines", "changed"]


_AS_IT_IS: Final = ("inventory", "timelines")
"""Keys whose values are not searched for secrets. The text of a timeline was cleaned before it was
compressed, and may now look like a secret. An inventory has digests under names of files, and a
digest under a name such as `max_tokens` looks like a secret."""


class JsonLines:
    """A file of JSON lines. A process that is killed loses at most the last one.

    Use as a context manager.
    """

    def __init__(self, stream: TextIO, lock: JournalLock | None = None) -> None:
        """Write to `stream` from its position; `close` closes it, and then releases `lock`."""
        self._stream = stream
        self._lock = lock

    def _write(self, line: Mapping[str, Any]) -> None:
        """Write one line.

        Raises:
            ReplayFailure: it cannot be written; the file is closed.
        """
        kept = {key: line[key] for key in _AS_IT_IS if key in line}
        try:
            self._stream.write(json.dumps({**redacted_value(line), **kept}) + "\n")
            self._stream.flush()
        except OSError as error:
            with suppress(OSError):  # closing tries the failed write again
                self._stream.close()
            problem = f"the journal cannot be written: {error.strerror}"
            mend = "free disk space, then continue with --resume"
            raise ReplayFailure(str(self._stream.name), problem, mend) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._stream.close()
        if self._lock is not None:
            self._lock.release()


def changed(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the differences of two headers as phrases, by name."""
    return [
        f"{key} was {was.get(key)!r} and is {now.get(key)!r}"
        for key in sorted({*was, *now})
        if was.get(key) != now.get(key)
    ]
