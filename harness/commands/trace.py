"""`parity trace`: what one runtime does with cassettes, written down whole."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from harness.commands import checks
from harness.commands.case_tasks import tasks_of
from harness.errors import LoadProblem, UsageError
from harness.experiment.backend import Backend
from harness.experiment.case import Observed, TraceTask
from harness.experiment.case import trace as trace_one
from harness.experiment.events import follow, on_finished
from harness.experiment.limits import Limits
from harness.experiment.pool import run_cases
from harness.report.progress import CaseProgress
from harness.whole_file import writable_folder
from harness.wrapping import say
from services.redaction import without_credentials

__all__ = ["trace"]


@click.pass_context
def trace(
    ctx: click.Context,
    paths: tuple[Path, ...],
    runtime: str,
    out: Path | None,
    expr: str | None,
    jobs: int,
    limits: Limits,
    trust: bool,
) -> int:
    """Run `parity trace`; return its exit code."""
    backend = checks.backend_of(ctx, limits)
    checks.runtimes(backend, runtime)
    writable_folder(out, "--out")
    files = checks.chosen_cassettes(paths, expr, on_stderr=True)
    if out is None and len(files) > 1:
        problem = f"{len(files)} traces do not fit on standard output"
        raise UsageError(problem, "name a folder for them with --out")
    tasks = tasks_of(TraceTask, files, backend, trust=trust, runtime=runtime, out=out)
    return _trace_all(tasks, backend, checks.worker_count(jobs))


def _trace_all(tasks: Sequence[TraceTask], backend: Backend, jobs: int) -> int:
    problems: list[str] = []
    doubts: list[str] = []

    def take(task: TraceTask, outcome: Observed | LoadProblem) -> None:
        if isinstance(outcome, LoadProblem):
            problems.append(outcome.message)
            return
        if outcome.doubt is not None:
            doubts.append(f"{outcome.name}: {outcome.doubt}")
        if outcome.text is not None:
            click.echo(outcome.text, nl=False)

    events = run_cases(
        trace_one,
        tasks,
        died=lambda task, died: Observed(name=task.name, doubt=died.why),
        jobs=jobs,
        backend=backend,
        runtimes=[tasks[0].runtime],
    )
    with CaseProgress(sys.stderr) as progress:
        ending = follow(events, progress, on_finished(take))
    if ending.interrupted:
        say("interrupted: the traces written so far are complete", err=True)
        return 130
    for message in sorted(problems):
        say(f"not loaded: {without_credentials(message)}", err=True)
    for message in sorted(doubts):
        say(f"not observed: {without_credentials(message)}", err=True)
    return 2 if problems else 3 if doubts else 0
