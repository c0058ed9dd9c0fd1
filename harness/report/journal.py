"""The journal of a run: JSON lines, each flushed as it happens, so that little can be lost.

First a header that says what is compared with what, then the inventory: every file and package
that the verdict rests on. Then, per case, a `started` line, and a `finished` line with the result
and the digests of both traces; how long it took is a line of its own, being no part of the result.
A killed run loses at most what was in flight; the same command with `--resume` goes on.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, TextIO

from harness.errors import LoadProblem, ReplayFailure, UsageError
from harness.experiment.case import CaseOutcome, Skipped
from harness.experiment.events import CaseFinished, CaseStarted, Event, RunFinished, RunStarted
from harness.inventory import Inventory
from harness.journal_header import JournalHeader
from harness.journal_lock import JournalLock
from harness.json_lines import JsonLines
from harness.parity.verdict import CaseResult
from harness.report.journal_lines import MAX_LINE, read_header
from harness.report.journal_reading import JournalRecord, read_journal, shard_of
from services.private_files import open_private
from services.regular_files import open_regular

__all__ = [
    "Journal",
    "JournalHeader",
    "JournalRecord",
    "locked_place",
    "read_header",
    "read_journal",
    "refuse_other_run",
    "shard_of",
]

_ANEW: Final = "run without --resume, or give another --journal"


_ENDED: Final[Mapping[str, Any]] = {"ended": True}
_BEGINNING: Final = b'{"journal": '
"""Of a journal's first line."""
_END: Final = f"\n{json.dumps(_ENDED)}\n".encode()


class Journal(JsonLines):
    """A journal being written. Use as a context manager."""

    def __init__(
        self,
        file: Path,
        header: JournalHeader,
        inventory: Inventory,
        *,
        resume: bool = False,
        asked_for: bool = True,
    ) -> None:
        """Open `file` for writing, or with `resume` for going on.

        Unless the user `asked_for` it, the run goes on without it when the disk is full.

        Raises:
            UsageError: not writable; not a journal; one of another run; or another process
                writes to it.
            ReplayFailure: the disk is full.
        """
        self._asked_for = asked_for
        self._full = False
        self._left = 0
        """Cases of the run that have no outcome yet."""
        self.file = file
        self.before: JournalRecord | None = None
        """What was in it already."""
        self.set_aside: Path | None = None
        """Where the journal lies now that was here, of a run that did not come to its end."""
        with ExitStack() as undone:
            lock = locked_place(file)
            undone.callback(lock.release)
            if resume and _to_go_on_with(file):
                self.before = read_journal(file)
                refuse_other_run(self.before, header, inventory)
            super().__init__(self._opened(), lock)
            undone.callback(self._stream.close)
            if self.before is None:
                self._write(header.to_json())
                self._write({"inventory": _inventory_json(inventory)})
            undone.pop_all()

    def _opened(self) -> TextIO:
        try:
            if self.before is not None:
                os.truncate(self.file, self.before.whole_bytes)
                return open_private(self.file, "a", encoding="utf-8")
            if _unfinished(self.file):
                self.set_aside = self.file.with_name(f"{self.file.name}.unfinished")
                self.file.replace(self.set_aside)
            return open_private(self.file, "w", encoding="utf-8")
        except OSError as error:
            raise _unwritable(self.file, error) from error

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._full:
            return
        try:
            super()._write(line)
        except ReplayFailure:
            self._full = True
            if self._asked_for:
                raise

    def __call__(self, event: Event[Any, CaseOutcome]) -> None:
        """Write one event of a run: the journal is a listener."""
        match event:
            case RunStarted(total):
                self._left = total or 0
            case CaseStarted(task):
                self.started(task.name)
            case CaseFinished(task, result, took_ms):
                self.outcome(task.name, result, took_ms)
                self._left -= 1
            case RunFinished() if not self._left:
                self.ended()
            case _:
                pass

    def started(self, cassette: str) -> None:
        """Write that a case was handed out."""
        self._write({"started": cassette})

    def outcome(self, name: str, outcome: CaseOutcome, took_ms: float | None = None) -> None:
        """Write the outcome of the case that was started as `name`, and how long it took."""
        match outcome:
            case Skipped():
                self._write({"skipped": name})
            case LoadProblem(file=file, message=message):
                self._write({"refused": name, "file": file, "message": message})
            case CaseResult():
                if took_ms is not None:
                    self._write({"took": name, "ms": round(took_ms, 1)})
                self._write({"finished": name, **outcome.to_json()})

    def ended(self) -> None:
        """Write that the run came to its end."""
        self._write(_ENDED)


def locked_place(file: Path) -> JournalLock:
    """Lock the place of a journal that is going to be written; makes its folder.

    Raises:
        UsageError: there is something else than a journal, which stays as it is; another process
            writes to it; or it cannot be written to.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        what = _something_else(file)
        if what is not None:
            problem = f"{file} {what}, and is not overwritten"
            raise UsageError(problem, "choose another place with --journal")
        return JournalLock(file)
    except OSError as error:
        raise _unwritable(file, error) from error


def _unwritable(file: Path, error: OSError) -> UsageError:
    problem = f"the journal {file} cannot be written: {error.strerror}"
    return UsageError(problem, "choose another place with --journal")


def _something_else(file: Path) -> str | None:
    """What is in place of a journal; `None` for a journal, a part of its head, or nothing."""
    try:
        mode = file.lstat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(mode):
        return "is a link"
    if not stat.S_ISREG(mode):
        return "is no file"
    with file.open("rb") as stream:
        head = stream.read(len(_BEGINNING))
    return None if _BEGINNING.startswith(head) else "is no journal"


def _unfinished(file: Path) -> bool:
    """Whether results of a run that did not end are in there: no other file may have them."""
    if not file.is_file():
        return False
    data = file.read_bytes()
    return data.startswith(b'{"journal":') and b'\n{"finished":' in data and _END not in data


def refuse_other_run(
    record: JournalRecord,
    header: JournalHeader,
    inventory: Inventory,
    *,
    but: frozenset[str] = frozenset(),
    mend: str = _ANEW,
) -> None:
    """Make sure that results of `record` and of a run with `header` can be put together.

    Raises:
        UsageError: they differ in what they compare or rest on; it says in what.
    """
    compared = but | {"components"}
    changed = record.header.differences(header, but=compared)
    changed += record.inventory.differences(inventory)
    if changed:
        raise UsageError(f"{record.file}: belongs to another run: {'; '.join(changed)}", mend)


def _to_go_on_with(file: Path) -> bool:
    """Whether there is anything in it; a run that was killed at once has left a part of its head.

    Raises:
        UsageError: not readable, or the beginning of something else than a journal.
    """
    try:
        with open_regular(file) as stream:
            first, second = stream.readline(MAX_LINE + 1), stream.readline(MAX_LINE + 1)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise UsageError(f"the journal {file} cannot be read: {error.strerror}") from error
    return second.endswith(b"\n") or not _BEGINNING.startswith(first[: len(_BEGINNING)])


def _inventory_json(inventory: Inventory) -> dict[str, Any]:
    return {
        name: {"files": dict(component.files), "parts": dict(component.parts)}
        for name, component in inventory.components.items()
    }
