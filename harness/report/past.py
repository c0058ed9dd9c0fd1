"""Earlier runs of the same two sides."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import quote

from harness.canonical import printable
from harness.config import default_waivers
from harness.errors import HarnessError
from harness.journal_header import JournalHeader
from harness.parity.verdict import CaseVerdict
from harness.parity.waivers import settle
from harness.report.journal import JournalRecord
from harness.report.kept import JOURNALS
from harness.report.model import PastRun, RunReport
from harness.report.remembered import remembered_pages
from harness.report.settled import waivers_of
from harness.report.since import earlier_runs

__all__ = ["past_runs", "with_past_runs"]

_MOST: Final = 12


def with_past_runs(report: RunReport, place: Path) -> RunReport:
    """`report` with the runs before it; those whose pages are there are linked from `place`.

    Args:
        report: The report of a run.
        place: The folder that its page will be written to.
    """
    if report.header is None or not report.header.started_at:
        return report
    return replace(report, past=past_runs(report.header, place))


def past_runs(before: JournalHeader, place: Path, folder: Path = JOURNALS) -> tuple[PastRun, ...]:
    """The last runs of the same sides that began before another one, the latest first.

    They are judged by today's waivers, each on the day by which it was judged then.

    Args:
        before: The later run.
        place: The folder from which their pages are linked.
        folder: Where journals are kept.
    """
    pages = remembered_pages(folder)
    return tuple(
        _past_run(record, _link(pages.get(record.header.started_at), place))
        for record in islice(earlier_runs(before, folder), _MOST)
    )


def _link(page: Path | None, place: Path) -> str:
    """The way from a folder to a page; empty where there is none, or it is the folder's own."""
    if page is None or page.parent == place.resolve():
        return ""
    return quote(Path(os.path.relpath(page, place.resolve())).as_posix())


def _past_run(record: JournalRecord, page: str) -> PastRun:
    header = record.header
    results = [record.finished[name] for name in sorted(record.finished)]
    with suppress(HarnessError):  # waivers that cannot be read accept nothing
        results = settle(results, waivers_of(header, default_waivers()))[0]
    found = Counter(case.verdict for case in results)
    planned = len(record.planned) - len(record.skipped)
    counts = (
        found[CaseVerdict.PARITY],
        found[CaseVerdict.DIVERGENT],
        found[CaseVerdict.INCONCLUSIVE],
    )
    verdict = CaseVerdict.INCONCLUSIVE
    if counts[1]:
        verdict = CaseVerdict.DIVERGENT
    elif results and counts[0] == planned:
        verdict = CaseVerdict.PARITY
    return PastRun(
        began=printable(f"{header.started_at[:16].replace('T', ' ')} UTC"),
        revision=header.revision[:10] + ("+" if header.revision and header.dirty else ""),
        verdict=verdict,
        counts=counts,
        planned=planned,
        journal=printable(str(record.file)),
        page=page,
    )
