"""The commands that look for differences and for what the harness misses."""

from __future__ import annotations

from typing import Final

import click

from harness.command_line import options
from harness.command_line.deferred import command, deferred
from harness.scenarios.profiles import PROFILES
from harness.wrapping import say
from seeded_faults import Behaviour, Site

__all__ = ["faults", "generate", "mutants", "orders", "shrink"]


_EXAMPLES: Final = 500
_CLASSES: Final = [each.value for each in Behaviour]
_SEED: Final = 20260101
_MUTANTS: Final = 100
_MOST: Final = 24
"""All orders of four that complete side by side."""


def _list_profiles(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    width = max(map(len, PROFILES))
    for profile in PROFILES.values():
        say(f"{profile.name:<{width}}  {profile.about}")
    ctx.exit()


@command("generate:generate")
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
@options.control
@options.candidate
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
def generate() -> None:
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


@command("shrink:shrink")
@click.argument("cassette", type=deferred("harness.commands.naming:cassette_place"))
@click.option("--control", help="The runtime that is right.  [default: legacy]")
@click.option("--candidate", help="The runtime that is judged.  [default: adk]")
@click.option("--fault", metavar="NAME", help="Put this seeded fault in: it is what shows.")
@click.option(
    "--time",
    "seconds",
    type=options.duration,
    metavar="TIME",
    default="5m",
    show_default=True,
    help="How long it may take: 90s, 10m, 1h30m.",
)
@click.option(
    "--out",
    type=options.FILE,
    metavar="FILE",
    help="Where to write it, FAMILY/NAME.yaml; its folder and file name are its name.",
)
@click.option(
    "--found",
    type=options.FOLDER,
    metavar="DIR",
    help="The folder of findings to write it to instead.  [default: .parity/found]",
)
@options.trust
@click.option("--resume", is_flag=True, help="Go on with a shrinking that was ended.")
@options.waivers
def shrink() -> None:
    """Make a failing cassette as small as it can be.

    Leaves out prompts, answers, parts, tools, settings and files, and simplifies the rest,
    as long as the runtimes still differ in the same way and the conversation stays one that the
    model's API would take. CASSETTE is a file, its name, or that of a finding, and is not changed.
    Of a kept finding, the runtimes and the fault are those that its head names, unless others are
    given.

    \b
    parity shrink .parity/found/generated/everything_2fa3272ca154.yaml --trust
    parity shrink text/usage_each_chunk --fault usage-dropped --time 1m
    parity shrink failing.yaml --out cassettes/tools/smallest.yaml
    parity shrink failing.yaml --resume

    What was tried is kept in .parity/shrink until it ends, for --resume. Ctrl-C writes the smallest
    so far. Recorded HTTP traffic (cassettes/http) cannot be shrunk; baselines cannot be a side.

    Exit codes: 0 written, also where nothing smaller was found; 2 wrong usage, or a cassette that
    cannot be loaded; 3 nothing to keep: the runtimes agree on it, or nothing can be said; 130
    interrupted.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("orders:orders")
@options.paths
@options.control
@options.candidate
@options.select
@options.phase
@click.option(
    "--most",
    type=click.IntRange(1, 10_000),
    default=_MOST,
    metavar="N",
    show_default=True,
    help="Orders of a cassette at the most; fewer where there are fewer.",
)
@click.option(
    "--order",
    "only",
    metavar="PLACES",
    help="Try this one: places with commas between them, as a report names them.",
)
@options.jobs
@options.limits
@options.trust
@click.option("--json", "json_file", type=options.FILE, help="Write every case and order as JSON.")
@options.waivers
def orders() -> None:
    """Complete parallel work in every order, and compare.

    What runs side by side are tool calls and subagents. Model answers and ended calls are held back
    until nothing else can happen, then let go one at a time. Under each order control and candidate
    must agree. Between orders each of them must do the same, except where threads touched something
    they share in another order: that is said, and what it was. Orders with few preemptions come
    first.

    \b
    parity orders subagent
    parity orders cassettes/tools -k parallel --most 100 -n 0
    parity orders tools/parallel_reads --control upstream

    Exit codes: 0 parity; 1 divergent, or an engine that lets order show where nothing is shared; 2
    wrong usage, or a file that cannot be loaded; 3 inconclusive; 130 interrupted.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("faults:faults")
@options.paths
@click.option(
    "--class",
    "classes",
    type=click.Choice(_CLASSES),
    metavar="BEHAVIOUR",
    multiple=True,
    help=f"Only faults of this class; may be given again: {', '.join(_CLASSES)}.",
)
@click.option(
    "--fault",
    "names",
    metavar="NAME",
    multiple=True,
    help="Only the fault so called; may be given again.",
)
@click.option(
    "--site",
    "sites",
    type=click.Choice([each.value for each in Site]),
    multiple=True,
    help="Only faults of what is broken there; may be given again.",
)
@click.option("--list", "list_", is_flag=True, help="List the faults and measure nothing.")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only so many of them, of each class and site in proportion; see --seed.",
)
@click.option("--corpus-only", is_flag=True, help="No generated run for what survives the corpus.")
@click.option(
    "--time",
    "seconds",
    type=options.duration,
    default="2m",
    show_default=True,
    help="How long the generated run lasts, all survivors together.",
)
@click.option("--profile", default="everything", show_default=True, help="What is generated.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=_SEED,
    show_default=True,
    help="Of --sample and the generated run; the same by default, so that measurements compare.",
)
@options.select
@options.jobs
@options.limits
@options.trust
@click.option("--json", "json_file", type=options.FILE, help="Write the kill matrix as JSON.")
@options.waivers
@click.option(
    "--baselines",
    type=options.PLACE,
    help="What the published core was observed to do; baselines/upstream if there is one.",
)
def faults() -> None:
    """Break the runtimes on purpose, and count what is noticed.

    Each fault of the catalogue is put in and meets the cassettes at PATHS (as for `parity run`),
    those of its own class first, up to the first finding. What survives the corpus meets generated
    scenarios, one sample for all. A fault of a runtime must show between legacy and adk; one of a
    service is put into both and must show between legacy and the published core's baselines.
    Waivers and projection rules are in force as in `parity run`.

    \b
    parity faults -n 0
    parity faults --class tools --class hooks --corpus-only
    parity faults --fault usage-dropped text
    parity faults --site service --json kills.json
    parity faults --sample 60 --corpus-only --json kills.json
    parity faults --list

    Exit codes: 0 all observable faults were found; 1 some survived; 2 wrong usage, or a fault
    that can no longer be put in; 130 interrupted, with what is known so far.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("mutants:mutants")
@options.paths
@click.option(
    "--in",
    "parts",
    metavar="PART",
    multiple=True,
    help="Only mutants of runtimes, services, or of a file or folder of these; again for more.",
)
@click.option(
    "--sample",
    "size",
    type=click.IntRange(min=1),
    default=_MUTANTS,
    show_default=True,
    metavar="N",
    help="How many mutants are run; unreached and equivalent ones are drawn and not counted.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=_SEED,
    show_default=True,
    help="Which mutants are drawn follows from it and from the code.",
)
@click.option(
    "--since",
    metavar="REV",
    help="Draw places of files that were changed since this revision several times as often.",
)
@click.option(
    "--mutant", "fingerprint", metavar="FINGERPRINT", help="Show this mutant and run it alone."
)
@click.option("--list", "list_", is_flag=True, help="List the mutants and run none.")
@click.option(
    "--check",
    is_flag=True,
    help="Run the mutants that are recorded as equivalent: each must be there and not be found.",
)
@click.option("--resume", is_flag=True, help="Go on where the same sample was stopped.")
@options.select
@options.jobs
@options.limits
@options.trust
@click.option("--json", "json_file", type=options.FILE, help="Write the sample as JSON.")
@options.waivers
@click.option(
    "--baselines",
    type=options.PLACE,
    help="What the published core was observed to do; baselines/upstream if there is one.",
)
@click.option(
    "--equivalents",
    "equivalents_file",
    type=options.FILE,
    help="Mutants that no run can show; parity_tests/equivalent_mutants.toml if there is one.",
)
def mutants() -> None:
    """Draw small edits of the source, and count those found.

    A mutant is one edit of the runtimes or services: a condition negated, a statement dropped, two
    arguments swapped, a bound off by one. Mutants are drawn uniformly over all places. Each meets
    the cassettes at PATHS (as for `parity run`) that execute its place, up to the first that shows
    it. A mutant of a runtime must show between legacy and adk; one of a service, which both have,
    against the published core's baselines or between the two. No file is changed.

    The first run on a state of the code finds out what each cassette executes; that is kept in
    .parity/mutants.

    \b
    parity mutants -n 0
    parity mutants --in runtimes --sample 300 --seed 7 -n 0 --json mutants.json
    parity mutants --in services/policy cassettes/policy
    parity mutants --since main --sample 40
    parity mutants --mutant 2b5ff03c9a61
    parity mutants --check

    Exit codes: 0 all were found; 1 some survived, or --check found a wrong record; 2 wrong usage;
    130 interrupted, with what is known so far: go on with --resume.
    """  # noqa: D301 - click's mark for lines that stay as they are
