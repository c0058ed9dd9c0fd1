"""`parity merge`: journals of one run that several machines shared, put together and judged."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from harness.canonical import printable
from harness.commands.naming import journal_place
from harness.commands.reports import Reporting
from harness.config import default_waivers
from harness.experiment.events import follow
from harness.report.kept import keep_copy, prune
from harness.report.leads import with_past
from harness.report.listening import replayed
from harness.report.merged import merge as merged_of
from harness.report.merged import read_all, write_merged
from harness.report.settled import (
    files_of,
    journal_report,
    refuse_other_waivers,
    reproducing_options,
    waivers_of,
)
from harness.whole_file import writable_file
from harness.wording import counted
from harness.wrapping import say

__all__ = ["merge"]


def merge(
    journals: tuple[Path, ...],
    journal: Path | None,
    keep: bool,
    waivers_file: Path | None,
    **asked: Any,
) -> int:
    """Run `parity merge`; return its exit code."""
    reporting = Reporting(asked)
    writable_file(journal, "--journal")
    merged = merged_of(read_all([journal_place(each) for each in journals]))
    header = merged.record.header
    file = waivers_file or default_waivers()
    refuse_other_waivers(merged.record, file)
    waivers = waivers_of(header, file)
    report = journal_report(
        merged.record,
        waivers,
        files=files_of(header),
        options=reproducing_options(header.trust, waivers_file),
    )
    report = with_past(report, merged.record.inventory, waivers)
    if journal is not None:
        write_merged(merged, journal)
        if keep:
            _keep(journal, header.started_at)
    say(f"merged: {counted(len({*journals}), 'journal')}")
    for line in merged.lacks:
        say(printable(line))
    follow(replayed(merged.record), *reporting.listeners(lambda ending: report))
    return reporting.end(journal)


def _keep(journal: Path, started_at: str) -> None:
    """Leave a copy among the last runs, with which later runs are compared."""
    try:
        began = datetime.fromisoformat(started_at)
    except ValueError:  # a foreign journal, whose time cannot be put in order
        return
    keep_copy(journal, began)
    prune()
