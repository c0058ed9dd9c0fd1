"""`parity diff`: two traces, or two folders of them, compared as a run compares two runtimes."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands.options import check_writable_file
from harness.errors import UsageError

if TYPE_CHECKING:  # importing these costs what `parity --help` must not
    from harness.report.model import RunReport

__all__ = ["diff"]

_Place = click.Path(path_type=Path)


@click.command()
@click.argument("control", metavar="A", type=_Place)
@click.argument("candidate", metavar="B", type=_Place)
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="Write the report as JSON; `-` for standard output, and nothing else there.",
)
@click.pass_context
def diff(ctx: click.Context, control: Path, candidate: Path, json_file: Path | None) -> None:
    """Compare two trace documents, written by `parity trace`.

    The same projections, channels and explanations as in `parity run`; A is what is right, B what
    is judged. Two folders are compared file by file: what only one of them holds is inconclusive.

    \b
    parity diff before.json after.json
    parity diff traces/legacy traces/adk --json diff.json

    Exit codes: 0 nothing differs; 1 something does; 2 wrong usage, or a file that is no trace;
    3 inconclusive: a run was not observed, or a trace has no partner. Of several, 2 wins over 1
    over 3.
    """  # noqa: D301 - click's mark for lines that stay as they are
    from harness.report.json_report import json_report
    from harness.report.model import exit_code
    from harness.report.terminal import show

    on_stdout = json_file is not None and str(json_file) == "-"
    if not on_stdout:
        check_writable_file(json_file, "--json")
    report = _report(control, candidate)
    if json_file is not None and not on_stdout:
        json_file.write_text(json_report(report), "utf-8")
    if on_stdout:
        click.echo(json_report(report), nl=False)
    else:
        show(report, sys.stdout)
    ctx.exit(int(exit_code(report)))


def _report(control: Path, candidate: Path) -> RunReport:
    from harness.errors import HarnessError
    from harness.parity.verdict import CaseResult
    from harness.report.model import LoadProblem
    from harness.triage.pairs import DiffReport, compared, labels
    from harness.triage.traces import read_trace

    pairs, alone = _pairs(control, candidate)
    cases: list[CaseResult] = []
    problems: list[LoadProblem] = []
    sides = dict.fromkeys([(str(control), str(candidate))])
    found = []
    for name, pair in pairs.items():
        try:
            here, there = read_trace(pair[0]), read_trace(pair[1])
        except HarnessError as error:
            problems.append(LoadProblem(file=str(getattr(error, "file", pair[0])), message=str(error)))
            continue
        found.append(labels(here, there, str(control), str(candidate)))
        cases.append(compared(here, there, name))
    for name, side in alone.items():
        cases.append(CaseResult.undecided(name, f"only {side} has a trace of it"))
    names = set(found)
    sides = names.pop() if len(names) == 1 else (str(control), str(candidate))
    return DiffReport(
        control=sides[0],
        candidate=sides[1],
        cases=tuple(sorted(cases, key=lambda case: case.cassette)),
        problems=tuple(problems),
        planned=len(cases),
        files={name: shlex.join(map(str, pair)) for name, pair in pairs.items()},
    )
