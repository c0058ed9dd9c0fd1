"""`parity measure`: run what a gate lacks, and ask it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import click

from harness.command_line.run_and_read import run
from harness.command_line.search import faults, generate, mutants
from harness.commands import checks
from harness.commands.gate import Question
from harness.errors import HarnessError, UsageError
from harness.experiment.backend import Backend
from harness.gate.answer import Measurement
from harness.gate.page import answer_file
from harness.gate.plan import Planned, in_about
from harness.gate.show import EXITS, Lines, show_plan
from harness.whole_file import writable_file, writable_folder

__all__ = ["measure"]

_INTERRUPTED = 130
_COMMANDS = {"leg": run, "faults": faults, "mutants": mutants, "sample": generate}


@dataclass(frozen=True, slots=True, kw_only=True)
class _How:
    """How measurements are run."""

    jobs: int
    options: tuple[str, ...]
    """What is asked of `measure` and goes for each measurement: `--waivers FILE`."""
    trust: bool
    seams: object
    """`ctx.obj`, in which a test hands over what runs cases."""


class _Interrupted(Exception):
    """The user has had enough."""


@click.pass_context
def measure(
    ctx: click.Context,
    /,
    jobs: int,
    trust: bool,
    dry_run: bool,
    json_file: Path | None,
    html_file: Path | None,
    **asked: Any,
) -> int:
    """Run `parity measure`; return its exit code."""
    writable_file(json_file, "--json")
    writable_file(html_file, "--html")
    question = Question(**asked)
    writable_folder(question.folder, "--journal")
    waivers = question.waivers_file
    repeated = () if waivers is None else ("--waivers", str(waivers))
    how = _How(jobs=checks.worker_count(jobs), options=repeated, trust=trust, seams=ctx.obj)
    answered = question.asked(_today(), say_changes=True)
    plan = question.plan(answered, how.jobs)
    if dry_run:
        _say_plan(plan, how, commands=True)
        return EXITS[answered.answer.answer]
    backend = checks.backend_of(ctx)
    done: list[Measurement] = []
    while plan:
        for each in plan:
            _check(backend, each.measurement)
        _say_plan(plan, how)
        try:
            _run_all(plan, how)
        except _Interrupted:
            again = f"{question.measure} --trust" if trust else question.measure
            click.echo(f"interrupted; to continue: {again}", err=True)
            return _INTERRUPTED
        done += [each.measurement for each in plan]
        answered = question.asked(_today())
        plan = question.plan(answered, how.jobs, done)
    left = question.plan(answered, how.jobs)
    files = [answer_file(question.folder, question.phase, question.profile)]
    files += [json_file] if json_file is not None else []
    return question.show(answered, left, json_files=files, html_file=html_file)


def _today() -> date:
    return datetime.now(UTC).date()


def _check(backend: Backend, measurement: Measurement) -> None:
    """Refuse beforehand what cannot be run here.

    Raises:
        UsageError: a side is not here, with how to get it.
    """
    sides = [side for side in (measurement.control, measurement.candidate) if side]
    try:
        checks.sides(backend, *sides)
    except UsageError as error:
        problem = f"{measurement.about} cannot be run here: {error.problem}"
        raise UsageError(problem, error.mend) from error


def _say_plan(plan: Sequence[Planned], how: _How, *, commands: bool = False) -> None:
    out = Lines(sys.stdout)
    if not plan:
        out.line("there is no missing measurement")
        return
    total = in_about(sum(each.seconds for each in plan))
    workers = "1 worker" if how.jobs == 1 else f"{how.jobs} workers"
    out.line(f"to measure, about {total} in total with {workers} (an estimate):", "bold")
    show_plan(plan, out, "  ", commands=commands)


def _run_all(plan: Sequence[Planned], how: _How) -> None:
    """Run what is planned; what fails is reported, and the gate says what that means.

    Raises:
        _Interrupted: the user has had enough.
    """
    out = Lines(sys.stdout)
    for number, each in enumerate(plan, 1):
        about = each.measurement.about
        out.line("")
        out.line(f"[{number}/{len(plan)}] {about}, about {in_about(each.seconds)}", "bold")
        sys.stdout.flush()
        try:
            code = _run(each.measurement, how)
        except HarnessError as error:
            click.echo(f"not measured: {about}: {error}", err=True)
            continue
        if code == _INTERRUPTED:
            raise _Interrupted


def _run(measurement: Measurement, how: _How) -> int:
    """Run a measurement, going on where it was cut off if that is possible; its exit code."""
    resume = ("--resume",) if measurement.kind == "sample" else measurement.resume
    if resume:
        try:
            return _invoked((*measurement.words, *resume), measurement, how)
        except UsageError as error:
            click.echo(f"it cannot continue ({error.problem}), and starts again", err=True)
    return _invoked(measurement.words, measurement, how)


def _invoked(words: Sequence[str], measurement: Measurement, how: _How) -> int:
    command = _COMMANDS[measurement.kind]
    trust = ["--trust"] if how.trust and measurement.kind != "sample" else []
    args = [*words[1:], "-n", str(how.jobs), *how.options, *trust]
    try:
        code = command.main(
            args, prog_name=f"parity {words[0]}", standalone_mode=False, obj=how.seams
        )
    except (click.Abort, KeyboardInterrupt):
        raise _Interrupted from None
    return int(code or 0)
