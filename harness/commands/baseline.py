"""`parity baseline`: what a runtime was observed to do, kept in files for `baseline:DIR`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from harness.baseline.folder import superfluous
from harness.baseline.stale import outdated
from harness.canonical import printable
from harness.cassette.find import CassetteFile
from harness.commands import checks
from harness.commands.case_tasks import tasks_of
from harness.draw import chosen
from harness.errors import LoadProblem, UsageError
from harness.experiment.backend import Backend
from harness.experiment.case import Baselined, BaselineTask
from harness.experiment.case import baseline as baseline_one
from harness.experiment.events import follow_whole, on_finished
from harness.experiment.limits import Limits
from harness.experiment.pool import run_cases
from harness.report.progress import CaseProgress
from harness.whole_file import writable_folder
from harness.wording import counted
from harness.wrapping import say

__all__ = ["baseline"]

_REMARKED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What was asked for."""

    paths: tuple[Path, ...]
    runtime: str
    out: Path
    expr: str | None
    trust: bool
    check: bool
    prune: bool
    most: int | None
    """How many are observed anew by `check`; `None`: all."""
    seed: int

    @property
    def command(self) -> str:
        """The command that writes these baselines."""
        words = ["parity", "baseline", *map(str, self.paths)]
        words += ["--runtime", self.runtime, "--out", str(self.out)]
        words += ["-k", self.expr] if self.expr is not None else []
        return shlex.join([*words, *(["--trust"] if self.trust else [])])


