"""The journal of a run: JSON lines, each flushed as it happens, so that little can be lost.

First a header that says what is compared with what, then the inventory: every file and package
that the verdict rests on. Then, per case, a `started` line, and a `finished` line with the result
and the digests of both traces; how long it took is a line of its own, being no part of the result.
A killed run loses at most what was in flight; the same command with `--resume` goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from harness.errors import LoadProblem, ReplayFailure, UsageError
from harness.inventory import Inventory
from harness.journal_header import JournalHeader
from harness.json_lines import JsonLines
from harness.parity.verdict import CaseResult
from harness.report.journal_lines import MAX_LINE
from harness.report.journal_reading import JournalRecord, read_header, read_journal, shard_of
from services.regular_files import open_regular

__all__ = [
    "Journal",
    "JournalHeader",
    "JournalRecord",
    "read_header",
    "read_journal",
    "refuse_other_run",
    "shard_of",
]

_ANEW: Final = "run without --resume, or give another --journal"


_ENDED: Final[Mapping[str, Any]] = {"ended": True}
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

        Where nobody `asked_for` it, the run goes on without it when the disk is full.

        Raises:
            UsageError: not writable; not a journal; or one of another run.
            ReplayFailure: the disk is full.
        """
        self._asked_for = asked_for
        self._full = False
        self.file = file
        self.before = read_journal(file) if resume and _to_go_on_with(file) else None
        """What was in it already."""
        if self.before is not None:
            refuse_other_run(self.before, header, inventory)
        self.set_aside: Path | None = None
        """Where the journal lies now that was here, of a run that did not come to its end."""
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            if self.before is None and _unfinished(file):
                self.set_aside = file.with_name(f"{file.name}.unfinished")
                file.replace(self.set_aside)
            if self.before is not None:
                os.truncate(file, self.before.whole_bytes)
            super().__init__(file.open("w" if self.before is None else "a", encoding="utf-8"))
        except OSError as error:
            problem = f"the journal {file} cannot be written: {error.strerror}"
            raise UsageError(problem, "choose another place with --journal") from error
        if self.before is None:
            self._write(header.to_json())
            self._write({"inventory": _inventory_json(inventory)})

    @property
    def finished(self) -> Mapping[str, CaseResult]:
        """Results that were in it already."""
        return {} if self.before is None else self.before.finished

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._full:
            return
        try:
            super()._write(line)
        except OSError as error:
            self._full = True
            with suppress(OSError):  # it would write again what it could not
                self._stream.close()
            if self._asked_for:
                problem = f"the journal cannot be written: {error.strerror}"
                mend = "make room, then go on with --resume"
                raise ReplayFailure(str(self.file), problem, mend) from error

    def started(self, cassette: str) -> None:
        """Write that a case was handed out."""
        self._write({"started": cassette})

    def closed(
        self, result: CaseResult, took_ms: float | None = None, name: str | None = None
    ) -> None:
        """Write a case's result, with the digests of both sides, and how long it took.

        `name` is what it was started as, where a recording calls itself otherwise.
        """
        name = name or result.cassette
        if took_ms is not None:
            self._write({"took": name, "ms": round(took_ms, 1)})
        self._write({"finished": name, **result.to_json()})

    def skipped(self, cassette: str) -> None:
        """Write that a case turned out not to be asked for."""
        self._write({"skipped": cassette})

    def refused(self, cassette: str, problem: LoadProblem) -> None:
        """Write that a case's file could not be loaded."""
        self._write({"refused": cassette, "file": problem.file, "message": problem.message})

    def ended(self) -> None:
        """Write that the run came to its end."""
        self._write(_ENDED)


def _unfinished(file: Path) -> bool:
    """Whether results of a run that did not end are in there: nobody else may have them."""
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
    told = record.header.differences(header, but=compared)
    told += record.inventory.differences(inventory)
    if told:
        raise UsageError(f"{record.file}: belongs to another run: {'; '.join(told)}", mend)


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
    begun = b'{"journal": '
    return second.endswith(b"\n") or not begun.startswith(first[: len(begun)])


def _inventory_json(inventory: Inventory) -> dict[str, Any]:
    return {
        name: {"files": dict(component.files), "parts": dict(component.parts)}
        for name, component in inventory.components.items()
    }
