"""`parity generate`: drawn scenarios through two runtimes."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from harness.commands import checks
from harness.config import default_waivers, versions
from harness.errors import UsageError
from harness.experiment.backend import Backend
from harness.experiment.dask_workers import dask_workers
from harness.experiment.limits import Limits
from harness.experiment.pool import Workers, process_workers
from harness.gate.facts import evidence_facts
from harness.generating.campaign import Campaign, CampaignSetup
from harness.generating.report import (
    GenerationProgress,
    generation_exit,
    generation_json,
    show_generation,
)
from harness.generating.toward import SCENARIOS, Weights, weights_toward
from harness.generating.writing import write_scenarios
from harness.parity.waivers import Waivers, load_waivers
from harness.progress import in_words
from harness.scenarios.between import left_out, profile_between
from harness.scenarios.block import BlockDone, BlockTask, run_block
from harness.scenarios.found import FOUND, KnownFinding, read_found
from harness.scenarios.generation import GenerationPlan
from harness.scenarios.generation_journal import JOURNALS, GenerationJournal, last_seed
from harness.scenarios.profiles import PROFILES
from harness.whole_file import writable_file, writable_folder, write_asked_for
from harness.wording import counted
from harness.wrapping import say
from services.clock import SystemClock

__all__ = ["GenerateSeams", "generate"]

_EXAMPLES: Final = 500
_SEEDS: Final = 2**32
_LOADED: Final = tuple(f"harness.scenarios.{name}" for name in ("block", "again", "smaller"))
"""What workers are to have imported: Hypothesis takes a while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateSeams:
    """What tests put in the place of worker processes and of the machine's clock."""

    workers: Workers
    now: Callable[[], float]
    run: Callable[[BlockTask], BlockDone]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The command line, as it was given."""

    way: str | None
    profile: str
    toward: str | None
    examples: int | None
    time_s: float | None
    seed: int | None
    control: str
    candidate: str
    jobs: int
    resume: bool
    fault: str | None
    write: Path | None
    found: Path | None
    shrink_time: float
    json_file: Path | None
    waivers_file: Path | None
    executor: str | None


@click.pass_context
def generate(ctx: click.Context, /, jobs: int, limits: Limits, **given: Any) -> int:
    """Run `parity generate`; return its exit code."""
    asked = _Asked(jobs=checks.worker_count(jobs), **given)
    backend = checks.backend_of(ctx, limits)
    _check(asked, backend)
    given_seams = isinstance(ctx.obj, GenerateSeams)
    seams = (ctx.obj, asked.jobs) if given_seams else _seams(asked, backend)
    if asked.write is not None:
        return _write(asked, asked.write, *seams)
    return _generate(asked, *seams)


def _check(asked: _Asked, backend: Backend) -> None:
    if asked.examples is not None and asked.time_s is not None:
        raise UsageError("--examples and --time exclude each other", "give one of them")
    if asked.examples is not None and asked.examples < 1:
        raise UsageError(f"--examples {asked.examples} draws nothing", "give 1 or more")
    if asked.seed is not None and asked.seed < 0:
        raise UsageError(f"--seed {asked.seed} is below 0", "give a whole number from 0 on")
    if asked.profile not in PROFILES:
        problem = f"unknown profile {asked.profile!r}"
        raise UsageError(problem, f"known: {', '.join(PROFILES)}")
    checks.runtimes(backend, asked.control, asked.candidate)
    checks.fault(asked.fault, asked.control, asked.candidate)
    writable_file(asked.json_file, "--json")


def _write(asked: _Asked, folder: Path, seams: GenerateSeams, jobs: int) -> int:
    """Write the scenarios as cassettes."""
    if asked.time_s is not None or asked.resume:
        raise UsageError("--write draws a number of scenarios", "give --examples N")
    writable_folder(folder, "--write")
    waivers = load_waivers(asked.waivers_file or default_waivers(), as_of=datetime.now(UTC).date())
    plan = _plan(asked, waivers)
    _say_begin(asked, plan, resumed=False, blocks=0)
    count = write_scenarios(plan, folder, seams.workers, jobs, sys.stderr)
    say(
        f"{counted(count, 'scenario')} written to {folder}: `parity run {folder} --trust` runs them"
    )
    return 0


def _generate(asked: _Asked, seams: GenerateSeams, jobs: int) -> int:
    day = datetime.now(UTC).date()
    waivers_file = asked.waivers_file or default_waivers()
    waivers = load_waivers(waivers_file, as_of=day)
    plan = _plan(asked, waivers)
    # What is here now runs, whatever is here when it ends.
    sides = (plan.control, plan.candidate)
    measured = {} if asked.json_file is None else evidence_facts((), waivers_file, day, sides)
    folder = asked.found or FOUND
    writable_folder(folder, "--found")
    setup = CampaignSetup(
        workers=seams.workers,
        jobs=jobs,
        folder=folder,
        now=seams.now,
        run=seams.run,
        time_s=asked.time_s,
        shrink_s=asked.shrink_time,
    )
    repeat = _command(asked, plan)
    interrupted = False
    with GenerationJournal(JOURNALS, plan, versions(sides), resume=asked.resume) as journal:
        _say_begin(asked, plan, journal.resumed, len(journal.generation.blocks))
        campaign = Campaign(plan, setup, journal, _known(folder, plan, journal.resumed))
        try:
            with GenerationProgress(campaign, sys.stderr) as progress:
                campaign.run(progress)
        except KeyboardInterrupt:
            interrupted = True
    if asked.json_file is not None:
        text = generation_json(campaign, repeat=repeat, interrupted=interrupted, measured=measured)
        write_asked_for(asked.json_file, text, "--json")
    show_generation(campaign, sys.stdout, repeat=repeat, interrupted=interrupted)
    return int(generation_exit(campaign, interrupted=interrupted))


def _plan(asked: _Asked, waivers: Waivers) -> GenerationPlan:
    plan = GenerationPlan(
        way="sample" if asked.way == "sample" else "search",
        profile=asked.profile,
        toward=asked.toward,
        weights=_weights(asked),
        seed=asked.seed or 0,
        control=asked.control,
        candidate=asked.candidate,
        waivers=waivers,
        fault=asked.fault,
        examples=None if asked.time_s is not None else asked.examples or _EXAMPLES,
    )
    if asked.seed is not None:
        return plan
    seed = last_seed(JOURNALS, plan) if asked.resume else None
    if asked.resume and seed is None:
        problem = f"{JOURNALS} has no such run to resume"
        raise UsageError(problem, "give the options of that run, or omit --resume")
    return replace(plan, seed=secrets.randbelow(_SEEDS) if seed is None else seed)


def _weights(asked: _Asked) -> Weights | None:
    """The weights that lead to the part that is asked for; `None`: the profile's own."""
    if asked.toward is None:
        return None
    say(f"running {SCENARIOS} scenarios to find what leads to {asked.toward}", err=True)
    profile = profile_between(asked.profile, asked.control, asked.candidate)
    return weights_toward(asked.toward, profile)


