"""`parity diff`: two traces, or two folders of them, compared as a run compares two runtimes."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from harness.commands.naming import near_paths
from harness.errors import HarnessError, LoadProblem, UsageError
from harness.parity.verdict import CaseResult
from harness.report.json_report import json_report
from harness.report.model import RunReport, exit_code
from harness.report.terminal import show
from harness.triage.pairs import compared
from harness.triage.traces import read_trace
from harness.whole_file import writable_file, write_asked_for
from harness.wording import did_you_mean

__all__ = ["diff"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PairsReport(RunReport):
    """The report of a comparison of traces; `files` holds a case's two files as shell words."""

    def reproduce(self, case: CaseResult) -> str:
        """The command that compares this one pair again."""
        pair = self.files.get(case.cassette, shlex.join([self.control, self.candidate]))
        return f"parity diff {pair}"


@dataclass(frozen=True, slots=True)
class _Pair:
    """A case's two files, and what to call it; one that is missing is `None`."""

    name: str
    control: Path | None
    candidate: Path | None


def diff(control: Path, candidate: Path, json_file: Path | None, verbose: bool) -> int:
    """Run `parity diff`; return its exit code."""
    on_stdout = json_file is not None and str(json_file) == "-"
    if not on_stdout:
        writable_file(json_file, "--json")
    report = _report(control, candidate)
    if on_stdout:
        click.echo(json_report(report), nl=False)
    else:
        if json_file is not None:
            write_asked_for(json_file, json_report(report), "--json")
        show(report, sys.stdout, verbose=verbose)
    return int(exit_code(report))


def _report(control: Path, candidate: Path) -> RunReport:
    sides: set[tuple[str, str]] = set()
    cases: list[CaseResult] = []
    problems: list[LoadProblem] = []
    files: dict[str, str] = {}
    for pair in _pairs(control, candidate):
        outcome = _outcome(pair, control, candidate)
        if isinstance(outcome, LoadProblem):
            problems.append(outcome)
        else:
            cases.append(outcome)
            files[outcome.cassette] = shlex.join(map(str, (pair.control, pair.candidate)))
            sides |= {outcome.runtimes} - {("", "")}
    # Two traces of one runtime, or pairs of several, are distinguished by their places.
    names = sides.pop() if len(sides) == 1 else ("", "")
    if names[0] == names[1]:
        names = (str(control), str(candidate))
    return _PairsReport(
        control=names[0],
        candidate=names[1],
        cases=tuple(sorted(cases, key=lambda case: case.cassette)),
        problems=tuple(problems),
        planned=len(cases),
        files=files,
    )


def _outcome(pair: _Pair, control: Path, candidate: Path) -> CaseResult | LoadProblem:
    if pair.control is None or pair.candidate is None:
        side = candidate if pair.control is None else control
        return CaseResult.undecided(pair.name, f"only {side} has a trace of it")
    try:
        here, there = read_trace(pair.control), read_trace(pair.candidate)
    except HarnessError as error:
        file = getattr(error, "file", pair.control)
        return LoadProblem(file=str(file), message=str(error))
    if here.name != there.name:
        click.echo(
            f"note: {pair.control} is of {here.name}, {pair.candidate} of {there.name}", err=True
        )
    return compared(here, there, pair.name or here.name)


def _pairs(control: Path, candidate: Path) -> Iterator[_Pair]:
    control, candidate = _found(control), _found(candidate)
    for place in (control, candidate):
        if not place.exists():
            near = [str(path) for path in near_paths(place)]
            mend = did_you_mean(near, "make it with `parity trace`")
            raise UsageError(f"{place} does not exist", mend)
    if control.is_dir() != candidate.is_dir():
        problem = f"{control} and {candidate} are not both files or both folders"
        raise UsageError(problem, "name two traces, or two folders of them")
    if not control.is_dir():
        yield _Pair("", control, candidate)
        return
    here, there = _traces(control), _traces(candidate)
    if not here and not there:
        problem = f"neither {control} nor {candidate} contains a trace (*.json)"
        raise UsageError(problem, "make some with `parity trace --out`")
    for name in sorted({*here, *there}):
        yield _Pair(name, here.get(name), there.get(name))


def _found(place: Path) -> Path:
    """A trace whose suffix may be left out."""
    file = place.with_name(f"{place.name}.json") if place.name else place
    return file if not place.exists() and file.is_file() else place


def _traces(folder: Path) -> dict[str, Path]:
    """The files that could be traces, by what their place in the folder says."""
    return {
        file.relative_to(folder).with_suffix("").as_posix(): file
        for file in sorted(folder.rglob("*.json"))
        if not any(part.startswith(".") for part in file.relative_to(folder).parts)
    }
