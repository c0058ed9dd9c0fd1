"""Listeners that show the report of a run when it has finished.

They receive every event of the run (`harness.experiment.events`). The report is made once, by
`Settled`, which receives each event before them. `harness.command_line.listeners` names them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.experiment.case import CaseOutcome, Skipped
from harness.experiment.events import CaseFinished, Event, Events, RunFinished, RunStarted
from harness.report.journal_reading import JournalRecord
from harness.report.model import RunReport
from harness.whole_file import writable_file, write_asked_for

__all__ = ["JournalledCase", "ReportFile", "ReportListener", "Settled", "replayed"]


class Settled:
    """The report of a run: a listener that makes it when the run has finished."""

    make: Callable[[RunFinished], RunReport]
    report: RunReport

    def __call__(self, event: Event[Any, Any]) -> None:
        """Make the report at the end."""
        if isinstance(event, RunFinished):
            self.report = self.make(event)


class ReportListener(ABC):
    """A listener that shows the report at the end."""

    def __init__(self, settled: Settled) -> None:
        self._settled = settled
        self.written: Path | None = None
        """The file that it has written."""

    def __call__(self, event: Event[Any, Any]) -> None:
        """Show the report at the end."""
        if isinstance(event, RunFinished):
            self.show(self._settled.report)

    @abstractmethod
    def show(self, report: RunReport) -> None:
        """Show the report.

        Raises:
            UsageError: a file cannot be written.
        """


class ReportFile(ReportListener):
    """A listener that writes the report to the file that an option names."""

    def __init__(
        self, option: str, text: Callable[[RunReport], str], file: Path, settled: Settled
    ) -> None:
        """Make sure that the file can be written; `text` renders its content.

        Raises:
            UsageError: it cannot.
        """
        super().__init__(settled)
        if str(file) == "-":
            where = "standard output: the terminal's report goes there"
            raise UsageError(f"{option} cannot go to {where}", "name a file")
        writable_file(file, option)
        self.file, self.option, self._text = file, option, text

    def show(self, report: RunReport) -> None:
        """Write the report, whole or not at all."""
        write_asked_for(self.file, self._text(report), self.option)
        self.written = self.file


@dataclass(frozen=True, slots=True)
class JournalledCase:
    """The task of a case whose outcome a journal holds."""

    name: str


def replayed(record: JournalRecord) -> Events[Any, CaseOutcome]:
    """Yield the events of a run from its journal, its cases sorted by name."""
    yield RunStarted(len(record.planned))
    for name in record.planned:
        outcome: CaseOutcome | None = record.finished.get(name) or record.problems.get(name)
        if name in record.skipped:
            outcome = Skipped()
        if outcome is not None:
            yield CaseFinished(JournalledCase(name), outcome, record.took_ms.get(name))
    yield RunFinished()
