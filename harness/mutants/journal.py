"""The journal of a sample: a header, then a line for each mutant that was run.

Lines are flushed as they are written, so a killed run loses the mutants that were in flight; the
same command with `--resume` goes on with those.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from harness.canonical import canonical, sha256_hex
from harness.errors import UsageError
from harness.journal_lock import JournalLock
from harness.json_lines import JsonLines, changed
from harness.mutants.result import Measured
from services.private_files import open_private
from services.wire import Json, JsonObject

__all__ = ["JOURNALS", "MutantJournal"]

JOURNALS: Final = Path(".parity") / "mutants"
"""Where the journals are."""

_FORMAT: Final = 1
_ANEW: Final = "run without --resume to begin anew"


class MutantJournal(JsonLines):
    """A journal being written. Use as a context manager.

    Attributes:
        known: What the run had measured before, by fingerprint.
    """

    def __init__(
        self,
        folder: Path,
        plan: Mapping[str, Json],
        state: Mapping[str, Json],
        *,
        resume: bool = False,
    ) -> None:
        """Open the journal of a plan for writing, or with `resume` for going on.

        Args:
            folder: Where it lies.
            plan: What the sample follows from; the journal is named by it.
            state: What the results follow from: digests of code and corpus.
            resume: Go on where the run with this plan stopped.

        Raises:
            UsageError: not writable; another process writes to it; or, going on, not a journal or
                one of another state of the code.
            ReplayFailure: the disk is full.
        """
        self.known: dict[str, Measured] = {}
        self.file = folder / f"{sha256_hex(canonical(dict(plan)))[:12]}.jsonl"
        header: JsonObject = {"mutants": _FORMAT, **plan, **state}
        with ExitStack() as undone:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                lock = JournalLock(self.file)
                undone.callback(lock.release)
                resumed = resume and self.file.exists()
                if resumed:
                    os.truncate(self.file, self._read_back(header))
                stream = open_private(self.file, "a" if resumed else "w", encoding="utf-8")
            except OSError as error:
                problem = f"the journal {self.file} cannot be written: {error.strerror}"
                raise UsageError(problem, "run in a folder that can be written to") from error
            undone.callback(stream.close)
            super().__init__(stream, lock)
            if not resumed:
                self._write(header)
            undone.pop_all()

    def add(self, measured: Measured) -> None:
        """Write what came of a mutant."""
        self._write({"mutant": measured.to_json()})

    def _read_back(self, header: JsonObject) -> int:
        """Take in what is there; returns its length up to the last whole line."""
        text = self.file.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        lines = whole.splitlines()
        if not lines:
            raise UsageError(f"{self.file}: has no header", _ANEW)
        for number, raw in enumerate(lines, 1):
            try:
                line = json.loads(raw)
                if number == 1:
                    differing = changed(line, header)
                    if differing:
                        problem = f"{self.file}: belongs to another run: {'; '.join(differing)}"
                        raise UsageError(problem, _ANEW)
                else:
                    measured = Measured.from_json(line["mutant"])
                    self.known[measured.fingerprint] = measured
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                problem = f"{self.file}: line {number} is not such a journal's: {error}"
                raise UsageError(problem, _ANEW) from error
        return len(whole)
