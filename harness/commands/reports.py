"""What the commands that end with a run's report share: its listeners and its exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.command_line import listeners
from harness.experiment.events import RunFinished
from harness.gate.page import gates_beside
from harness.report.html import HtmlListener
from harness.report.listening import ReportListener, Settled
from harness.report.model import RunReport, exit_code
from harness.report.terminal import TerminalListener
from harness.wrapping import say

__all__ = ["Reporting"]


class Reporting:
    """The listeners that show a run's report: those that the command line adds, and the terminal.

    Args:
        asked: A command's parameters, from which those of `report_options` are removed.

    Raises:
        UsageError: a place cannot be written to.
    """

    def __init__(self, asked: dict[str, Any]) -> None:
        self._settled = Settled()
        self._durations: int = asked.pop("durations")
        verbose: bool = asked.pop("verbose")
        given = [(row, asked.pop(row.parameter)) for row in listeners.LISTENERS]
        self._shown: list[ReportListener] = [
            row.listener(value, self._settled) for row, value in given if value
        ]
        self._shown.append(TerminalListener(sys.stdout, self._settled, verbose=verbose))

    def listeners(self, make: Callable[[RunFinished], RunReport]) -> list[Settled | ReportListener]:
        """The listeners, in their order, for a run whose report `make` makes."""
        self._settled.make = lambda ending: self._completed(make(ending))
        return [self._settled, *self._shown]

    def _completed(self, report: RunReport) -> RunReport:
        """`report` with what the command line asks for, and with what lies beside its page."""
        components = {} if report.header is None else report.header.components
        for page in self._shown:
            if isinstance(page, HtmlListener):
                report = replace(report, gates=gates_beside(page.folder, components))
        return replace(report, durations=self._durations)

    def end(self, *also: Path | None) -> int:
        """Name the files that are written, `also` those of the command; return the exit code."""
        written = [*(each.written for each in self._shown), *also]
        if names := [str(file) for file in written if file is not None]:
            say(f"written: {', '.join(names)}")
        return int(exit_code(self._settled.report))
