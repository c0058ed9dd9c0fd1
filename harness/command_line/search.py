"""The commands that look for differences and for what the harness misses."""

from __future__ import annotations

from typing import Final

import click

from harness.command_line import options
from harness.command_line.deferred import command, deferred
from harness.scenarios.profiles import PROFILES
from harness.wrapping import say
from seeded_faults import Behaviour, Site

__all__ = ["doctor", "faults", "generate", "mutants", "orders", "shrink"]


_EXAMPLES: Final = 500
_CLASSES: Final = [each.value for each in Behaviour]
_SEED: Final = 20260101
_MUTANTS: Final = 100
_RUNS: Final = 150
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
@click.option("--search", "way", flag_value="search", help="Search with Hypothesis.  [default]")
@click.option(
    "--sample",
    "way",
    flag_value="sample",
    help="Draw independent scenarios; only this gives a bound.",
)
@click.option(
    "--profile", default="everything", show_default=True, help="The behaviours to prefer."
)
@click.option(
    "--list-profiles",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_profiles,
    help="Show the profiles and exit.",
)
@click.option(
    "--toward",
    metavar="PART",
    help="Draw scenarios that execute more of this file or folder of the runtimes or services.",
)
@click.option(
    "--examples", type=int, metavar="N", help=f"Number of scenarios.  [default: {_EXAMPLES}]"
)
@click.option(
    "--time",
    "time_s",
    type=options.duration,
    metavar="TIME",
    help="Run for this time instead: 90s, 10m, 1h30m.",
)
@click.option(
    "--seed", type=int, help="Draw the same scenarios again.  [default: a new seed, printed]"
)
@options.control
@options.candidate
@options.jobs
@options.limits
@click.option("--resume", is_flag=True, help="Continue an interrupted run.")
@click.option("--fault", metavar="NAME", help="Insert this seeded fault; the run should find it.")
@click.option(
    "--write",
    type=options.PLACE,
    metavar="DIR",
    help="Write the scenarios to this folder as cassettes, and run none.",
)
@click.option(
    "--found",
    type=options.PLACE,
    metavar="DIR",
    help="The folder for findings.  [default: .parity/found]",
)
@click.option(
    "--shrink-time",
    type=options.duration_or_none,
    default="60s",
    metavar="TIME",
    show_default=True,
    help="Time to shrink each finding; 0 shrinks none.",
)
@click.option("--json", "json_file", type=options.FILE, help="Write the summary as JSON.")
@options.waivers
@click.option(
    "--executor",
    metavar="ADDRESS",
    help="Use the workers of this Dask scheduler: tls://HOST:PORT. Needs the extra `dask`.",
)
def generate() -> None:
    """Generate scenarios and store those that diverge.

    Scenarios come in blocks of 25. Search mode, profile, seed and number of examples determine
    them; the number of workers does not. Each finding is written to .parity/found at once, run
    again alone, and shrunk. Known findings are counted, not stored again.

    \b
    parity generate
    parity generate --profile aborts --time 10m -n 0
    parity generate --toward services/policy --time 10m -n 0
    parity generate --sample --examples 2000 --seed 7
    parity generate --time 1h --resume
    parity generate --control upstream --candidate legacy --time 10m

    --search prefers interesting scenarios and gives no rate of differences. --sample draws every
    scenario independently and, without findings, gives an upper bound.

    --toward first runs 120 scenarios to find the options of the grammar that lead to the part: for
    example to a room in which mutants survive (`parity mutants`).

    The same command with --resume continues an interrupted run; without --seed, it continues the
    last such run. With --time, no block starts after the time limit, and started blocks are
    finished; findings are run again and shrunk after that.

    Exit codes: 0 no finding; 1 findings, including known ones; 2 wrong usage; 3 only inconclusive
    cases; 130 interrupted (findings are stored).
    """


@command("shrink:shrink")
@click.argument("cassette", type=deferred("harness.commands.naming:cassette_place"))
@click.option("--control", help="The control runtime.  [default: legacy]")
@click.option("--candidate", help="The candidate runtime.  [default: adk]")
@click.option(
    "--fault", metavar="NAME", help="Insert this seeded fault, which causes the difference."
)
@click.option(
    "--time",
    "seconds",
    type=options.duration,
    metavar="TIME",
    default="5m",
    show_default=True,
    help="Time limit: 90s, 10m, 1h30m.",
)
@click.option(
    "--out",
    type=options.FILE,
    metavar="FILE",
    help="The output file, FAMILY/NAME.yaml; folder and file name become its name.",
)
@click.option(
    "--found",
    type=options.FOLDER,
    metavar="DIR",
    help="The folder of findings to write to instead.  [default: .parity/found]",
)
@options.trust
@click.option("--resume", is_flag=True, help="Continue an interrupted shrink.")
@options.waivers
def shrink() -> None:
    """Shrink a failing cassette.

    Removes prompts, responses, parts, tools, settings and files, and simplifies the rest, while the
    runtimes differ in the same way and the model's API would accept the conversation. CASSETTE is a
    file, a name, or the name of a finding, and is not changed. A finding names the runtimes and the
    fault in its header; options override them.

    \b
    parity shrink .parity/found/generated/everything_2fa3272ca154.yaml --trust
    parity shrink text/usage_each_chunk --fault usage-dropped --time 1m
    parity shrink failing.yaml --out cassettes/tools/smallest.yaml
    parity shrink failing.yaml --resume

    The progress is stored in .parity/shrink until the end, for --resume. Ctrl-C writes the smallest
    cassette so far. Recorded HTTP traffic (cassettes/http) cannot be shrunk; baselines cannot be a
    side.

    Exit codes: 0 written, even if nothing smaller was found; 2 wrong usage, or a cassette that
    cannot be loaded; 3 nothing to shrink: the runtimes agree, or the case is inconclusive; 130
    interrupted.
    """


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
    help="Maximum number of orders for each cassette.",
)
@click.option(
    "--order",
    "only",
    metavar="PLACES",
    help="Try only this order: places joined by commas, as in a report.",
)
@options.jobs
@options.limits
@options.trust
@click.option("--json", "json_file", type=options.FILE, help="Write every case and order as JSON.")
@options.waivers
def orders() -> None:
    """Complete parallel tool calls in every order, and compare.

    Tool calls and subagents run in parallel. The command holds model responses and finished calls
    back until nothing else can run, then releases one at a time. In each order, control and
    candidate must agree. Between orders, each of them must do the same, unless threads accessed
    shared state in another order; the report names that state. Orders with few preemptions come
    first.

    \b
    parity orders subagent
    parity orders cassettes/tools -k parallel --most 100 -n 0
    parity orders tools/parallel_reads --control upstream

    Exit codes: 0 parity; 1 divergent, or an engine depends on the order without shared state; 2
    wrong usage, or a file that cannot be loaded; 3 inconclusive; 130 interrupted.
    """


