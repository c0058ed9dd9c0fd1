"""The commands that run cassettes and show the results."""

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
@options.surface
@options.provider
@options.adk_plugin_option("Diagnostic: run adk with this ADK plugin; no gate counts the run.")
@options.select
@options.phase
@click.option(
    "--last-failed",
    is_flag=True,
    help="Only cases without parity in the last run, or in the run of --journal.",
)
@click.option(
    "--shard",
    type=options.shard,
    metavar="I/N",
    help="Only this part of the cassettes, such as 2/3; `parity merge` joins the journals.",
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
    help="Runs of each side; with 2 or more, differences between runs are reported.",
)
@click.option(
    "--journal", type=options.FILE, help="Write each result as one JSON line when its case ends."
)
@click.option(
    "--resume", is_flag=True, help="Continue the run of the journal: skip the cases in it."
)
@click.option(
    "--keep/--no-keep",
    default=True,
    envvar="PARITY_KEEP",
    show_default=True,
    help="Store a journal in .parity/journals, for --last-failed and `parity history`.",
)
@report_options
@options.waivers
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Judge the waivers as of this day instead of today (UTC).",
)
def run() -> None:
    """Replay cassettes through two runtimes and compare.

    PATHS are cassettes and folders of them, by path or by name (`tools/parallel_reads`, `tools`).
    Without any, ./cassettes or else the bundled corpus is run, and the recorded HTTP traffic in its
    folder `http` (not part of a named folder). A side can be `baseline:DIR`, the observations that
    `parity baseline` wrote. The verdict is `parity`, `divergent` or `inconclusive`; the report
    explains the first difference and gives the command that reproduces it. A cassette of phase B is
    two cases: NAME, and NAME@sessions, in which subagents run through sessions.

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

    Exit codes: 0 parity; 1 divergent; 2 wrong usage, a file that cannot be loaded (the others are
    run), or output that cannot be written; 3 inconclusive; 130 interrupted; 141 the reader closed
    the output. If several apply, 2 takes precedence over 1, and 1 over 3.
    """


@command("report:report")
@click.option(
    "--journal",
    "place",
    type=options.PLACE,
    help="A journal, or a folder with one.  [default: that of the last run here]",
)
@click.option(
    "--since",
    type=options.FILE,
    metavar="JOURNAL",
    help="Report what changed since this run.  [default: the last green run here]",
)
@report_options
@click.option(
    "--kills",
    "kills_file",
    type=options.FILE,
    metavar="FILE",
    help="A kill matrix to include, written by `parity faults --json`.",
)
@options.waivers
def report() -> None:
    """Show the report of a run from its journal; runs nothing.

    The run may have been killed; the report then covers the finished cases. The current waivers
    apply, as of the day on which the run judged them.

    \b
    parity report
    parity report --journal parity-report --html parity-report
    parity report --journal monday.jsonl --since friday.jsonl

    Exit codes: those of `parity run`: 0 parity; 1 divergent; 2 wrong usage, or the run had a file
    that could not be loaded; 3 inconclusive, or the run did not finish.
    """


@command("show_report:show_report", "show-report")
@click.argument("folder", required=False, type=options.PLACE)
@click.option(
    "--print", "only_print", is_flag=True, help="Print the path of the page, and do not open it."
)
def show_report() -> None:
    """Open a report's page in the browser and print its path.

    FOLDER is the argument of --html. Without it, the command opens the last page that was written
    from the current folder. It runs nothing, and the page needs no network.

    \b
    parity report --html parity-report
    parity show-report
    parity show-report parity-report --print

    Exit codes: 0 the page exists; 2 it does not.
    """


@command("history:history")
@click.argument("cassette")
@click.option(
    "--journals",
    "places",
    multiple=True,
    type=options.PLACE,
    help="A journal or a folder of journals instead of .parity/journals; repeatable.",
)
@options.waivers
def history() -> None:
    """List the verdicts of a cassette in past runs.

    The oldest run comes first. CASSETTE is a file, a name, or a unique part of a name. Every
    `parity run` stores its journal in .parity/journals, which keeps the last twenty. Each line has
    the time, the revision (with a + if files differed from it), the sides, the verdict with the
    current waivers, and the first difference with its fingerprint. The lines above it list what
    changed since the previous run.

    \b
    parity history tools/parallel_reads
    parity history tools/parallel_reads --journals nightly/

    Exit codes: 0 listed; 2 wrong usage, or no run contains the cassette.
    """


