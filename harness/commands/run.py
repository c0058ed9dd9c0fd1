"""`parity run`: cassettes through two runtimes, and the verdict."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands.options import (
    backend_of,
    check_sides,
    check_writable_file,
    chosen_cassettes,
    jobs_option,
    paths_argument,
    report_options,
    report_places,
    select_option,
    trust_option,
    worker_count,
)
from harness.errors import UsageError

if TYPE_CHECKING:  # importing these costs what `parity --help` must not
    from harness.cassette.find import CassetteFile
    from harness.experiment.backend import Backend
    from harness.parity.verdict import CaseResult
    from harness.parity.waivers import Waivers
    from harness.report.journal import Journal
    from harness.report.model import LoadProblem, RunReport
    from harness.report.terminal import CaseProgress

__all__ = ["run"]

_File = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What one run was asked to do."""

    control: str
    candidate: str
    phase: str | None
    jobs: int
    trust: bool
    repeat: int
    resume: bool
    journal: Path | None
    places: Mapping[str, Path]
    """Where the report goes: see `report_places`."""
    waivers_file: Path | None
    as_of: date


@dataclass(slots=True)
class _Tally:
    """What came of a run so far."""

    results: dict[str, CaseResult] = field(default_factory=dict)
    problems: list[LoadProblem] = field(default_factory=list)
    skipped: int = 0
    interrupted: bool = False


@click.command()
@paths_argument
@click.option("--control", default="legacy", show_default=True, help="The runtime that is right.")
@click.option("--candidate", default="adk", show_default=True, help="The runtime that is judged.")
@select_option
@click.option("--phase", type=click.Choice(["A", "B", "C"]), help="Only this rollout phase.")
@jobs_option
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
def run(
    ctx: click.Context,
    /,
    paths: tuple[Path, ...],
    expr: str | None,
    as_of: datetime | None,
    jobs: int,
    **asked: Any,
) -> None:
    """Replay cassettes through two runtimes and compare.

    PATHS are cassettes and folders of them; without any, ./cassettes or else the bundled corpus.
    A side can be `baseline:DIR`: what `parity baseline` saw a runtime do. The verdict is `parity`,
    `divergent` or `inconclusive`; the first difference is explained, with the command that shows
    it again.

    \b
    parity run
    parity run cassettes/tools -n 0 --html report
    parity run -k 'abort or errors' --json report.json
    parity run --journal run.jsonl --resume
    parity run --control baseline:baselines/legacy

    Exit codes: 0 parity; 1 divergent; 2 wrong usage, or a file that cannot be loaded (the others
    are run nevertheless); 3 inconclusive; 130 interrupted. Of several, 2 wins over 1 over 3.
    """  # noqa: D301 - click's mark for lines that stay as they are
    day = as_of.date() if as_of is not None else datetime.now(UTC).date()
    places = report_places(asked)
    plan = _Plan(jobs=worker_count(jobs), as_of=day, places=places, **asked)
    backend = backend_of(ctx)
    check_sides(backend, plan.control, plan.candidate)
    _check_places(plan)
    ctx.exit(_run(plan, backend, chosen_cassettes(paths, expr, plan.phase)))


def _check_places(plan: _Plan) -> None:
    if plan.resume and plan.journal is None:
        raise UsageError("--resume needs the journal to go on with", "name it with --journal")
    check_writable_file(plan.journal, "--journal")


def _run(plan: _Plan, backend: Backend, files: Sequence[CassetteFile]) -> int:
    from harness.canonical import printable
    from harness.config import default_waivers, versions
    from harness.parity.waivers import load_waivers
    from harness.report.model import exit_code
    from harness.report.terminal import progress, show
    from harness.report.written import write_report

    waivers = load_waivers(plan.waivers_file or default_waivers(), as_of=plan.as_of)
    made_of = _baselines(plan, files)
    for side, maker in made_of.items():
        click.echo(printable(f"{side}: {maker}"))
    built = {**versions(), **made_of}
    tally = _Tally()
    with _journal(plan, waivers, files, built) as journal:
        if journal is not None:
            tally.results.update(journal.finished)
        with progress(len(files), sys.stderr) as bar:
            try:
                _judge_all(plan, backend, files, tally, journal, bar)
            except KeyboardInterrupt:
                tally.interrupted = True
        if journal is not None and not tally.interrupted:
            journal.ended()
    if tally.skipped == len(files):
        raise UsageError(f"no cassette is of phase {plan.phase}", "see `parity list`")
    report = _report(plan, waivers, files, tally, built)
    written = [str(file) for file in write_report(report, plan.places)]
    if plan.journal is not None:
        written.append(str(plan.journal))
    show(report, sys.stdout)
    if written:
        click.echo(f"written: {', '.join(written)}")
    return int(exit_code(report))


