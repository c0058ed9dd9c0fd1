"""`parity shrink`: the smallest cassette that still shows what a failing one shows."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from harness.canonical import printable
from harness.cassette.document import parse_document, read_text
from harness.cassette.find import find_cassettes
from harness.cassette.format import Cassette
from harness.cassette.trust import starts_processes
from harness.cassette.variants import as_variant, variant_of
from harness.commands import checks
from harness.config import code_digest, to_run
from harness.errors import HarnessError, UsageError
from harness.experiment.backend import real_backend
from harness.experiment.limits import Limits
from harness.experiment.pool import on_demand, process_workers
from harness.explain import explain
from harness.http.case import load_case
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers
from harness.progress import in_words
from harness.scenarios.found import FOUND, FoundCassette, KnownFinding, known_finding, write_found
from harness.scenarios.judging import Judging
from harness.scenarios.shrinking import Progress, Shrunk, size_of, tidied
from harness.scenarios.shrinking import shrink as made_smaller
from harness.scenarios.shrinking.journal import SHRINKS, ShrinkHeader, ShrinkJournal
from harness.scenarios.shrinking.show import shrink_progress, shrunk_lines
from harness.scenarios.shrinking.sizes import content_digest
from harness.scenarios.trial import Trial
from harness.whole_file import writable_folder
from harness.wrapping import say
from services.wire import JsonObject

__all__ = ["ShrinkSeams", "load_shrinkable", "shrink"]

_BESIDE: Final = "<CASSETTES>"


class NothingToShrink(HarnessError):
    """There is no finding to keep, or none that can be decided."""

    exit_code = 3


def _head_of(file: Path) -> KnownFinding | None:
    """What a kept finding says of itself; `None` where it is none, or cannot be read."""
    try:
        return known_finding(file) if file.is_file() else None
    except OSError:
        return None  # loading it will say why


def load_shrinkable(file: Path, *, trust: bool, out: Path) -> tuple[Cassette, JsonObject, bool]:
    """A cassette, its document as its file has it (macros stay short), and whether it is trusted.

    Args:
        file: One file.
        trust: Whether it may start processes, wherever it comes from.
        out: The root that the shrunk cassette's name will count from.

    Raises:
        CassetteError: it cannot be loaded.
        UsageError: it cannot be shrunk, or may not be run.
    """
    if file.is_dir():
        raise UsageError(f"{file} is a folder", "name one cassette")
    ((named, found, trusted),) = to_run(find_cassettes([file]), trust=trust)
    loaded = load_case(found.path, found.root)
    variant = variant_of(found.name)
    if not isinstance(loaded, Cassette):
        problem = f"{file} is recorded HTTP traffic, which cannot be shrunk"
        raise UsageError(problem, "name a cassette; see `parity list`")
    reason = starts_processes(loaded)
    if reason is not None and not trusted:
        raise UsageError(f"not run: {reason}", "give --trust if you trust the cassette")
    if _BESIDE in repr(loaded.document) and out.resolve() != named.root.resolve():
        problem = f"{loaded.name} names files beside it by {_BESIDE}"
        raise UsageError(problem, f"write it to {named.root}/FAMILY/NAME.yaml with --out")
    text = read_text(found.path)
    document: JsonObject = parse_document(text, strict_json=found.path.suffix == ".json")
    if variant is not None:  # the shrunk document holds the variant's own settings
        loaded = replace(as_variant(loaded, variant), name=loaded.name)
        document["session"] = loaded.document["session"]
    return loaded, document, trusted


@contextmanager
def _judging(
    loaded: Cassette, how: Judging, limits: Limits
) -> Iterator[Callable[[JsonObject], Trial | None]]:
    """Runs what is made of a cassette in both runtimes, under its root; a `Judge`.

    Each try runs in a worker process. One that goes over `limits` comes to nothing that is known.
    """
    sides = (how.control, how.candidate)
    workers = process_workers(real_backend(limits), sides, forked=True)
    judge_one = partial(how.judge_under, loaded.root)
    with on_demand(judge_one, workers, lambda each, died: Trial.undecided(each, died.why)) as ask:
        yield ask


def _check_finding(result: CaseResult, control: str, candidate: str) -> None:
    """Make sure that there is something to keep.

    Raises:
        NothingToShrink: the runtimes agree, or nothing can be said.
    """
    sides = f"{control} and {candidate}"
    if result.verdict is CaseVerdict.PARITY:
        raise NothingToShrink(
            f"{result.cassette}: {sides} agree, so there is nothing to shrink; "
            "name sides that differ with --control and --candidate"
        )
    if result.verdict is CaseVerdict.INCONCLUSIVE:
        reason = "; ".join(explain(result, control, candidate))
        raise NothingToShrink(f"{result.cassette}: no verdict on {sides}: {reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrinkSeams:
    """What a test may exchange: `ctx.obj` of the command."""

    clock: Callable[[], float] = time.perf_counter
    """Real seconds; only differences matter."""
    interrupts: Callable[[int], bool] = lambda tries: False
    """Whether Ctrl-C is pressed after so many tries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What was asked for."""

    cassette: Path
    control: str
    candidate: str
    fault: str | None
    seconds: float
    out: Path | None
    found: Path | None
    trust: bool
    resume: bool
    waivers_file: Path | None

    @property
    def root(self) -> Path:
        """The folder from which the written cassette's name counts."""
        place = (self.found or FOUND) if self.out is None else self.out.absolute().parents[1]
        return place.absolute()

    @property
    def more(self) -> list[str]:
        """The other words of the command line that resumes this."""
        words = [] if self.fault is None else ["--fault", self.fault]
        words += [] if self.found is None else ["--found", str(self.found)]
        words += [] if self.waivers_file is None else ["--waivers", str(self.waivers_file)]
        return [*words, *(["--trust"] if self.trust else [])]