@command("merge:merge")
@click.argument("journals", nargs=-1, required=True, type=options.FILE)
@click.option("--journal", type=options.FILE, help="Write the joined journal to this file.")
@click.option(
    "--keep/--no-keep",
    default=True,
    envvar="PARITY_KEEP",
    show_default=True,
    help="Store a copy of --journal in .parity/journals, as a run does.",
)
@report_options
@options.waivers
def merge() -> None:
    """Join the journals of one run's shards, and judge the whole.

    JOURNALS are the journals of `parity run --shard I/N --journal F`, in any order. They must
    belong to one run, with the same sides, build, corpus, waivers and packages; an error names what
    differs. Waivers are judged as of the day of the runs. If a shard is missing or incomplete, the
    verdict is inconclusive; `parity run --journal F --resume` completes it.

    \b
    parity merge shard-*.jsonl --journal run.jsonl
    parity merge shard-*.jsonl --journal run.jsonl --html report

    Exit codes: 0 parity; 1 divergent; 2 wrong usage, journals that do not belong together, or a
    cassette that could not be loaded; 3 inconclusive, or a case is missing.
    """


@command("trace:trace")
@options.paths
@click.option("--runtime", required=True, metavar="NAME", help="The runtime to run.")
@click.option(
    "--out",
    type=options.FOLDER,
    help="The folder for the documents, <name>.json for each cassette.",
)
@options.select
@options.jobs
@options.limits
@options.trust
def trace() -> None:
    """Run cassettes in one runtime, and write its traces.

    Each cassette gives one trace document with the requests, tool calls, history, recording and
    events of the runtime. With a single cassette and no --out, the document goes to standard
    output.

    \b
    parity trace text/text --runtime legacy
    parity trace cassettes/text/text.yaml --runtime legacy
    parity trace cassettes --runtime adk --out traces -n 0

    Exit codes: 0 every run was observed; 2 wrong usage, or a file that cannot be loaded; 3 a run
    was not observed.
    """


@command("diff:diff")
@click.argument("control", metavar="A", type=options.PLACE)
@click.argument("candidate", metavar="B", type=options.PLACE)
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="Write the report as JSON; `-` writes it to standard output alone.",
)
@options.verbose
def diff() -> None:
    """Compare two trace documents, written by `parity trace`.

    Uses the projection rules, channels and explanations of `parity run`. A is the control, B the
    candidate. Two folders are compared file by file; a file in only one of them is inconclusive.

    \b
    parity diff before.json after.json
    parity diff traces/legacy traces/adk --json diff.json

    Exit codes: 0 no difference; 1 a difference; 2 wrong usage, or a file that is not a trace (the
    others are compared); 3 inconclusive: a run was not observed, or a trace has no partner. If
    several apply, 2 takes precedence over 1, and 1 over 3.
    """


@command("bisect:bisect")
@click.argument("cassette")
@click.option(
    "--good", required=True, metavar="REV", help="A revision in which the cassette is green."
)
@click.option(
    "--bad", default="HEAD", show_default=True, metavar="REV", help="A revision in which it is red."
)
@click.option(
    "--control",
    metavar="NAME|TRACE",
    help="The control: a runtime of the same revision (legacy, if neither option is given), or a "
    "trace document for all revisions.",
)
@click.option(
    "--runtime",
    metavar="NAME",
    help="The candidate (adk, if neither option is given). Without --control, the control is the "
    "same runtime in the good revision.",
)
@click.option(
    "--waivers",
    type=options.FILE,
    help="Waivers for all revisions.  [default: the current parity_tests/waivers.toml]",
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
@click.option("--json", "json_file", type=options.FILE, help="Write the result as JSON.")
@click.option(
    "--repository",
    type=options.FOLDER,
    default=Path(),
    show_default=True,
    help="The checkout to search.",
)
def bisect() -> None:
    """Find the first revision in which CASSETTE is red.

    CASSETTE is a file, or a name in ./cassettes or else in the bundled corpus; all revisions use
    its current content. Each revision is checked out into a worktree in a temporary folder; your
    own tree, index, stash and refs do not change. In each, THE CODE OF THE REVISION RUNS (its
    `parity trace`): bisect only a repository whose history you trust. The current harness compares
    the traces. A revision that cannot trace the cassette is skipped. If a skipped revision could be
    the first red one, the result is a range.

    The options define what red means:

    \b
    (nothing)                   adk diverges from legacy of the same revision
    --control N --runtime M     M diverges from N of the same revision
    --runtime M                 M diverges from M of the good revision
    --control TRACE             the runtime diverges from the trace

    \b
    parity bisect tools/parallel_reads --good HEAD~20
    parity bisect tools/parallel_reads --good HEAD~20 --bad main --runtime legacy
    parity bisect text/text --good HEAD~30 --control right.json --runtime adk

    Exit codes: 0 found; 2 wrong usage, no such revision, good is red, bad is green, or one of the
    two cannot be traced; 3 only a range could be found; 130 interrupted.
    """