@command("faults:faults")
@options.paths
@click.option(
    "--class",
    "classes",
    type=click.Choice(_CLASSES),
    metavar="BEHAVIOUR",
    multiple=True,
    help=f"Only faults of this class; repeatable: {', '.join(_CLASSES)}.",
)
@click.option(
    "--fault",
    "names",
    metavar="NAME",
    multiple=True,
    help="Only this fault; repeatable.",
)
@click.option(
    "--site",
    "sites",
    type=click.Choice([each.value for each in Site]),
    multiple=True,
    help="Only faults in this part; repeatable.",
)
@click.option("--list", "list_", is_flag=True, help="List the faults and measure nothing.")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only a sample of N faults, in proportion to classes and sites; see --seed.",
)
@click.option(
    "--corpus-only", is_flag=True, help="Generate no scenarios for faults that survive the corpus."
)
@click.option(
    "--time",
    "seconds",
    type=options.duration,
    default="2m",
    show_default=True,
    help="Time for the generated run of all survivors together.",
)
@click.option(
    "--profile", default="everything", show_default=True, help="The profile of the generated run."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=_SEED,
    show_default=True,
    help="Seed of --sample and of the generated run; fixed, so that measurements are comparable.",
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
    help="Baselines of the published core.  [default: baselines/upstream, if it exists]",
)
def faults() -> None:
    """Insert seeded faults, and count those that are found.

    For each fault of the catalogue, the cassettes at PATHS (as for `parity run`) run until the
    first finding, those of its class first. One sample of generated scenarios runs for all faults
    that survive the corpus. A fault of a runtime must show between legacy and adk. A fault of a
    service is inserted into both and must show between legacy and the baselines of the published
    core. Waivers and projection rules apply as in `parity run`.

    \b
    parity faults -n 0
    parity faults --class tools --class hooks --corpus-only
    parity faults --fault usage-dropped text
    parity faults --site service --json kills.json
    parity faults --sample 60 --corpus-only --json kills.json
    parity faults --list

    Exit codes: 0 all observable faults were found; 1 some survived; 2 wrong usage, or a fault that
    cannot be inserted; 130 interrupted, with partial results.
    """


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
    "--most-runs",
    type=click.IntRange(min=1),
    default=_RUNS,
    show_default=True,
    metavar="N",
    help="Runs of one mutant at most; one that they do not find counts as survived.",
)
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run with so many of the cassettes only, drawn by the seed; the share is then lower.",
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
@click.option(
    "--after",
    type=options.FILE,
    metavar="FILE",
    help="Run the survivors of the sample in this JSON file with other cassettes.",
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

    The first run on a state of the code finds out what each cassette executes, and keeps the result
    in the user's cache folder.

    --after FILE draws nothing. The survivors of the sample in FILE (--json) meet the cassettes at
    PATHS, for example generated ones (`parity generate --write DIR`), and all its mutants are
    counted again. Without PATHS, it also counts what has been recorded as equivalent since then.

    \b
    parity mutants -n 0
    parity mutants --in runtimes --sample 300 --seed 7 -n 0 --json mutants.json
    parity mutants --in services/policy cassettes/policy
    parity mutants --since main --sample 40
    parity mutants --after mutants.json drawn --baselines drawn-baselines --trust
    parity mutants --mutant 2b5ff03c9a61
    parity mutants --check

    Exit codes: 0 all were found; 1 some survived, or --check found a wrong record; 2 wrong usage;
    130 interrupted, with what is known so far: continue with --resume.
    """


@command("doctor:doctor")
@click.argument("runtimes", nargs=-1, metavar="[RUNTIME]...")
@options.jobs
@options.limits
@click.option("--json", "json_file", type=options.FILE, help="Write the tables as JSON.")
def doctor() -> None:
    """Show what runtimes can do and what they lack.

    It says what a comparison cannot find because of that.

    Plays a suite of short sessions in each RUNTIME: answers, tool calls, failures of the model, an
    abort and others. Without RUNTIME, in the two that the project compares. A check `works`; or the
    runtime `lacks` something, so that a comparison cannot find some differences; or it is `broken`,
    so that a comparison decides nothing.

    \b
    parity doctor
    parity doctor legacy adk upstream
    parity doctor mine --json doctor.json

    Exit codes: 0 nothing is broken; 1 something is broken; 2 wrong usage, or a runtime cannot be
    opened (the others are examined); 130 interrupted.
    """
