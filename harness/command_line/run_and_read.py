"""The commands that run cassettes and show what came of it."""

from __future__ import annotations

from pathlib import Path

import click

from harness.command_line import options
from harness.command_line.deferred import command
from harness.command_line.listeners import report_options

__all__ = ["bisect", "diff", "history", "merge", "report", "run", "show_report", "trace"]


@command("run:run")
@options.paths
@options.control
@options.candidate
@options.adk_plugin_option(
    "Diagnostic: the side that is adk runs with this ADK plugin; no gate counts it."
)
@options.select
@options.phase
@click.option(
    "--last-failed",
    is_flag=True,
    help="Only what was not parity in the last run here, or in the --journal, which is then read.",
)
@click.option(
    "--shard",
    type=options.shard,
    metavar="I/N",
    help="Only this part of the cassettes, as 2/3; `parity merge` puts the journals together.",
)
@click.option("-x", "first_only", is_flag=True, help="Stop after the first divergent case.")
@click.option(
    "--maxfail",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop after N divergent cases; --resume runs the rest.",
)
@options.jobs
@options.limits
@options.trust
@click.option(
    "--repeat",
    type=click.IntRange(1, 20),
    default=1,
    show_default=True,
    help="Runs of each side; from 2 on, what differs from run to run is reported apart.",
)
@click.option(
    "--journal", type=options.FILE, help="Write each result as it comes, one JSON line each."
)
@click.option("--resume", is_flag=True, help="Go on with the journal's run: skip what is in it.")
@click.option(
    "--keep/--no-keep",
    default=True,
    envvar="PARITY_KEEP",
    show_default=True,
    help="Leave a journal in .parity/journals, for --last-failed and `parity history`.",
)
@report_options
@options.waivers
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Judge the waivers by this day instead of today (UTC).",
)
def run() -> None:
    """Replay cassettes through two runtimes and compare.

    PATHS are cassettes and folders of them, by path or by name (`tools/parallel_reads`, `tools`).
    Without any, ./cassettes or else the bundled corpus is run, and the recorded HTTP traffic in
    its folder `http`, which a named folder leaves out: all that the gates ask for.
    A side can be `baseline:DIR`: what `parity baseline` saw a runtime do. The verdict is `parity`,
    `divergent` or `inconclusive`; the first difference is explained, with the command that shows
    it again. A cassette of phase B is two cases: as it is, and as NAME@sessions, where child
    agents run through sessions.

    \b
    parity run
    parity run tools -n 0 --html report
    parity run text/text cassettes/tools/parallel_reads.yaml
    parity run -k 'abort or errors' --json report.json
    parity run tools -x
    parity run --last-failed
    parity run --journal run.jsonl --resume
    parity run --shard 1/3 --journal shard-1.jsonl
    parity run --control baseline:baselines/legacy

    Exit codes: 0 parity; 1 divergent; 2 wrong usage, or a file that cannot be loaded (the others
    are run nevertheless), or output that cannot be written; 3 inconclusive; 130 interrupted; 141
    the reader of the output has left. Of several, 2 wins over 1 over 3.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("report:report")
@click.option(
    "--journal",
    "place",
    type=options.PLACE,
    help="A journal, or a folder with one; by default the last run that left one here.",
)
@click.option(
    "--since",
    type=options.FILE,
    metavar="JOURNAL",
    help="Report what changed since this run; by default since the last green one kept here.",
)
@report_options
@click.option(
    "--kills",
    "kills_file",
    type=options.FILE,
    metavar="FILE",
    help="The kill matrix to show beside it, as `parity faults --json` wrote it.",
)
@options.waivers
def report() -> None:
    """Show the report of a run from its journal; runs nothing.

    Also of a run that was killed, as far as it got. Waivers are applied as they are now, on the day
    by which the run judged them.

    \b
    parity report
    parity report --journal parity-report --html parity-report
    parity report --journal monday.jsonl --since friday.jsonl

    Exit codes: those of `parity run`: 0 parity; 1 divergent; 2 wrong usage, or the run had a file
    that could not be loaded; 3 inconclusive, as is a run that did not come to its end.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("show_report:show_report", "show-report")
@click.argument("folder", required=False, type=options.PLACE)
@click.option("--print", "only_print", is_flag=True, help="Print the page's path, and no more.")
def show_report() -> None:
    """Open a report's page in the browser and print its path.

    FOLDER is what was given to --html. Without it the last page is opened that a command wrote in
    this folder. Nothing is run, and the page needs no network.

    \b
    parity report --html parity-report
    parity show-report
    parity show-report parity-report --print

    Exit codes: 0 the page is there; 2 there is none.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("history:history")
@click.argument("cassette")
@click.option(
    "--journals",
    "places",
    multiple=True,
    type=options.PLACE,
    help="A journal, or a folder of them, instead of those kept here; can be given repeatedly.",
)
@options.waivers
def history() -> None:
    """List the verdicts of a cassette in past runs.

    The oldest run comes first, each with what had changed since the one before. CASSETTE is its
    file, its name, or a part of the name that no other has. Every `parity run` leaves its journal
    in .parity/journals; the last twenty are there. Each line has the time, the revision (with a +
    where files differed from it), the sides and the verdict by the waivers as they are now, then
    the first difference with its fingerprint; above it stands what was not as in the run before.

    \b
    parity history tools/parallel_reads
    parity history tools/parallel_reads --journals nightly/

    Exit codes: 0 listed; 2 wrong usage, or a cassette that no run took on.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("merge:merge")
