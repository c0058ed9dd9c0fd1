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

from harness.commands import checks, options
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
from harness.parity.waivers import Waivers, load_waivers
from harness.progress import in_words
from harness.scenarios.between import left_out
from harness.scenarios.block import BlockDone, BlockTask, run_block
from harness.scenarios.found import FOUND, KnownFinding, read_found
from harness.scenarios.generation import GenerationPlan
from harness.scenarios.generation_journal import JOURNALS, GenerationJournal, last_seed
from harness.scenarios.profiles import PROFILES
from harness.whole_file import write_asked_for
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
    examples: int | None
    time_s: float | None
    seed: int | None
    control: str
    candidate: str
    jobs: int
    resume: bool
    fault: str | None
    found: Path | None
    shrink_time: float
    json_file: Path | None
    waivers_file: Path | None
    executor: str | None


def _list_profiles(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    width = max(map(len, PROFILES))
    for profile in PROFILES.values():
        say(f"{profile.name:<{width}}  {profile.about}")
    ctx.exit()


@click.command()
@click.option("--search", "way", flag_value="search", help="Draw as Hypothesis searches (usual).")
@click.option(
    "--sample", "way", flag_value="sample", help="Draw independently: only this gives a bound."
)
@click.option("--profile", default="everything", show_default=True, help="What it is mostly about.")
@click.option(
    "--list-profiles",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_profiles,
    help="Show the profiles and exit.",
)
@click.option(
    "--examples", type=int, metavar="N", help=f"How many scenarios.  [default: {_EXAMPLES}]"
)
@click.option(
    "--time",
    "time_s",
    type=options.duration,
    metavar="TIME",
    help="Go on for so long instead: 90s, 10m, 1h30m.",
)
@click.option("--seed", type=int, help="Draw the same again.  [default: a fresh one, shown]")
@click.option("--control", default="legacy", show_default=True, help="The runtime that is right.")
@click.option("--candidate", default="adk", show_default=True, help="The runtime that is judged.")
@options.jobs
@options.limits
@click.option("--resume", is_flag=True, help="Go on with a run that was stopped.")
@click.option("--fault", metavar="NAME", help="Put this seeded fault in: it should be found.")
@click.option(
    "--found",
    type=options.PLACE,
    metavar="DIR",
    help="Where findings are kept.  [default: .parity/found]",
)
@click.option(
    "--shrink-time",
    type=options.duration_or_none,
    default="60s",
    metavar="TIME",
    show_default=True,
    help="How long one finding may be shrunk; 0 for not at all.",
)
@click.option("--json", "json_file", type=options.FILE, help="Write the summary as JSON.")
@options.waivers
@click.option(
    "--executor",
    metavar="ADDRESS",
    help="Let the workers of a Dask scheduler do it: tls://HOST:PORT. Needs the extra `dask`.",
)
@click.pass_context
def generate(ctx: click.Context, /, jobs: int, limits: Limits, **given: Any) -> int:
    """Draw scenarios and keep those on which two runtimes differ.

    Scenarios come in blocks of 25; which they are follows from way, profile, seed and number of
    examples, however many workers there are. What is found is written to .parity/found at once,
    run again by itself, and made small. Findings that are there already are counted, not kept anew.

    \b
    parity generate
    parity generate --profile aborts --time 10m -n 0
    parity generate --sample --examples 2000 --seed 7
    parity generate --time 1h --resume
    parity generate --control upstream --candidate legacy --time 10m

    --search follows what looks interesting and claims nothing of how often runtimes differ;
    --sample draws every scenario independently and, finding nothing, states an upper bound.

    A run that was stopped or killed goes on with the same command and --resume; without --seed it
    is the last such run that goes on. With --time, no block is begun when time is up, and those
    begun are finished; findings are run again and shrunk after that.

    Exit codes: 0 nothing found; 1 findings, those known before included; 2 wrong usage; 3 only
    undecided cases; 130 interrupted (what was found is kept).
    """  # noqa: D301 - click's mark for lines that stay as they are
    asked = _Asked(jobs=checks.worker_count(jobs), **given)
    backend = checks.backend_of(ctx, limits)
    _check(asked, backend)
    if isinstance(ctx.obj, GenerateSeams):
        return _generate(asked, ctx.obj, asked.jobs)
    return _generate(asked, *_seams(asked, backend))


def _check(asked: _Asked, backend: Backend) -> None:
    if asked.examples is not None and asked.time_s is not None:
        raise UsageError("--examples and --time are two ways to end", "give one of them")
    if asked.examples is not None and asked.examples < 1:
        raise UsageError(f"--examples {asked.examples} draws nothing", "give 1 or more")
    if asked.seed is not None and asked.seed < 0:
        raise UsageError(f"--seed {asked.seed} is below 0", "give a whole number from 0 on")
    if asked.profile not in PROFILES:
        problem = f"unknown profile {asked.profile!r}"
        raise UsageError(problem, f"known: {', '.join(PROFILES)}")
    checks.runtimes(backend, asked.control, asked.candidate)
    checks.fault(asked.fault, asked.control, asked.candidate)
    checks.writable_file(asked.json_file, "--json")


def _generate(asked: _Asked, seams: GenerateSeams, jobs: int) -> int:
    day = datetime.now(UTC).date()
    waivers_file = asked.waivers_file or default_waivers()
    waivers = load_waivers(waivers_file, as_of=day)
    plan = _plan(asked, waivers)
    # What is here now runs, whatever is here when it ends.
    sides = (plan.control, plan.candidate)
    measured = {} if asked.json_file is None else evidence_facts((), waivers_file, day, sides)
    folder = asked.found or FOUND
    checks.writable_folder(folder, "--found")
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
        problem = f"there is no such run in {JOURNALS} to resume"
        raise UsageError(problem, "give the options it was begun with, or leave --resume out")
    return replace(plan, seed=secrets.randbelow(_SEEDS) if seed is None else seed)


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
    what = f"{plan.way} of {plan.profile}, seed {plan.seed}"
    until = in_words(asked.time_s) if asked.time_s is not None else f"{plan.examples} examples"
    after = f", going on after {blocks} blocks" if resumed else ""
    say(f"{what}: {plan.control} and {plan.candidate}, {until}{after}", err=True)
    lacking = left_out(plan.profile, plan.control, plan.candidate)
    if lacking:
        listed = "; ".join(f"{side} has no {', '.join(names)}" for side, names in lacking.items())
        say(f"not drawn: {listed}", err=True)
