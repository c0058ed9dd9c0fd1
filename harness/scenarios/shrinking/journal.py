"""The journal of a shrinking, so that an interrupted one can be resumed.

It has one JSON line each for the header, for the digest of every tried scenario, and for every kept
scenario. A file that is no such journal, or of another shrinking, is not used; see `remark`.
"""

from __future__ import annotations

import json
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from harness.cassette.document import MAX_BYTES
from harness.errors import UsageError
from harness.journal_lock import JournalLock
from harness.whole_file import write_whole
from services.regular_files import open_regular
from services.wire import JsonObject

__all__ = ["SHRINKS", "ShrinkHeader", "ShrinkJournal"]

SHRINKS: Final = Path(".parity") / "shrink"
"""The folder of the journals."""

_FORMAT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrinkHeader:
    """The facts of a shrinking: while all are equal, a refused scenario stays refused."""

    cassette: str
    """`content_digest` of the first document."""
    fingerprint: str
    control: str
    candidate: str
    fault: str | None
    waivers: str
    """Digest of the waivers in force."""
    code: str
    """Digest of the code."""


class ShrinkJournal:
    """The journal of one shrinking; a context manager. `shrink` uses it as its `tried`."""

    def __init__(self, folder: Path, header: ShrinkHeader, *, resume: bool) -> None:
        """Open it in `folder`; `resume` continues the file instead of overwriting it.

        Raises:
            UsageError: the file cannot be written, or another process writes to it.
        """
        self.file = folder / f"{header.cassette}.jsonl"
        self.best: JsonObject | None = None
        """The smallest document so far."""
        self.remark: str | None = None
        """Why the shrinking could not be resumed, if so."""
        self._tried: set[str] = set()
        first = json.dumps({"format": _FORMAT, **asdict(header)})
        with ExitStack() as undone:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                self._lock = JournalLock(self.file)
                undone.callback(self._lock.release)
                lines = self._read(header) if resume else []
                # Written whole, since the tries may have taken hours.
                write_whole(self.file, "".join(f"{line}\n" for line in (first, *lines)))
                self._stream = self.file.open("a", encoding="utf-8")
            except OSError as error:
                problem = f"{self.file} cannot be written: {error.strerror}"
                raise UsageError(problem, "work in a folder that you may write to") from error
            undone.pop_all()

    def __enter__(self) -> ShrinkJournal:
        """Itself."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close the file; it stays."""
        self._close()

    def __contains__(self, digest: object) -> bool:
        """Whether the scenario with this `content_digest` was tried."""
        return digest in self._tried

    def __len__(self) -> int:
        """How many scenarios were tried."""
        return len(self._tried)

    def add(self, digest: str) -> None:
        """Record a tried scenario."""
        self._tried.add(digest)
        self._write(json.dumps({"tried": digest}))

    def kept(self, document: JsonObject) -> None:
        """Record `document` as the smallest."""
        self.best = document
        self._write(json.dumps({"kept": document}))

    def ended(self) -> None:
        """Remove the file: nothing is left to try."""
        self.file.unlink(missing_ok=True)
        self._close()

    def _close(self) -> None:
        # `_write` has reported lines that could not be written.
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
        """Read the file; returns its lines after the header."""
        if not self.file.is_file():
            self.remark = f"there is no {self.file} to go on with: begun anew"
            return []
        try:
            with open_regular(self.file) as stream:
                text = stream.read(MAX_BYTES).decode("utf-8")
            first, *lines = text.split("\n")
            head = json.loads(first)
        except (OSError, ValueError, RecursionError):
            self.remark = f"{self.file} is no journal of a shrinking: begun anew"
            return []
        if head != {"format": _FORMAT, **asdict(header)}:
            other = [key for key in head if key != "cassette"] if isinstance(head, dict) else []
            differs = [key for key in other if head[key] != asdict(header).get(key, _FORMAT)]
            about = f" (another {', '.join(differs)})" if differs else ""
            self.remark = f"{self.file} is of another shrinking{about}: begun anew"
            return []
        return [line for line in lines if self._takes(line)]

    def _takes(self, line: str) -> bool:
        """Read one line; a truncated one is ignored."""
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
