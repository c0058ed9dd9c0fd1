"""The report of a comparison of traces: a run's report without a run."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from harness.parity.verdict import CaseResult
from harness.report.model import RunReport

__all__ = ["PairsReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsReport(RunReport):
    """The report of a comparison of traces; `files` holds a case's two files as shell words."""

    def reproduce(self, case: CaseResult) -> str:
        """The command that compares this one pair again."""
        pair = self.files.get(case.cassette, shlex.join([self.control, self.candidate]))
        return f"parity diff {pair}"
