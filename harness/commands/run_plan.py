"""What one `parity run` was asked to do: the cases it takes on, and the head of its journal."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from harness.baseline.folder import made_of
from harness.cassette.find import CassetteFile
from harness.commands.naming import journal_place
from harness.config import current_inventory, default_waivers
from harness.errors import UsageError
from harness.experiment.limits import Limits
from harness.inventory import Inventory, environment
from harness.journal_header import JournalHeader
from harness.parity.verdict import CaseVerdict
from harness.report.journal import JournalRecord, read_header, read_journal
from harness.report.kept import JOURNALS, kept_journals
from harness.report.settled import journal_report, waivers_of
from harness.sides import baseline_folder, engines_of
from harness.triage.checkout import Checkout

__all__ = ["RunPlan", "failed_before", "header_of", "inventory_of", "last_journal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What one run was asked to do."""

    control: str
    candidate: str
    phase: str | None
    expr: str | None = None
    paths: tuple[Path, ...]
    """As named on the command line."""
    jobs: int = 1
    limits: Limits
    """What one case may use, over one run of each side."""
    trust: bool
    repeat: int
    shard: str | None = None
    """`2/3`."""
    last_failed: bool = False
    maxfail: int | None = None
    """Divergent cases after which the run stops."""
    resume: bool = False
    journal: Path | None
    keep: bool = False
    """Leave a journal behind in `.parity/journals`."""
    waivers_file: Path | None
    as_of: date
    started_at: datetime


def inventory_of(plan: RunPlan, files: Sequence[CassetteFile]) -> Inventory:
    """What a verdict over `files` rests on as things stand."""
    waivers = plan.waivers_file or default_waivers()
    sides = (plan.control, plan.candidate)
    return current_inventory([(file.name, file.path) for file in files], waivers, sides)


def header_of(
    plan: RunPlan, inventory: Inventory, names: Sequence[str], paths: Sequence[Path]
) -> JournalHeader:
    """The head of the journal of a run over the cassettes called `names`, found at `paths`."""
    sides = (plan.control, plan.candidate)
    run = [side for side in sides if baseline_folder(side) is None]
    revision, dirty = _revision()
    return JournalHeader(
        control=plan.control,
        candidate=plan.candidate,
        repeat=plan.repeat,
        trust=plan.trust,
        as_of=plan.as_of.isoformat(),
        phase=plan.phase,
        shard=plan.shard or "",
        components=inventory.digests,
        environment=environment([engine for side in run for engine in engines_of(side)]),
        made_of=made_of(sides, names),
        paths=tuple(map(_path_from_here, paths)),
        expr=plan.expr,
        # Runs within the same second must have an order.
        started_at=plan.started_at.astimezone(UTC).isoformat(timespec="milliseconds"),
        revision=revision,
        dirty=dirty,
    )


def _path_from_here(path: Path) -> str:
    """A path as journals name it: relative, so that they do not contain this folder's place."""
    place, here = path.resolve(), Path.cwd()
    return place.relative_to(here).as_posix() if place.is_relative_to(here) else str(path)


def last_journal(plan: RunPlan) -> JournalRecord:
    """The journal of the last run of these sides: the one of `--journal`, or the newest kept.

    Raises:
        UsageError: there is none, it cannot be read, or it is of other sides.
    """
    sides = (plan.control, plan.candidate)
    if plan.journal is not None:
        record = read_journal(journal_place(plan.journal))
        theirs = (record.header.control, record.header.candidate)
        if theirs != sides:
            problem = f"{plan.journal} is from a run of {theirs[0]} and {theirs[1]}"
            words = shlex.join(["--control", theirs[0], "--candidate", theirs[1]])
            raise UsageError(problem, f"add {words}")
        return record
    for file in reversed(kept_journals()):
        with suppress(UsageError):  # of another format, or killed before its first line
            header = read_header(file)
            if (header.control, header.candidate) == sides:
                return read_journal(file)
    problem = f"--last-failed: {JOURNALS} has no journal of a run of {sides[0]} and {sides[1]}"
    raise UsageError(problem, "run without it first, or name a journal with --journal")


def failed_before(record: JournalRecord, waivers_file: Path | None) -> frozenset[str]:
    """The cases that were not parity there: divergent, undecided, not loaded, or never judged.

    By the waivers as they are now, since that is how they will be judged again.
    """
    waivers = waivers_of(record.header, waivers_file or default_waivers())
    report = journal_report(record, waivers)
    bad = {case.cassette for case in report.cases if case.verdict is not CaseVerdict.PARITY}
    return frozenset({*bad, *record.problems, *record.missing})


def _revision() -> tuple[str, bool]:
    """The commit of the checkout that this is run in, and whether files differ from it."""
    try:
        here = Checkout.at(Path())
        commit = here.git("rev-parse", "--verify", "--quiet", "HEAD")
        return commit, bool(here.git("status", "--porcelain", "--untracked-files=no"))
    except UsageError:  # no checkout, no commit yet, no git: nothing depends on it
        return "", False