def _seams(asked: _Asked, backend: Backend) -> tuple[GenerateSeams, int]:
    """Where blocks are run, and how many at a time: on a cluster, all that it can take."""
    clock, jobs = SystemClock(), asked.jobs
    if asked.executor is not None:
        workers, count = dask_workers(asked.executor)
        jobs = max(jobs, count)
    else:
        workers = process_workers(backend, (asked.control, asked.candidate), _LOADED)
    seams = GenerateSeams(workers=workers, now=lambda: clock.now_ms() / 1000, run=run_block)
    return seams, jobs


def _known(folder: Path, plan: GenerationPlan, resumed: bool) -> Mapping[str, KnownFinding]:
    """What was found before between the same sides; of a run that goes on, not its own."""
    return {
        known.fingerprint: known
        for known in read_found(folder)
        if (known.control, known.candidate, known.fault)
        == (plan.control, plan.candidate, plan.fault)
        and not (resumed and known.plan == plan.digest)
    }


def _command(asked: _Asked, plan: GenerationPlan) -> Sequence[str]:
    """The command line that draws the same examples."""
    words = plan.command()
    if plan.examples is None:
        words += ["--time", in_words(asked.time_s or 0)]
    if asked.found is not None:
        words += ["--found", str(asked.found)]
    if asked.waivers_file is not None:
        words += ["--waivers", str(asked.waivers_file)]
    return words


def _say_begin(asked: _Asked, plan: GenerationPlan, resumed: bool, blocks: int) -> None:
    toward = f" toward {plan.toward}" if plan.toward is not None else ""
    what = f"{plan.way} of {plan.profile}{toward}, seed {plan.seed}"
    until = in_words(asked.time_s) if asked.time_s is not None else f"{plan.examples} examples"
    after = f", continuing after {blocks} blocks" if resumed else ""
    say(f"{what}: {plan.control} and {plan.candidate}, {until}{after}", err=True)
    lacking = left_out(plan.profile, plan.control, plan.candidate)
    if lacking:
        listed = "; ".join(f"{side} has no {', '.join(names)}" for side, names in lacking.items())
        say(f"not drawn: {listed}", err=True)