def _journal(
    plan: _Plan, waivers: Waivers, files: Sequence[CassetteFile], built: Mapping[str, str]
) -> Journal | nullcontext[None]:
    if plan.journal is None:
        return nullcontext()
    from harness.config import core_baselines, corpus_digest
    from harness.report.journal import Journal, JournalHeader

    kept = [
        (f"{place} {file.name}", folder / f"{file.name}.json")
        for place, folder in enumerate(core_baselines())
        for file in files
    ]
    header = JournalHeader(
        control=plan.control,
        candidate=plan.candidate,
        corpus=corpus_digest([(file.name, file.path) for file in files]),
        waivers=waivers.digest,
        as_of=plan.as_of.isoformat(),
        repeat=plan.repeat,
        trust=plan.trust,
        versions={**built, "baselines of the published core": corpus_digest(kept)[:12]},
    )
    return Journal(plan.journal, header, resume=plan.resume)


def _judge_all(
    plan: _Plan,
    backend: Backend,
    files: Sequence[CassetteFile],
    tally: _Tally,
    journal: Journal | None,
    bar: CaseProgress,
) -> None:
    from harness.baseline.sides import baseline_folder
    from harness.config import core_baselines
    from harness.errors import LoadProblem
    from harness.experiment.case import CaseTask, Skipped, judge
    from harness.experiment.pool import WorkerDied, completed
    from harness.parity.verdict import CaseResult

    sides = (plan.control, plan.candidate)
    trusts = _trusts(plan)
    core = core_baselines()
    tasks = [
        CaseTask(
            backend=backend,
            name=file.name,
            file=file.path,
            root=file.root,
            control=plan.control,
            candidate=plan.candidate,
            repeat=plan.repeat,
            trusted=trusts(file.path),
            phase=plan.phase,
            core=core,
        )
        for file in files
        if file.name not in tally.results
    ]

    def started(task: CaseTask) -> None:
        if journal is not None:
            journal.started(task.name)

    outcomes = completed(
        judge,
        tasks,
        jobs=plan.jobs,
        backend=backend,
        runtimes=[side for side in sides if baseline_folder(side) is None],
        started=started,
    )
    with closing(outcomes):
        for task, outcome in outcomes:
            if isinstance(outcome, Skipped):
                tally.skipped += 1
                continue
            if isinstance(outcome, LoadProblem):
                tally.problems.append(outcome)
                continue
            result = outcome
            if isinstance(result, WorkerDied):
                result = CaseResult.undecided(task.name, "its worker process died")
            tally.results[task.name] = result
            if journal is not None:
                journal.closed(result)
            bar.done(result.cassette, result.verdict)


def _trusts(plan: _Plan) -> Callable[[Path], bool]:
    from harness.cassette.trust import is_trusted
    from harness.config import trusted_roots

    roots = trusted_roots()
    return lambda file: plan.trust or is_trusted(file, roots)


def _report(
    plan: _Plan,
    waivers: Waivers,
    files: Sequence[CassetteFile],
    tally: _Tally,
    built: Mapping[str, str],
) -> RunReport:
    from harness.parity.waivers import settle
    from harness.report.model import RunReport

    results = [tally.results[name] for name in sorted(tally.results)]
    cases, states = settle(results, waivers)
    options = ["--trust"] if plan.trust else []
    if plan.waivers_file is not None:
        options += ["--waivers", str(plan.waivers_file)]
    return RunReport(
        control=plan.control,
        candidate=plan.candidate,
        cases=tuple(cases),
        problems=tuple(sorted(tally.problems, key=lambda problem: problem.file)),
        waivers=tuple(states),
        planned=len(files) - tally.skipped - len(tally.problems),
        interrupted=tally.interrupted,
        versions=built,
        files={file.name: str(file.path) for file in files},
        options=options,
    )


def _baselines(plan: _Plan, files: Sequence[CassetteFile]) -> dict[str, str]:
    """What made the sides that are baselines, for the header."""
    from harness.baseline.folder import made_of

    return made_of((plan.control, plan.candidate), [file.name for file in files])
