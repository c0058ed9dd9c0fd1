"""`parity run`: cassettes through two runtimes, and the verdict."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from harness.canonical import printable
from harness.cassette.find import CassetteFile
from harness.commands import checks
from harness.commands.case_tasks import case_tasks
from harness.commands.reports import Reporting
from harness.commands.run_plan import (
    RunPlan,
    failed_before,
    header_of,
    inventory_of,
    last_journal,
)
from harness.config import default_contract, default_corpora, default_waivers
from harness.coverage.contract import load_contract
from harness.errors import UsageError
from harness.experiment.backend import Backend
from harness.experiment.case import CaseOutcome, CaseTask
from harness.experiment.events import Listener, RunFinished, follow
from harness.experiment.judged import judged_cases
from harness.inventory import Inventory
from harness.journal_header import JournalHeader
from harness.parity.waivers import load_waivers
from harness.report.journal import Journal, shard_of
from harness.report.kept import keep_copy, kept_place, prune
from harness.report.leads import with_past
from harness.report.model import RunReport
from harness.report.progress import CaseProgress
from harness.report.settled import reproducing_options, settled_report
from harness.report.tally import CaseEvent, Failures, Tally
from harness.sides import with_adk_plugins
from harness.whole_file import writable_file
from harness.wording import counted
from harness.wrapping import say

__all__ = ["run"]

_NAMED = 5


@click.pass_context
def run(
    ctx: click.Context,
    /,
    as_of: datetime | None,
    jobs: int,
    first_only: bool,
    maxfail: int | None,
    control: str,
    candidate: str,
    surface: str | None,
    provider: str | None,
    adk_plugins: tuple[str, ...],
    **asked: Any,
) -> int:
    """Run `parity run`; return its exit code."""
    now = datetime.now(UTC)
    day = as_of.date() if as_of is not None else now.date()
    reporting = Reporting(asked)
    sides = _with_plugins((control, candidate), adk_plugins)
    if surface is not None:
        sides = (checks.through(surface, sides[0]), checks.through(surface, sides[1]))
    if provider is not None:
        sides = (checks.over(provider, sides[0]), checks.over(provider, sides[1]))
    plan = RunPlan(
        control=sides[0],
        candidate=sides[1],
        jobs=checks.worker_count(jobs),
        as_of=day,
        started_at=now,
        maxfail=1 if first_only else maxfail,
        **asked,
    )
    backend = checks.backend_of(ctx, plan.limits)
    checks.sides(backend, plan.control, plan.candidate)
    _check_asked(plan)
    return (_last_failed if plan.last_failed else _chosen)(plan, backend, reporting)


def _with_plugins(sides: tuple[str, str], plugins: tuple[str, ...]) -> tuple[str, str]:
    """The sides with `plugins` in the adk runtime; says that no gate counts such a run.

    Raises:
        UsageError: neither side is adk.
    """
    if not plugins:
        return sides
    control, candidate = (with_adk_plugins(side, plugins) for side in sides)
    if (control, candidate) == sides:
        problem = f"--adk-plugin is for the runtime adk, which is neither {' nor '.join(sides)}"
        raise UsageError(problem, "make adk a side with --control or --candidate")
    say(f"{control} and {candidate}: with external ADK plugins; no gate counts this run")
    return control, candidate


def _check_asked(plan: RunPlan) -> None:
    if plan.resume and plan.journal is None:
        raise UsageError("--resume needs the journal to resume", "name it with --journal")
    if plan.resume and plan.last_failed:
        raise UsageError("--resume and --last-failed exclude each other", "leave one out")
    if not plan.last_failed:
        writable_file(plan.journal, "--journal")


def _chosen(plan: RunPlan, backend: Backend, reporting: Reporting) -> int:
    files = checks.chosen_cassettes(plan.paths, plan.expr, plan.phase, variants=True)
    return _run(plan, backend, reporting, files, plan.journal)


def _last_failed(plan: RunPlan, backend: Backend, reporting: Reporting) -> int:
    record = last_journal(plan)
    failed = failed_before(record, plan.waivers_file)
    cases = counted(len(failed), "case")
    unjudged = " or never judged" if record.missing else ""
    say(printable(f"last run: {record.file}, {cases} not parity{unjudged}"))
    if not failed:
        return 0
    paths = plan.paths or tuple(map(Path, record.header.paths))
    chosen = checks.chosen_cassettes(paths, plan.expr, plan.phase, variants=True)
    files = [file for file in chosen if file.name in failed]
    if not files:
        raise UsageError(
            "the cassettes contain none of these cases", "name the folder of these cases"
        )
    # The journal names what was chosen: the cassettes that were left out are not gone.
    these = replace(plan, expr=" or ".join(file.name for file in files))
    return _run(these, backend, reporting, files, None)


def _run(
    plan: RunPlan,
    backend: Backend,
    reporting: Reporting,
    files: Sequence[CassetteFile],
    journal_file: Path | None,
) -> int:
    waivers = load_waivers(plan.waivers_file or default_waivers(), as_of=plan.as_of)
    mine = set(shard_of([file.name for file in files], plan.shard or ""))
    if not mine:
        problem = f"{len(files)} cassettes are too few for shard {plan.shard}"
        raise UsageError(problem, "use fewer shards")
    inventory = inventory_of(plan, files)
    header = header_of(plan, inventory, [file.name for file in files], _roots(plan))
    for name, maker in header.made_of.items():
        say(printable(f"{name}: {maker}"))
    todo = [file for file in files if file.name in mine]
    with _journal(plan, header, inventory, journal_file) as journal:
        if journal is not None and journal.set_aside is not None:
            words = "is from a run that did not finish; --resume would continue it. Moved to"
            say(printable(f"{journal.file} {words} {journal.set_aside}"), err=True)
        tally = Tally.after(None if journal is None else journal.before)
        failures = Failures(waivers, tally, plan.maxfail)

        def keep(event: CaseEvent) -> None:
            if isinstance(event, RunFinished) and plan.keep:
                _keep(plan, journal_file)

        def report(ending: RunFinished) -> RunReport:
            _refuse_no_case(plan, tally, len(todo))
            settled = settled_report(
                header,
                tally,
                waivers,
                given=len(todo),
                stopped=failures.count if ending.stopped and _not_run(todo, tally) else 0,
                files={file.name: file.argument for file in todo},
                options=reproducing_options(header.trust, plan.waivers_file),
            )
            return with_past(settled, inventory, waivers)

        tasks = _tasks(plan, backend, [file for file in todo if not tally.has(file.name)])
        listeners: list[Listener[CaseTask, CaseOutcome]] = [] if journal is None else [journal]
        with CaseProgress(sys.stderr, lambda name, _: failures.verdicts.get(name)) as progress:
            listeners += [tally, failures, progress, keep, *reporting.listeners(report)]
            follow(judged_cases(tasks, plan.jobs), *listeners, failures.stop)
    code = reporting.end(journal_file)
    for line in _left_over(plan, _not_run(todo, tally), journal):
        say(printable(line))
    return code


def _not_run(files: Sequence[CassetteFile], tally: Tally) -> list[str]:
    return [file.name for file in files if not tally.has(file.name)]


def _refuse_no_case(plan: RunPlan, tally: Tally, given: int) -> None:
    """Refuse a run that skipped every case, unless another shard may have judged some."""
    if len(tally.skipped) < given or plan.shard:
        return
    if plan.phase is None:
        problem = "no cassette has two prompts, so no session can be handed over"
        raise UsageError(problem, "name one runtime for each side")
    raise UsageError(f"no cassette is of phase {plan.phase}", "see `parity list`")


def _tasks(plan: RunPlan, backend: Backend, files: Sequence[CassetteFile]) -> list[CaseTask]:
    contract = default_contract()
    load_contract(contract)  # a broken one is reported before anything runs
    return case_tasks(
        files,
        backend,
        control=plan.control,
        candidate=plan.candidate,
        trust=plan.trust,
        repeat=plan.repeat,
        phase=plan.phase,
        contract=contract,
    )


def _left_over(plan: RunPlan, names: Sequence[str], journal: Journal | None) -> Iterator[str]:
    """The cases that a run which ended early did not run, and how to resume it."""
    if not names:
        return
    named = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    yield f"not run: {counted(len(names), 'case')} ({named})"
    if journal is not None and not plan.last_failed:
        again = shlex.join(["--journal", str(journal.file), "--resume"])
        yield f"to continue: the same command with {again}"


def _roots(plan: RunPlan) -> Sequence[Path]:
    """What the header says the cassettes were found under."""
    if plan.paths:
        return plan.paths
    return default_corpora()


def _journal(
    plan: RunPlan, header: JournalHeader, inventory: Inventory, file: Path | None
) -> Journal | nullcontext[None]:
    """The journal that was asked for, else one that is kept, else none."""
    if file is not None:
        return Journal(file, header, inventory, resume=plan.resume)
    place = kept_place(plan.started_at) if plan.keep else None
    if place is not None:
        with suppress(UsageError):  # keeping one is a convenience: the run goes on without
            return Journal(place, header, inventory, asked_for=False)
    return nullcontext()


def _keep(plan: RunPlan, journal_file: Path | None) -> None:
    """Keep the journal of this run among the last ones, however it ended."""
    if journal_file is not None:
        keep_copy(journal_file, plan.started_at, again=plan.resume)
    prune()
