"""`parity waive`: proposes the entry of the waivers file for a difference that was found."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import click

from harness.canonical import printable
from harness.commands import checks
from harness.commands.case_tasks import case_tasks
from harness.commands.naming import find_one, name_of
from harness.commands.report import journal_in
from harness.config import default_waivers
from harness.errors import HarnessError, LoadProblem, UsageError
from harness.experiment.case import judge
from harness.explain import first_cause
from harness.parity.divergence import Divergence
from harness.parity.proposing import Said, proposed
from harness.parity.verdict import CaseResult
from harness.parity.waivers import Waivers, load_waivers, settle
from harness.report.journal import read_journal
from harness.wording import did_you_mean, near_words
from harness.wrapping import say
from services.regular_files import MOST_TEXT, read_regular

__all__ = ["waive"]


class _Undecided(HarnessError):
    """The case decides nothing, so nothing of it can be accepted."""

    exit_code = 3


@click.pass_context
def waive(
    ctx: click.Context,
    /,
    cassette: str | None,
    journal: Path | None,
    control: str,
    candidate: str,
    fingerprint: str | None,
    owner: str | None,
    impact: str | None,
    reason: str | None,
    days: int,
    name: str | None,
    as_of: datetime | None,
    append: bool,
    waivers_file: Path | None,
    trust: bool,
) -> None:
    """Run `parity waive`."""
    today = as_of.date() if as_of is not None else datetime.now(UTC).date()
    file = waivers_file or default_waivers()
    # A file that is to be made by --append need not be there.
    waivers = load_waivers(
        file if file is not None and _is_there(file, append) else None, as_of=today
    )
    if journal is not None:
        result = _from_journal(journal, cassette, waivers)
    else:
        result = settle([_run(ctx, cassette, control, candidate, trust)], waivers)[0][0]
    found = _chosen(result, fingerprint)
    said = Said(owner=owner, impact=impact, reason=reason)
    entry = proposed(
        result,
        found,
        as_of=today,
        days=days,
        said=said,
        taken=[each.id for each in waivers.entries],
        name=name,
    )
    _report_others(result, found)
    if append:
        target = file or Path("parity_tests", "waivers.toml")
        _append(target, entry, today, said.unsaid)
        say(printable(f"written to {target}"))
    else:
        click.echo(entry, nl=False)
    if said.unsaid:
        say(f"to complete: {', '.join(said.unsaid)}", err=True)


def _is_there(file: Path, append: bool) -> bool:
    return file.is_file() or not append


def _run(
    ctx: click.Context, cassette: str | None, control: str, candidate: str, trust: bool
) -> CaseResult:
    if cassette is None:
        raise UsageError("no cassette is named", "name one, or a run's journal with --journal")
    backend = checks.backend_of(ctx)
    checks.sides(backend, control, candidate)
    case = find_one(cassette)
    (task,) = case_tasks([case], backend, control=control, candidate=candidate, trust=trust)
    result = judge(task)
    if isinstance(result, LoadProblem):
        raise UsageError(result.message)
    if not isinstance(result, CaseResult):
        raise UsageError(f"{cassette} cannot be run with these options", "see `parity run --help`")
    return result


def _from_journal(journal: Path, cassette: str | None, waivers: Waivers) -> CaseResult:
    journal = journal_in(journal)
    record = read_journal(journal)
    settled, _ = settle([record.finished[case] for case in sorted(record.finished)], waivers)
    if cassette is not None:
        by_name = {result.cassette: result for result in settled}
        result = by_name.get(cassette) or by_name.get(name_of(cassette))
        if result is not None:
            return result
        problem = f"{journal} has no result of {cassette!r}"
        mend = "name a case as `parity report` does"
        raise UsageError(problem, did_you_mean(near_words(cassette, by_name), mend))
    open_cases = [result for result in settled if result.open]
    if len(open_cases) == 1:
        return open_cases[0]
    if not open_cases:
        raise UsageError(f"{journal} has no unwaived difference", "no waiver is needed")
    names = ", ".join(result.cassette for result in open_cases[:5])
    more = ", …" if len(open_cases) > 5 else ""
    raise UsageError(f"{len(open_cases)} cases differ", f"name one: {names}{more}")


def _chosen(result: CaseResult, fingerprint: str | None) -> Divergence:
    if result.blockers:
        raise _Undecided(
            f"{result.cassette}: {result.blockers[0]}; an inconclusive case cannot be waived"
        )
    if not result.open:
        raise UsageError(f"{result.cassette}: no unwaived difference")
    if fingerprint is None:
        return first_cause(result) or result.open[0]
    wanted = fingerprint.lower()
    fitting = [each for each in result.open if each.fingerprint.startswith(wanted)]
    if not fitting or not wanted:
        known = ", ".join(dict.fromkeys(each.fingerprint for each in result.open))
        raise UsageError(f"no open difference has the fingerprint {fingerprint!r}", f"use {known}")
    prints = dict.fromkeys(each.fingerprint for each in fitting)
    if len(prints) > 1:
        raise UsageError(f"{fingerprint!r} begins {', '.join(prints)}", "give more digits")
    return fitting[0]


def _report_others(result: CaseResult, found: Divergence) -> None:
    say(printable(f"{result.cassette}: {found.place} ({found.kind.value})"), err=True)
    places: dict[str, str] = {}
    for each in result.open:
        if each is not found:
            places.setdefault(each.fingerprint, each.place)
    for known, place in list(places.items())[:10]:
        say(f"  it does not cover --fingerprint {known}  {printable(place)}", err=True)


def _append(file: Path, entry: str, today: date, unsaid: Sequence[str]) -> None:
    """Put the entry behind what the file holds; a file that would be refused for it stays as it is.

    Raises:
        UsageError: the file cannot be written.
        WaiverFileError: what is to be written is no waiver.
    """
    try:
        before = read_regular(file, MOST_TEXT).decode("utf-8") if file.exists() else "format = 1\n"
        text = f"{before.rstrip()}\n\n{entry}"
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            if not unsaid:
                load_waivers(Path(part), as_of=today)
            if file.exists():
                Path(part).chmod(file.stat().st_mode & 0o777)
            else:
                Path(part).chmod(0o644)
            Path(part).replace(file)
        finally:
            Path(part).unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"{file} cannot be written: {reason}", "name another --waivers") from error
