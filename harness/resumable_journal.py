"""The journal of a long run: a header, then a line for each result, which `--resume` reads back.

Lines are flushed as they are written, so a killed run loses only the results in progress.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.journal_lock import JournalLock
from harness.json_lines import JsonLines, changed
from services.private_files import open_private
from services.wire import JsonObject

__all__ = ["ResumableJournal"]

_ANEW: Final = "run without --resume to begin anew"


class ResumableJournal(JsonLines, ABC):
    """A journal that is being written. Use as a context manager.

    Attributes:
        file: The file of the journal.
        resumed: Whether the journal continues an earlier run.
    """

    def __init__(self, file: Path, header: JsonObject, *, resume: bool) -> None:
        """Open `file` for writing; `resume` continues it where it exists.

        Args:
            file: Its folder is made if it is missing.
            header: What identifies the run; a journal with another header is not continued.
            resume: Whether to continue. `_take` then gets each line of results.

        Raises:
            UsageError: it is not writable, another process writes to it, or, with `resume`, it is
                no journal or that of another run.
            ReplayFailure: the disk is full.
        """
        self.file = file
        with ExitStack() as undone:
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                lock = JournalLock(file)
                undone.callback(lock.release)
                self.resumed = resume and file.exists()
                if self.resumed:
                    os.truncate(file, self._read_back(header))
                stream = open_private(file, "a" if self.resumed else "w", encoding="utf-8")
            except OSError as error:
                problem = f"the journal {file} cannot be written: {error.strerror}"
                raise UsageError(problem, "run in a folder that can be written to") from error
            undone.callback(stream.close)
            super().__init__(stream, lock)
            if not self.resumed:
                self._write(header)
            undone.pop_all()

    @abstractmethod
    def _take(self, line: JsonObject) -> None:
        """Take in a line of results.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: it is no such line.
        """

    def _differing(self, was: JsonObject, now: JsonObject) -> list[str]:
        """Return the differences of two headers as phrases; none if they are of one run.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: `was` is no such header.
        """
        return changed(was, now)

    def _read_back(self, header: JsonObject) -> int:
        """Read the journal; return its length up to the last whole line."""
        text = self.file.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        lines = whole.splitlines()
        if not lines:
            raise UsageError(f"{self.file}: has no header", _ANEW)
        for number, raw in enumerate(lines, 1):
            try:
                line = json.loads(raw)
                if number > 1:
                    self._take(line)
                elif found := self._differing(line, header):
                    problem = f"{self.file}: belongs to another run: {'; '.join(found)}"
                    raise UsageError(problem, _ANEW)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                problem = f"{self.file}: line {number} is not such a journal's: {error}"
                raise UsageError(problem, _ANEW) from error
        return len(whole)
