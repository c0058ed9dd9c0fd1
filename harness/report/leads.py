"""`with_leads`: a red report with what is known for mending it, looked up among kept journals."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from harness.config import default_corpus, project_code
from harness.errors import UsageError
from harness.inventory import NOT_CODE, PACKAGES, Inventory
from harness.parity.verdict import CaseVerdict
from harness.parity.waivers import Waivers, settle
from harness.report.journal import JournalRecord
from harness.report.kept import JOURNALS
from harness.report.model import RunReport
from harness.report.since import Run, earlier_runs, with_changes
from harness.triage.checkout import Checkout
from harness.triage.leads import Good, Leads

__all__ = ["with_leads", "with_past"]


def with_past(report: RunReport, inventory: Inventory, waivers: Waivers) -> RunReport:
    """`report` with all that the runs kept here say of it: what changed, and its leads."""
    return with_leads(with_changes(report, inventory, waivers), waivers)


def with_leads(
    report: RunReport,
    waivers: Waivers,
    folder: Path = JOURNALS,
    others: Sequence[JournalRecord] = (),
) -> RunReport:
    """`report` with its `leads`, where cases diverge.

    Args:
        report: The report of a run, with what changed since the last green one (`with_changes`).
        waivers: The accepted differences, by which earlier runs are judged as well.
        folder: Where journals of earlier runs are kept.
        others: Journals that the user named, to look at before those that are kept.
    """
    header = report.header
    wanted = {finding.case.cassette for finding in report.findings}
    if header is None or not wanted:
        return report
    checkout, here = _checkout()
    records = chain(others, earlier_runs(header, folder))
    good = _good(wanted, records, waivers, checkout, header.revision)
    leads = Leads(
        revision=header.revision, dirty=header.dirty, here=here, corpus=_corpus(), good=good
    )
    if report.since is not None:
        since = "the last green run" if report.since.green else "an earlier run"
        leads = replace(leads, files=report.since.files, since=f"changed since {since}")
        return replace(report, leads=leads)
    if checkout is not None and header.dirty and header.revision == here:
        files = _uncommitted(checkout)
        return replace(report, leads=replace(leads, files=files, since="changed, not committed"))
    return replace(report, leads=leads)


def _good(
    wanted: Collection[str],
    records: Iterable[JournalRecord],
    waivers: Waivers,
    checkout: Checkout | None,
    revision: str,
) -> dict[str, Good]:
    """The latest run in which each wanted case was green, at a commit where a search can start.

    A run whose files were as committed comes before a later one whose files differed.
    """
    found: dict[str, Good] = {}
    for record in records:
        left = {name for name in wanted if name not in found or found[name].dirty}
        if not left:
            break
        header = record.header
        if not header.revision or (header.dirty and left <= found.keys()):
            continue
        judged = [case for name, case in record.finished.items() if name in left]
        if not judged or not _leads_to(header.revision, revision, checkout):
            continue
        good = Good(revision=header.revision, dirty=header.dirty, run=Run.of(record).title)
        for case in settle(judged, waivers)[0]:
            if case.verdict is CaseVerdict.PARITY and not (good.dirty and case.cassette in found):
                found[case.cassette] = good
    return found


def _leads_to(older: str, newer: str, checkout: Checkout | None) -> bool:
    """Whether one commit is among those that another came from, as far as that can be known."""
    if checkout is None or not newer:
        return True
    try:
        return checkout.is_ancestor(older, newer)
    except UsageError:  # this checkout lacks one of them
        return False


def _checkout() -> tuple[Checkout | None, str]:
    """The checkout that this is run in, and the commit that is checked out."""
    try:
        here = Checkout.at(Path())
        return here, here.git("rev-parse", "--verify", "--quiet", "HEAD")
    except UsageError:  # no checkout, no commit yet, no git
        return None, ""


def _corpus() -> str:
    try:
        return str(default_corpus().resolve())
    except UsageError:  # none here: commands name files
        return ""


def _uncommitted(checkout: Checkout) -> tuple[str, ...]:
    """The files of the code that differ from the commit that is checked out, new ones too.

    That is our code, and in a user's project the code that its file names, without what tools
    write beside it (compiled files in a project whose git does not ignore them).
    """
    code = [os.path.relpath(each, checkout.root) for each in project_code()]
    try:
        changed = checkout.git(
            "diff", "--name-only", "--no-renames", "HEAD", "--", *PACKAGES, *code
        )
        new = checkout.git("ls-files", "--others", "--exclude-standard", "--", *PACKAGES, *code)
    except UsageError:  # the folder is a checkout of something else
        return ()
    found = {*changed.splitlines(), *new.splitlines()}
    return tuple(sorted(each for each in found if NOT_CODE.isdisjoint(each.split("/"))))
