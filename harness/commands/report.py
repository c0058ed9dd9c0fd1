"""`parity report`: the report of a run from its journal, without running anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.canonical import printable
from harness.commands.naming import journal_place
from harness.commands.reports import Reporting
from harness.config import default_waivers
from harness.errors import UsageError
from harness.experiment.events import follow
from harness.inventory import waivers_component
from harness.parity.waivers import Waivers
from harness.report.journal import JournalRecord, read_header, read_journal
from harness.report.kept import JOURNALS, kept_journals
from harness.report.kills import read_kills
from harness.report.leads import with_leads, with_past
from harness.report.listening import replayed
from harness.report.model import RunReport
from harness.report.settled import files_of, journal_report, reproducing_options, waivers_of
from harness.report.since import Run, red_cases, since_journal
from harness.wrapping import say

__all__ = ["journal_in", "report"]


def report(
    place: Path | None,
    since: Path | None,
    kills_file: Path | None,
    waivers_file: Path | None,
    **asked: Any,
) -> int:
    """Run `parity report`; return its exit code."""
    reporting = Reporting(asked)
    record = read_journal(journal_in(place))
    waivers = waivers_of(record.header, waivers_file or default_waivers())
    _notes(record, waivers_file or default_waivers())
    made = journal_report(
        record,
        waivers,
        files=files_of(record.header),
        options=reproducing_options(record.header.trust, waivers_file),
    )
    made = _with_changes(made, record, waivers, since)
    if kills_file is not None:
        made = replace(made, kills=read_kills(kills_file))
    follow(replayed(record), *reporting.listeners(lambda ending: made))
    return reporting.end()


def journal_in(place: Path | None) -> Path:
    """The journal at `place`; where nothing is named, the newest that was kept.

    Raises:
        UsageError: there is none, or there are several.
    """
    place = None if place is None else journal_place(place)
    if place is not None and not place.is_dir():
        return place
    kept = kept_journals(place or JOURNALS)
    if kept:
        return kept[-1]
    if place is None:
        problem = f"no journal in {JOURNALS}"
        raise UsageError(problem, "run `parity run` first, or name a journal with --journal")
    found = _run_journals(sorted(place.glob("*.jsonl")))
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"{place} contains no journal of a run (*.jsonl)", "name the file")
    names = ", ".join(file.name for file in found)
    mend = "name one, or join shards with `parity merge`"
    raise UsageError(f"{place} contains {len(found)} journals: {names}", mend)


def _run_journals(files: Sequence[Path]) -> list[Path]:
    found = []
    for file in files:
        try:
            read_header(file)
        except UsageError:  # another sort of journal, or none at all
            continue
        found.append(file)
    return found


def _notes(record: JournalRecord, waivers_file: Path | None) -> None:
    """Print what limits the report: a run that did not end, waivers that changed."""
    header = record.header
    began = f", begun {header.started_at}" if header.started_at else ""
    say(printable(f"journal: {record.file}{began}"))
    if not record.ended:
        missing = len(record.missing)
        flight = f"; in flight: {', '.join(record.in_flight)}" if record.in_flight else ""
        torn = ", its last line is incomplete" if record.torn else ""
        left = f"{missing} of {len(record.planned)} cases have no result"
        say(printable(f"the run did not finish{torn}: {left}{flight}"))
    if waivers_component(waivers_file).digest != header.waivers:
        say("the waivers changed since the run; the current waivers apply")


def _with_changes(
    made: RunReport, record: JournalRecord, waivers: Waivers, since: Path | None
) -> RunReport:
    if since is None:
        return with_past(made, record.inventory, waivers)
    earlier = read_journal(journal_place(since))
    red = red_cases(made)
    made = replace(made, since=since_journal(earlier, Run.of(record), red, waivers))
    return with_leads(made, waivers, others=[earlier])
