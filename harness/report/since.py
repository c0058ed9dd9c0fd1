"""Finds, among kept journals, the last green run and the first red run after it.

A run counts as green if the cases that are red now were at parity in it. What changed after the
first red run did not make them red.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness.canonical import printable
from harness.errors import UsageError
from harness.inventory import Inventory
from harness.journal_header import JournalHeader
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers, settle
from harness.report.journal import JournalRecord, read_header, read_journal
from harness.report.kept import JOURNALS, kept_journals
from harness.report.model import RunReport
from harness.triage.changes import Changes, changes_between
from harness.triage.checkout import Checkout

__all__ = ["Run", "earlier_runs", "red_cases", "since_journal", "since_last_green", "with_changes"]

_MOST_COMMITS = 200


@dataclass(frozen=True, slots=True)
class Run:
    """A run, as far as it can be compared with another."""

    header: JournalHeader
    inventory: Inventory
    name: str = ""
    """Its journal; empty for the run that is going on."""

    @classmethod
    def of(cls, record: JournalRecord) -> Run:
        """The run that a journal is of."""
        return cls(record.header, record.inventory, record.file.name)

    @property
    def title(self) -> str:
        """The journal, and when the run began."""
        began = self.header.started_at[:16].replace("T", " ")
        return printable(", ".join(text for text in (self.name, began and f"{began} UTC") if text))


def red_cases(report: RunReport) -> frozenset[str]:
    """The cases of a run that are not parity, by name."""
    return frozenset(
        case.cassette for case in report.cases if case.verdict is not CaseVerdict.PARITY
    )


def with_changes(
    report: RunReport, inventory: Inventory, waivers: Waivers, folder: Path = JOURNALS
) -> RunReport:
    """`report` with what changed since the last green run, where it is red and there was one."""
    red = red_cases(report)
    if not red or report.header is None:
        return report
    run = Run(report.header, inventory)
    return replace(report, since=since_last_green(run, red, waivers, folder))


def since_last_green(
    run: Run, red: Collection[str], waivers: Waivers, folder: Path = JOURNALS
) -> Changes | None:
    """What changed from the last run in which the cases in `red` were parity to the next one.

    Among the journals kept in `folder`, of runs with the same sides, before `run`. `None` where
    there is none that was green, or nothing is red. Journals that cannot be read are passed over.
    """
    if not red:
        return None
    first_red = run
    for record in earlier_runs(run.header, folder):
        lights = _lights(record.finished, red, waivers)
        if lights and all(lights.values()) and len(lights) == len(red):
            return _changes(Run.of(record), first_red, current=run, green=True)
        if not all(lights.values()):
            first_red = Run.of(record)
    return None


def since_journal(
    record: JournalRecord, run: Run, red: Collection[str], waivers: Waivers
) -> Changes:
    """What changed from the run of a given journal to `run`."""
    lights = _lights(record.finished, red, waivers)
    green = bool(lights) and all(lights.values())
    return _changes(Run.of(record), run, current=run, green=green)


def earlier_runs(before: JournalHeader, folder: Path = JOURNALS) -> Iterable[JournalRecord]:
    """The journals of runs with the same sides that began before another, the latest first."""
    sides = (before.control, before.candidate)
    for file in reversed(kept_journals(folder)):
        try:
            header = read_header(file)
            if header.started_at >= before.started_at or sides != (
                header.control,
                header.candidate,
            ):
                continue
            yield read_journal(file)
        except UsageError:
            continue


def _lights(
    finished: Mapping[str, CaseResult], red: Collection[str], waivers: Waivers
) -> dict[str, bool]:
    """Which of the cases in `red` were judged in a run, and whether each was parity."""
    judged = [finished[name] for name in sorted(finished)]
    settled, _ = settle(judged, waivers)
    return {
        case.cassette: case.verdict is CaseVerdict.PARITY
        for case in settled
        if case.cassette in red
    }


def _changes(was: Run, now: Run, *, current: Run, green: bool) -> Changes:
    revisions = (was.header.revision, now.header.revision)
    return Changes(
        since=was.title,
        until="" if now is current else now.title,
        green=green,
        changes=changes_between((was.header, was.inventory), (now.header, now.inventory)),
        revisions=revisions,
        commits=_commits(*revisions),
        dirty=now.header.dirty,
    )


def _commits(older: str, newer: str) -> tuple[str, ...]:
    """The commits between two revisions, where this folder's checkout knows them."""
    if not older or not newer or older == newer:
        return ()
    try:
        checkout = Checkout.at(Path())
        known = [checkout.commit(revision, "the journal's revision") for revision in (older, newer)]
        return checkout.subjects(known[0], known[1], _MOST_COMMITS)
    except UsageError:  # no checkout, or another project's
        return ()