@click.pass_context
def shrink(
    ctx: click.Context,
    /,
    cassette: Path,
    control: str | None,
    candidate: str | None,
    fault: str | None,
    **asked: Any,
) -> int:
    """Run `parity shrink`; return its exit code."""
    known = _head_of(cassette)
    plan = _Plan(
        cassette=cassette,
        control=control or (known.control if known is not None else "legacy"),
        candidate=candidate or (known.candidate if known is not None else "adk"),
        fault=fault or (known.fault if known is not None else None),
        **asked,
    )
    _check(plan)
    checks.fault(plan.fault, plan.control, plan.candidate)
    checks.runtimes(checks.backend_of(ctx), plan.control, plan.candidate)
    return _shrink(plan, ctx.obj if isinstance(ctx.obj, ShrinkSeams) else ShrinkSeams())


def _check(plan: _Plan) -> None:
    if plan.out is not None and plan.found is not None:
        raise UsageError("--out and --found exclude each other", "give one of them")
    if plan.out is None:
        writable_folder(plan.found, "--found")
        return
    if plan.out.suffix != ".yaml":
        raise UsageError(f"{plan.out} is no name for a cassette", "name it FAMILY/NAME.yaml")
    if plan.out.exists():
        raise UsageError(f"{plan.out} already exists", "choose another file with --out")
    writable_folder(plan.out.parent, "--out")


def _shrink(plan: _Plan, seams: ShrinkSeams) -> int:
    loaded, document, trusted = load_shrinkable(plan.cassette, trust=plan.trust, out=plan.root)
    waivers = checks.current_waivers(plan.waivers_file)
    how = Judging(
        control=plan.control,
        candidate=plan.candidate,
        waivers=waivers,
        fault=plan.fault,
        trusted=trusted,
    )
    with _judging(loaded, how, checks.usual_limits()) as judge:
        trial = judge(document)
        assert trial is not None, "it was loaded"
        _check_finding(trial.result, plan.control, plan.candidate)
        say(printable(f"{loaded.name}: {size_of(trial.document)}"), err=True)
        with _journal(plan, document, trial, waivers) as journal:
            if journal.remark is not None:
                say(f"remark: {journal.remark}", err=True)
            made = _made_small(plan, seams, journal, judge, trial)
            smaller = content_digest(made.best.document) != content_digest(trial.document)
            file = _written(plan, loaded, made) if smaller or plan.out is not None else None
            if made.shrunk is not None and made.shrunk.finished:
                journal.ended()
    _report(plan, trial, made, file)
    return 130 if made.shrunk is None else 0


def _journal(plan: _Plan, document: JsonObject, trial: Trial, waivers: Waivers) -> ShrinkJournal:
    header = ShrinkHeader(
        cassette=content_digest(document),
        fingerprint=str(trial.fingerprint),
        control=plan.control,
        candidate=plan.candidate,
        fault=plan.fault,
        waivers=waivers.digest,
        code=code_digest(),
    )
    return ShrinkJournal(SHRINKS, header, resume=plan.resume)


@dataclass(slots=True)
class _Made:
    """The result: `shrunk` is missing where it was interrupted."""

    best: Trial
    shrunk: Shrunk | None = None


def _made_small(
    plan: _Plan,
    seams: ShrinkSeams,
    journal: ShrinkJournal,
    judge: Callable[[JsonObject], Trial | None],
    trial: Trial,
) -> _Made:
    made = _Made(best=trial)
    end = seams.clock() + plan.seconds
    with shrink_progress(sys.stderr) as show:

        def take(progress: Progress) -> None:
            if progress.best is not made.best:
                made.best = progress.best
                journal.kept(progress.best.document)
            show(progress)
            if seams.interrupts(progress.tries):
                raise KeyboardInterrupt

        try:
            made.shrunk = made_smaller(
                trial.document if journal.best is None else journal.best,
                judge,
                fingerprint=str(trial.fingerprint),
                enough=lambda: seams.clock() >= end,
                on_progress=take,
                tried=journal,
            )
            made.best = made.shrunk.trial
        except KeyboardInterrupt:
            say("interrupted; the smallest cassette so far is written", err=True)
    return made


def _written(plan: _Plan, loaded: Cassette, made: _Made) -> Path:
    found = FoundCassette(
        document=tidied(made.best.document),
        fingerprint=str(made.best.fingerprint),
        control=plan.control,
        candidate=plan.candidate,
        fault=plan.fault,
        profile=None,
        seed=None,
        block=None,
        kind="shrunk",
        says="\n".join(explain(made.best.result, plan.control, plan.candidate)),
        source=loaded.name,
    )
    if plan.out is None:
        return write_found(plan.found or FOUND, found)
    place = plan.out.absolute()
    return write_found(place.parents[1], found, f"{place.parent.name}/{place.stem}")


def _report(plan: _Plan, trial: Trial, made: _Made, file: Path | None) -> None:
    for line in shrunk_lines(trial, made.best, made.shrunk, in_words(plan.seconds)):
        say(line)
    for line in explain(made.best.result, plan.control, plan.candidate):
        say(f"  {line}")
    sides = ["--control", plan.control, "--candidate", plan.candidate]
    if file is not None:
        say(printable(f"written: {file}"))
        trust = ["--trust"] if plan.trust else []
        say(f"replay:  {shlex.join(['parity', 'run', str(file), *sides, *trust])}")
    if plan.fault is not None:
        say(f"only with the seeded fault {plan.fault}")
    if made.shrunk is None or not made.shrunk.finished:
        again = ["parity", "shrink", str(plan.cassette), *sides, *plan.more, "--resume"]
        say(f"continue: {shlex.join(again)}")