@click.argument("journals", nargs=-1, required=True, type=options.FILE)
@click.option("--journal", type=options.FILE, help="Write the whole run's journal here.")
@click.option(
    "--keep/--no-keep",
    default=True,
    envvar="PARITY_KEEP",
    show_default=True,
    help="Leave a copy of --journal in .parity/journals, as a run does.",
)
@report_options
@options.waivers
def merge() -> None:
    """Join the journals of one run's shards, and judge the whole.

    JOURNALS are what `parity run --shard I/N --journal F` left, in any order. They must be of one
    run: the same sides, build, corpus, waivers and packages; what differs is named. Waivers are
    judged by the day that the runs were. A part that is missing or was cut off makes the verdict
    inconclusive; `parity run --journal F --resume` completes it.

    \b
    parity merge shard-*.jsonl --journal run.jsonl
    parity merge shard-*.jsonl --journal run.jsonl --html report

    Exit codes: 0 parity; 1 divergent; 2 wrong usage, journals that do not belong together, or a
    cassette that could not be loaded; 3 inconclusive, or something is missing.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("trace:trace")
@options.paths
@click.option("--runtime", required=True, metavar="NAME", help="The runtime to run.")
@click.option(
    "--out",
    type=options.FOLDER,
    help="The folder for the documents, one at <name>.json each.",
)
@options.select
@options.jobs
@options.limits
@options.trust
def trace() -> None:
    """Write everything that one runtime does with cassettes.

    A trace document, one for each cassette, holds what the runtime asked the model, did, remembered
    and emitted. With a single cassette and no --out the document goes to standard output.

    \b
    parity trace text/text --runtime legacy
    parity trace cassettes/text/text.yaml --runtime legacy
    parity trace cassettes --runtime adk --out traces -n 0

    Exit codes: 0 every run was observed; 2 wrong usage, or a file that cannot be loaded; 3 a run
    was not observed.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("diff:diff")
@click.argument("control", metavar="A", type=options.PLACE)
@click.argument("candidate", metavar="B", type=options.PLACE)
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="Write the report as JSON; `-` for standard output, with nothing else there.",
)
@options.verbose
def diff() -> None:
    """Compare two trace documents, written by `parity trace`.

    The same projections, channels and explanations as in `parity run`; A is what is right, B what
    is judged. Two folders are compared file by file: what only one of them holds is inconclusive.

    \b
    parity diff before.json after.json
    parity diff traces/legacy traces/adk --json diff.json

    Exit codes: 0 nothing differs; 1 something does; 2 wrong usage, or a file that is no trace (the
    others are compared nevertheless); 3 inconclusive: a run was not observed, or a trace has no
    partner. Of several, 2 wins over 1 over 3.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("bisect:bisect")
@click.argument("cassette")
@click.option("--good", required=True, metavar="REV", help="A revision in which it is green.")
@click.option(
    "--bad", default="HEAD", show_default=True, metavar="REV", help="One in which it is red."
)
@click.option(
    "--control",
    metavar="NAME|TRACE",
    help="What is right: a runtime of the same revision (legacy, if nothing is said), or a trace "
    "document that holds for all of them.",
)
@click.option(
    "--runtime",
    metavar="NAME",
    help="The runtime that is judged. Without --control it is compared with what it did in the "
    "good revision; if neither is given, adk is compared with legacy.",
)
@click.option(
    "--waivers",
    type=options.FILE,
    help="Accepted differences, for all revisions; by default today's parity_tests/waivers.toml.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=1),
    default=120,
    show_default=True,
    help="Seconds for one trace; a revision that takes longer is skipped.",
)
@options.trust
@click.option("--json", "json_file", type=options.FILE, help="Write what was found as JSON.")
@click.option(
    "--repository",
    type=options.FOLDER,
    default=Path(),
    show_default=True,
    help="The checkout whose history is searched.",
)
def bisect() -> None:
    """Find the first revision in which CASSETTE is red.

    CASSETTE is a file as it is now, or the name of one in ./cassettes or else the bundled corpus.
    Revisions are put into a worktree in a temporary folder, one after the other; your own tree,
    index, stash and refs stay as they are. In each, THE REVISION'S OWN CODE RUNS (its `parity
    trace`): bisect only a repository whose history you trust. Today's harness compares what the
    traces say. A revision that cannot trace the cassette is skipped; where skipped ones could be
    the first red one as well, the answer is the range.

    Red means, by what is asked:

    \b
    (nothing)                   adk diverges from legacy of the same revision
    --control N --runtime M     M diverges from N of the same revision
    --runtime M                 M does something else than in the good revision
    --control TRACE             the runtime does something else than in the trace

    \b
    parity bisect tools/parallel_reads --good HEAD~20
    parity bisect tools/parallel_reads --good HEAD~20 --bad main --runtime legacy
    parity bisect text/text --good HEAD~30 --control right.json --runtime adk

    Exit codes: 0 found; 2 wrong usage, no such revision, good is red, bad is green, or one of the
    two cannot be traced; 3 only a range could be found; 130 interrupted.
    """  # noqa: D301 - click's mark for lines that stay as they are
