"""`parity run`: cassettes through two runtimes, and the verdict."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands.options import (
    backend_of,
    check_sides,
    check_writable_file,
    chosen_cassettes,
    jobs_option,
    limits_option,
    paths_argument,
    report_options,
    report_places,
    select_option,
    trust_option,
    worker_count,
)
from harness.commands.run_cases import Tally, judge_all
from harness.commands.run_plan import (
    RunPlan,
    Shard,
    failed_before,
    header_of,
    inventory_of,
    last_journal,
)
from harness.errors import UsageError

if TYPE_CHECKING:  # importing these costs what `parity --help` must not
    from harness.cassette.find import CassetteFile
    from harness.experiment.backend import Backend
    from harness.inventory import Inventory
    from harness.journal_header import JournalHeader
    from harness.report.journal import Journal

__all__ = ["run"]

_File = click.Path(path_type=Path, dir_okay=False)


@click.command()
@paths_argument
@click.option("--control", default="legacy", show_default=True, help="The runtime that is right.")
@click.option("--candidate", default="adk", show_default=True, help="The runtime that is judged.")
@select_option
@click.option("--phase", type=click.Choice(["A", "B", "C"]), help="Only this rollout phase.")
@click.option(
    "--last-failed",
    is_flag=True,
    help="Only what was not parity in the last run here, or in the --journal, which is then read.",
)
@click.option(
    "--shard",
    type=Shard(),
    help="Only this part of the cassettes, as 2/3; `parity merge` puts the journals together.",
)
@jobs_option
@limits_option
@trust_option
@click.option(
    "--repeat",
    type=click.IntRange(1, 20),
    default=1,
    show_default=True,
    help="Runs of each side; from 2 on, what differs from run to run is told apart.",
)
@click.option("--journal", type=_File, help="Write each result as it comes, one JSON line each.")
@click.option("--resume", is_flag=True, help="Go on with the journal's run: skip what is in it.")
@click.option(
    "--keep/--no-keep",
    default=True,
    envvar="PARITY_KEEP",
    show_default=True,
    help="Leave a journal in .parity/journals, for --last-failed and `parity history`.",
)
@report_options
@click.option(
    "--waivers",
    "waivers_file",
    type=_File,
    help="Accepted differences; parity_tests/waivers.toml if there is one.",
)
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Judge the waivers by this day instead of today (UTC).",
)
@click.pass_context
def run(ctx: click.Context, /, as_of: datetime | None, jobs: int, **asked: Any) -> None:
    """Replay cassettes through two runtimes and compare.

    PATHS are cassettes and folders of them; without any, ./cassettes or else the bundled corpus.
    A side can be `baseline:DIR`: what `parity baseline` saw a runtime do. The verdict is `parity`,
    `divergent` or `inconclusive`; the first difference is explained, with the command that shows
    it again. A cassette of phase B is two cases: as it is, and as NAME@sessions, where child
    agents run through sessions.

    \b
    parity run
    parity run cassettes/tools -n 0 --html report
    parity run -k 'abort or errors' --json report.json
    parity run --last-failed
    parity run --journal run.jsonl --resume
    parity run --shard 1/3 --journal shard-1.jsonl
    parity run --control baseline:baselines/legacy

    Exit codes: 0 parity; 1 divergent; 2 wrong usage, or a file that cannot be loaded (the others
    are run nevertheless), or output that cannot be written; 3 inconclusive; 130 interrupted; 141
    the reader of the output has left. Of several, 2 wins over 1 over 3.
    """  # noqa: D301 - click's mark for lines that stay as they are
    now = datetime.now(UTC)
    day = as_of.date() if as_of is not None else now.date()
    places = report_places(asked)
    plan = RunPlan(jobs=worker_count(jobs), as_of=day, started_at=now, places=places, **asked)
    backend = backend_of(ctx, plan.limits)
    check_sides(backend, plan.control, plan.candidate)
    _check_asked(plan)
    ctx.exit(_last_failed(plan, backend) if plan.last_failed else _chosen(plan, backend))


def _check_asked(plan: RunPlan) -> None:
    if plan.resume and plan.journal is None:
        raise UsageError("--resume needs the journal to go on with", "name it with --journal")
    if plan.resume and plan.last_failed:
        raise UsageError("--resume and --last-failed ask for different cases", "leave one out")
    if not plan.last_failed:
        check_writable_file(plan.journal, "--journal")


def _chosen(plan: RunPlan, backend: Backend) -> int:
    files = chosen_cassettes(plan.paths, plan.expr, plan.phase, variants=True)
    return _run(plan, backend, files, plan.journal)


def _last_failed(plan: RunPlan, backend: Backend) -> int:
    from harness.canonical import printable

    record = last_journal(plan)
    failed = failed_before(record, plan.waivers_file)
    cases = f"{len(failed)} case{'' if len(failed) == 1 else 's'}"
    unjudged = " or never judged" if record.missing else ""
    click.echo(printable(f"last run: {record.file}, {cases} not parity{unjudged}"))
    if not failed:
        return 0
    paths = plan.paths or tuple(map(Path, record.header.paths))
    chosen = chosen_cassettes(paths, plan.expr, plan.phase, variants=True)
    files = [file for file in chosen if file.name in failed]
    if not files:
        raise UsageError("none of these cases is among the cassettes", "name where they are")
    return _run(plan, backend, files, None)


def _run(
    plan: RunPlan, backend: Backend, files: Sequence[CassetteFile], journal_file: Path | None
) -> int:
    from harness.canonical import printable
    from harness.config import default_waivers
    from harness.parity.waivers import load_waivers
    from harness.report.journal import shard_of
    from harness.report.leads import with_past
    from harness.report.model import exit_code
    from harness.report.settled import reproducing_options, settled_report
    from harness.report.terminal import progress, show
    from harness.report.written import write_report

    waivers = load_waivers(plan.waivers_file or default_waivers(), as_of=plan.as_of)
    mine = set(shard_of([file.name for file in files], plan.shard or ""))
    if not mine:
        problem = f"{len(files)} cassettes do not make a part {plan.shard}"
        raise UsageError(problem, "ask for fewer parts")
    inventory = inventory_of(plan, files)
    header = header_of(plan, inventory, [file.name for file in files], _roots(plan))
    for side, maker in header.made_of.items():
        click.echo(printable(f"{side}: {maker}"))
    todo = [file for file in files if file.name in mine]
    with _journal(plan, header, inventory, journal_file) as journal:
        if journal is not None and journal.set_aside is not None:
            words = "was of a run that did not end, which --resume goes on with; now it is"
            click.echo(printable(f"{journal.file} {words} {journal.set_aside}"), err=True)
        tally = Tally.after(None if journal is None else journal.before)
        left = [file for file in todo if not tally.has(file.name)]
        with progress(len(left), sys.stderr) as bar:
            try:
                judge_all(plan, backend, left, tally, journal, bar)
            except KeyboardInterrupt:
                tally.interrupted = True
        if journal is not None and not tally.interrupted:
            journal.ended()
    _leave_behind(plan, journal_file)
    if len(tally.skipped) == len(todo) and not plan.shard:
        if plan.phase is None:
            problem = "no cassette has two prompts to hand a session over between"
            raise UsageError(problem, "name one runtime a side")
        raise UsageError(f"no cassette is of phase {plan.phase}", "see `parity list`")
    report = settled_report(
        header,
        tally.results,
        waivers,
        planned=len(todo) - len(tally.skipped) - len(tally.problems),
        problems=list(tally.problems.values()),
        interrupted=tally.interrupted,
        files={file.name: file.told for file in todo},
        options=reproducing_options(header, plan.waivers_file),
        took_ms=tally.took_ms,
    )
    report = with_past(report, inventory, waivers)
    written = [str(file) for file in write_report(report, plan.places)]
    if journal_file is not None:
        written.append(str(journal_file))
    show(report, sys.stdout)
    if written:
        click.echo(f"written: {', '.join(written)}")
    if tally.interrupted and journal is not None and not plan.last_failed:
        again = shlex.join(["--journal", str(journal.file), "--resume"])
        click.echo(printable(f"to go on: the same with {again}"))
    return int(exit_code(report))


def _roots(plan: RunPlan) -> Sequence[Path]:
    """What the header says the cassettes were found under."""
    if plan.paths:
        return plan.paths
    from harness.config import default_corpus

    return [default_corpus()]


def _journal(
    plan: RunPlan, header: JournalHeader, inventory: Inventory, file: Path | None
) -> Journal | nullcontext[None]:
    """The journal that was asked for, else one that is kept, else none."""
    from harness.report.journal import Journal
    from harness.report.kept import kept_place

    if file is not None:
        return Journal(file, header, inventory, resume=plan.resume)
    place = kept_place(plan.started_at) if plan.keep else None
    if place is not None:
        with suppress(UsageError):  # keeping one is a convenience: the run goes on without
            return Journal(place, header, inventory, asked_for=False)
    return nullcontext()


def _leave_behind(plan: RunPlan, journal_file: Path | None) -> None:
    """Keep the journal of this run among the last ones, however it ended."""
    from harness.report.kept import keep_copy, prune

    if plan.keep:
        if journal_file is not None:
            keep_copy(journal_file, plan.started_at, again=plan.resume)
        prune()
