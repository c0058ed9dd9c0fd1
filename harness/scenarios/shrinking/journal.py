"""What a shrinking has tried, in a file, so that one that was ended can be gone on with.

One JSON line each: a header that says of what it is, then every scenario that was tried, by digest,
and whole where it was kept. A file that is no such journal, or of another shrinking, is not used;
`remark` says so.
"""

from __future__ import annotations

import json
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from harness.cassette.document import MAX_BYTES
from harness.errors import UsageError
from harness.journal_lock import JournalLock
from harness.whole_file import write_whole
from services.regular_files import open_regular
from services.wire import JsonObject

__all__ = ["SHRINKS", "ShrinkHeader", "ShrinkJournal"]

SHRINKS: Final = Path(".parity") / "shrink"
"""Where journals are kept, in the current folder."""

_FORMAT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrinkHeader:
    """What a shrinking is of: only with all of it alike does what was refused stay refused."""

    cassette: str
    """`content_digest` of the document that it began with."""
    fingerprint: str
    control: str
    candidate: str
    fault: str | None
    waivers: str
    """Digest of the waivers in force."""
    code: str
    """Digest of the code that ran it."""


class ShrinkJournal:
    """The file of one shrinking; a context manager. Serves `shrink` as its `tried`."""

    def __init__(self, folder: Path, header: ShrinkHeader, *, resume: bool) -> None:
        """Open it in `folder`.

        Args:
            folder: Made if it is not there.
            header: What is going to be shrunk.
            resume: Go on with what the file holds, instead of writing over it.

        Raises:
            UsageError: the file cannot be written, or another process writes to it.
        """
        self.file = folder / f"{header.cassette}.jsonl"
        self.best: JsonObject | None = None
        """The smallest document of the run that is gone on with."""
        self.remark: str | None = None
        """Why there is nothing to go on with, where that was asked for."""
        self._tried: set[str] = set()
        first = json.dumps({"format": _FORMAT, **asdict(header)})
        with ExitStack() as undone:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                self._lock = JournalLock(self.file)
                undone.callback(self._lock.release)
                lines = self._read(header) if resume else []
                # What was tried takes hours to find out again: no moment is without it.
                write_whole(self.file, "".join(f"{line}\n" for line in (first, *lines)))
                self._stream = self.file.open("a", encoding="utf-8")
            except OSError as error:
                problem = f"{self.file} cannot be written: {error.strerror}"
                raise UsageError(problem, "work in a folder that you may write to") from error
            undone.pop_all()

    def __enter__(self) -> ShrinkJournal:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file; it stays."""
        self._close()

    def __contains__(self, digest: object) -> bool:
        """Whether the scenario of this `content_digest` was tried."""
        return digest in self._tried

    def __len__(self) -> int:
        """How many were."""
        return len(self._tried)

    def add(self, digest: str) -> None:
        """It was, just now."""
        self._tried.add(digest)
        self._write(json.dumps({"tried": digest}))

    def kept(self, document: JsonObject) -> None:
        """`document` is the smallest now."""
        self.best = document
        self._write(json.dumps({"kept": document}))

    def ended(self) -> None:
        """There is nothing left to try: the file goes."""
        self.file.unlink(missing_ok=True)
        self._close()

    def _close(self) -> None:
        # What could not be written was reported when it was tried.
        with suppress(OSError):
            self._stream.close()
        self._lock.release()

    def _write(self, line: str) -> None:
        try:
            self._stream.write(f"{line}\n")
            self._stream.flush()
        except OSError as error:
            self._close()
            problem = f"{self.file} cannot be written: {error.strerror}"
            raise UsageError(problem, "make room, then go on with --resume") from error

    def _read(self, header: ShrinkHeader) -> list[str]:
        """Take in what the file holds; returns its lines after the header."""
        if not self.file.is_file():
            self.remark = f"there is no {self.file} to go on with: begun anew"
            return []
        try:
            with open_regular(self.file) as stream:
                text = stream.read(MAX_BYTES).decode("utf-8")
            first, *lines = text.split("\n")
            told = json.loads(first)
        except (OSError, ValueError, RecursionError):
            self.remark = f"{self.file} is no journal of a shrinking: begun anew"
            return []
        if told != {"format": _FORMAT, **asdict(header)}:
            other = [key for key in told if key != "cassette"] if isinstance(told, dict) else []
            differs = [key for key in other if told[key] != asdict(header).get(key, _FORMAT)]
            about = f" (another {', '.join(differs)})" if differs else ""
            self.remark = f"{self.file} is of another shrinking{about}: begun anew"
            return []
        return [line for line in lines if self._takes(line)]

    def _takes(self, line: str) -> bool:
        """Take in one line; one that was cut off says nothing."""
        value: Any = None
        with suppress(ValueError, RecursionError):
            value = json.loads(line)
        if not isinstance(value, dict):
            return False
        if isinstance(value.get("tried"), str):
            self._tried.add(value["tried"])
            return True
        if isinstance(value.get("kept"), dict):
            self.best = value["kept"]
            return True
        return False
