"""`parity merge`: journals of one run that several machines shared, put together and judged."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import click

from harness.canonical import printable
from harness.commands import checks, options
from harness.commands.naming import journal_place
from harness.commands.reports import deliver, report_options, report_wanted
from harness.config import default_waivers
from harness.report.kept import keep_copy, prune
from harness.report.leads import with_past
from harness.report.merged import merge as merged_of
from harness.report.merged import read_all, write_merged
from harness.report.settled import (
    files_of,
    journal_report,
    refuse_other_waivers,
    reproducing_options,
    waivers_of,
)
from harness.wording import counted
from harness.wrapping import say

__all__ = ["merge"]


@click.command()
@click.argument("journals", nargs=-1, required=True, type=options.FILE)
@click.option("--journal", type=options.FILE, help="Write the whole run's journal here.")
@click.option(
    "--keep/--no-keep",
    default=True,
    envvar="PARITY_KEEP",
    show_default=True,
    help="Leave a copy of --journal in .parity/journals, as a run does.",
)
@report_options
@options.waivers
def merge(
    journals: tuple[Path, ...],
    journal: Path | None,
    keep: bool,
    waivers_file: Path | None,
    **asked: Any,
) -> int:
    """Join the journals of one run's shards, and judge the whole.

    JOURNALS are what `parity run --shard I/N --journal F` left, in any order. They must be of one
    run: the same sides, build, corpus, waivers and packages; what differs is named. Waivers are
    judged by the day that the runs were. A part that is missing or was cut off makes the verdict
    inconclusive; `parity run --journal F --resume` completes it.

    \b
    parity merge shard-*.jsonl --journal run.jsonl
    parity merge shard-*.jsonl --journal run.jsonl --html report

    Exit codes: 0 parity; 1 divergent; 2 wrong usage, journals that do not belong together, or a
    cassette that could not be loaded; 3 inconclusive, or something is missing.
    """  # noqa: D301 - click's mark for lines that stay as they are
    wanted = report_wanted(asked)
    checks.writable_file(journal, "--journal")
    merged = merged_of(read_all([journal_place(each) for each in journals]))
    header = merged.record.header
    file = waivers_file or default_waivers()
    refuse_other_waivers(merged.record, file)
    waivers = waivers_of(header, file)
    report = journal_report(
        merged.record,
        waivers,
        files=files_of(header),
        options=reproducing_options(header, waivers_file),
    )
    report = with_past(report, merged.record.inventory, waivers)
    if journal is not None:
        write_merged(merged, journal)
        if keep:
            _keep(journal, header.started_at)
    say(f"merged: {counted(len({*journals}), 'journal')}")
    for line in merged.lacks:
        say(printable(line))
    return deliver(report, wanted, also=journal)


def _keep(journal: Path, started_at: str) -> None:
    """Leave a copy among the last runs, with which later runs are compared."""
    try:
        began = datetime.fromisoformat(started_at)
    except ValueError:  # a foreign journal, whose time cannot be put in order
        return
    keep_copy(journal, began)
    prune()
