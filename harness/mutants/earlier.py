"""A sample of mutants that `parity mutants --json` wrote, read back to go on with its survivors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from harness.codec import Unreadable
from harness.errors import UsageError
from harness.mutants.mutant import Mutant
from harness.mutants.record import Equivalents
from harness.mutants.result import Measured, Outcome
from harness.mutants.sample import FORMAT, Row
from services.regular_files import read_regular
from services.wire import JsonObject

__all__ = ["EarlierSample"]

_LARGEST: Final = 64 * 2**20
_CONDITIONS: Final = ("seed", "size", "in", "since", "mostRuns", "cassettes", "places")
_MEND: Final = "give a file that `parity mutants --json FILE` wrote for this code"


class EarlierSample:
    """A sample that was measured before.

    Attributes:
        parts: The parts of the source that it was drawn from, as `--in` takes them.
        conditions: How it was drawn, as in its document.
    """

    def __init__(self, file: Path) -> None:
        """Read the document.

        Raises:
            UsageError: the file cannot be read, or is no whole sample.
        """
        self._file = file
        try:
            document: Any = json.loads(read_regular(file, _LARGEST))
        except (OSError, ValueError, RecursionError) as error:
            raise self._wrong(f"it cannot be read: {error}") from error
        if not isinstance(document, dict) or document.get("mutants") != FORMAT:
            raise self._wrong(f"it is no sample of mutants of format {FORMAT}")
        if document.get("interrupted") is not False:
            raise self._wrong("the sample was interrupted")
        self._rows = self._measured(document)
        self.parts = tuple(map(str, document.get("in") or ()))
        self.conditions: JsonObject = {
            name: document[name] for name in _CONDITIONS if name in document
        }

    def rows(self, known: Mapping[str, Mutant], equivalents: Equivalents) -> list[Row]:
        """The mutants with their results, in the order in which they were drawn.

        A mutant that has been recorded as equivalent since then is equivalent.

        Args:
            known: The mutants of the checkout by fingerprint.
            equivalents: The records.

        Raises:
            UsageError: the checkout has not all of them.
        """
        gone = [each.fingerprint for each in self._rows if each.fingerprint not in known]
        if gone:
            raise self._wrong(f"{len(gone)} of its mutants are not in this code, as {gone[0]}")
        return [
            Row(known[each.fingerprint], _now(each, each.fingerprint in equivalents.records))
            for each in self._rows
        ]

    def _measured(self, document: JsonObject) -> list[Measured]:
        rows = document.get("sample")
        try:
            return [Measured.from_json(row) for row in rows] if isinstance(rows, list) else []
        except Unreadable as error:
            raise self._wrong(str(error)) from error

    def _wrong(self, problem: str) -> UsageError:
        return UsageError(f"{self._file}: {problem}", _MEND)


def _now(measured: Measured, equivalent: bool) -> Measured:
    if not equivalent:
        return measured
    return replace(measured, outcome=Outcome.EQUIVALENT, finding=None)
