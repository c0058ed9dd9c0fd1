"""The journal of a sample: a header, then a line for each mutant that was run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from harness.canonical import canonical, sha256_hex
from harness.mutants.result import Measured
from harness.resumable_journal import ResumableJournal
from services.wire import Json, JsonObject

__all__ = ["JOURNALS", "MutantJournal"]

JOURNALS: Final = Path(".parity") / "mutants"
"""The folder of the journals."""

_FORMAT: Final = 1


class MutantJournal(ResumableJournal):
    """A journal that is being written. Use as a context manager.

    Attributes:
        known: The results before it was resumed, by fingerprint.
    """

    def __init__(
        self,
        folder: Path,
        plan: Mapping[str, Json],
        state: Mapping[str, Json],
        *,
        resume: bool = False,
    ) -> None:
        """Open the journal of a plan; `resume` continues it.

        Args:
            folder: The folder of the journals.
            plan: What determines the sample; the name of the journal is its digest.
            state: What determines the results: digests of code and corpus.
            resume: Whether to continue the run with this plan.

        Raises:
            UsageError, ReplayFailure: see `ResumableJournal`.
        """
        self.known: dict[str, Measured] = {}
        file = folder / f"{sha256_hex(canonical(dict(plan)))[:12]}.jsonl"
        super().__init__(file, {"mutants": _FORMAT, **plan, **state}, resume=resume)

    def add(self, measured: Measured) -> None:
        """Write the result of a mutant."""
        self._write({"mutant": measured.to_json()})

    def _take(self, line: JsonObject) -> None:
        measured = Measured.from_json(line["mutant"])
        self.known[measured.fingerprint] = measured