@dataclass(slots=True)
class _Tally:
    """The results so far, in the order in which the runs ended."""

    kept: list[str] = field(default_factory=list)
    stale: dict[str, tuple[str, ...]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    read: int = 0
    """How many were not observed anew, and are of their cassettes."""
    problems: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def add(self, task: BaselineTask, seen: Baselined | LoadProblem) -> None:
        """Count one outcome."""
        if isinstance(seen, LoadProblem):
            self.problems.append(seen.message)
            return
        if seen.doubt is not None:
            self.doubts.append(f"{seen.name}: {seen.doubt}")
        elif seen.stale:
            self.stale[seen.name] = seen.stale
        else:
            self.kept.append(seen.name)
        if seen.remark is not None:
            self.remarks.append(f"{seen.name}: {seen.remark}")

    def add_read(self, name: str, fault: str | None) -> None:
        """Count what reading a baseline showed, without a run."""
        if fault is None:
            self.read += 1
        else:
            self.stale[name] = (fault,)


@click.pass_context
def baseline(ctx: click.Context, /, jobs: int, limits: Limits, **asked: Any) -> int:
    """Run `parity baseline`; return its exit code."""
    plan = _Plan(**asked)
    backend = checks.backend_of(ctx, limits)
    checks.runtimes(backend, plan.runtime)
    _check_places(plan)
    files = checks.chosen_cassettes(plan.paths, plan.expr, variants=True)
    whole = _are_whole(plan, files)
    if plan.prune and not whole:
        problem = "with only some cassettes, deleted ones cannot be determined"
        raise UsageError(problem, "give --prune with whole folders of cassettes, and without -k")
    tally = _Tally()
    try:
        anew = _read_only(plan, files, tally)
        _observe_all(plan, backend, anew, checks.worker_count(jobs), tally)
    except KeyboardInterrupt:
        words = "nothing was written" if plan.check else "the baselines written so far are complete"
        say(f"interrupted: {words}", err=True)
        return 130
    return _conclude(plan, tally, [file.name for file in files] if whole else None)


def _read_only(plan: _Plan, files: Sequence[CassetteFile], tally: _Tally) -> Sequence[CassetteFile]:
    """Those to be observed anew; the others' baselines are only held against their cassettes.

    What a runtime does with a cassette that did not change is what it did before, unless the
    runtime or its driver did: a sample, another one for each seed, shows those.
    """
    if plan.most is None:
        return files
    anew = set(chosen([file.name for file in files], plan.most, plan.seed))
    for file in files:
        if file.name not in anew:
            fault = outdated(plan.out, file.name, file.path)
            tally.add_read(file.name, fault)
    return [file for file in files if file.name in anew]


def _check_places(plan: _Plan) -> None:
    if plan.most is not None and not plan.check:
        raise UsageError("--most needs --check", "add --check")
    if not plan.check:
        writable_folder(plan.out, "--out")
        return
    if plan.prune:
        raise UsageError("--check writes nothing, --prune removes files", "give one of them")
    if not plan.out.is_dir():
        raise UsageError(f"no folder {plan.out}", f"create it: {plan.command}")


def _are_whole(plan: _Plan, files: Sequence[CassetteFile]) -> bool:
    """Every cassette below its root was asked for: one that is not among them is gone."""
    if plan.expr is not None:
        return False
    asked = {path.absolute() for path in plan.paths}
    return not plan.paths or (
        all(path.is_dir() for path in plan.paths) and all(file.root in asked for file in files)
    )


def _observe_all(
    plan: _Plan, backend: Backend, files: Sequence[CassetteFile], jobs: int, tally: _Tally
) -> None:
    tasks = tasks_of(
        BaselineTask,
        files,
        backend,
        trust=plan.trust,
        runtime=plan.runtime,
        out=plan.out,
        check=plan.check,
    )
    events = run_cases(
        baseline_one,
        tasks,
        died=lambda task, died: Baselined(name=task.name, doubt=died.why),
        jobs=jobs,
        backend=backend,
        runtimes=[plan.runtime],
    )
    with CaseProgress(sys.stderr) as progress:
        follow_whole(events, on_finished(tally.add), progress)


def _conclude(plan: _Plan, tally: _Tally, names: Sequence[str] | None) -> int:
    """Print the result; `names` are all cassettes there are, if that is known."""
    for message in sorted(tally.problems):
        say(f"not loaded: {message}", err=True)
    for message in sorted(tally.doubts):
        say(f"not observed: {message}", err=True)
    gone = _gone(plan, names)
    if plan.check:
        red = _report_stale(plan, tally, gone)
    else:
        red = False
        _report_written(plan, tally, gone)
    return 2 if tally.problems else 1 if red else 3 if tally.doubts else 0


def _gone(plan: _Plan, names: Sequence[str] | None) -> dict[str, Path]:
    return {} if names is None else dict(superfluous(plan.out, names))


def _report_written(plan: _Plan, tally: _Tally, gone: dict[str, Path]) -> None:
    for name, file in gone.items():
        if plan.prune:
            file.unlink()
            say(printable(f"removed: {name}"))
    if gone and not plan.prune:
        say(f"{counted(len(gone), 'baseline')} of deleted cassettes; remove with --prune")
    say(f"written: {counted(len(tally.kept), 'baseline')} of {plan.runtime} in {plan.out}")


def _report_stale(plan: _Plan, tally: _Tally, gone: dict[str, Path]) -> bool:
    for name in sorted(tally.stale):
        first, *more = tally.stale[name]
        say(printable(f"stale: {name}: {first}"))
        for line in more:
            say(f"  {line}")
    for name in gone:
        say(printable(f"superfluous: {name}: its cassette was deleted"))
    for remark in sorted(tally.remarks)[:_REMARKED]:
        say(f"remark: {remark}")
    if len(tally.remarks) > _REMARKED:
        say(f"… and {len(tally.remarks) - _REMARKED} more remarks")
    if not tally.stale and not gone:
        read = (
            f"; {tally.read} more match the version of their cassettes"
            if plan.most is not None
            else ""
        )
        say(f"fresh: {counted(len(tally.kept), 'baseline')} of {plan.runtime} in {plan.out}{read}")
        return False
    say(f"refresh with: {plan.command}{' --prune' if gone else ''}")
    return True
