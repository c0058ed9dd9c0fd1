"""The commands of the corpus: cassettes, waivers, baselines."""

from __future__ import annotations

import click

from harness.command_line import options
from harness.command_line.deferred import command, deferred

__all__ = ["adopt", "baseline", "check", "import_", "init", "list_", "show", "waive"]


@command("corpus:list_", "list")
@options.paths
@options.select
@options.phase
@click.option(
    "--contract",
    "behaviour",
    metavar="ID",
    help="Only cassettes that declare this behaviour of parity_tests/contract.md.",
)
def list_() -> None:
    """List cassettes: name, phase and note.

    \b
    parity list
    parity list cassettes/tools --phase A
    parity list --contract P-014

    Exit codes: 0 listed; 2 wrong usage, or a file that cannot be loaded (the others are listed).
    """


@command("corpus:show")
@click.argument("cassette", metavar="NAME|FILE")
@click.option("--whole", is_flag=True, help="Show long texts in full.")
def show() -> None:
    """Show one cassette as YAML, its macros expanded.

    NAME is looked for in ./cassettes or else the bundled corpus; a unique part of it will do.

    \b
    parity show tools/parallel_reads
    parity show cassettes/tools/parallel_reads.yaml
    """


@command("corpus:check")
@options.paths
@options.select
def check() -> None:
    """Check cassettes: their form, secrets, declared behaviours.

    Every problem is one line with file, key and what to do. A secret is an API key, a token, a
    password in a URL, a PEM block, or a user name in a home path; the line names the kind of
    secret, never the secret. A behaviour is one of parity_tests/contract.md.

    \b
    parity check
    parity check cassettes/tools
    parity check tools/parallel_reads

    Exit codes: 0 all are valid; 2 some are not.
    """


@command("init:init")
@click.option(
    "--control",
    metavar="[NAME=]KIND:TARGET",
    help="The agent that is taken to be right.  [default: asks]",
)
@click.option(
    "--candidate",
    metavar="[NAME=]KIND:TARGET",
    help="The agent that is judged.  [default: asks]",
)
@click.option(
    "--package",
    default="parity_agents",
    show_default=True,
    help="The name of the package for the adapters.",
)
@click.option(
    "--corpus",
    type=options.FOLDER,
    default="cassettes",
    show_default=True,
    help="The folder for the cassettes.",
)
@click.option(
    "--model",
    default="gemini-2.5-flash",
    show_default=True,
    help="The model that the example cassettes name.",
)
@click.option(
    "--workflow/--no-workflow",
    default=True,
    show_default=True,
    help="Write a workflow for GitHub Actions.",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
def init() -> None:
    """Begin to compare two agents of your own project.

    Writes into the current folder parity.toml, a small package with an adapter for each agent,
    three example cassettes, the files for waivers and the gate, and a CI workflow. Then it sends
    each agent one message to learn its tools; nothing leaves this machine. No file is replaced
    without --force.

    \b
    KIND      TARGET
    agent     MODULE:FUNCTION or MODULE:CLASS.METHOD; it answers a message, as
              an asynchronous generator or coroutine over google-genai, openai
              or anthropic
    adk       MODULE:NAME of an agent or App of google-adk, as `adk run` takes it
    process   a command; the program speaks JSON lines
    acp       a command; the program speaks the Agent Client Protocol
    a2a       a command with {port}; it starts an A2A server on that port

    \b
    parity init
    parity init --control hand=agent:shop.loop:Shop.answer \\
        --candidate stock=adk:shop.agent:root_agent
    parity init --control old=process:'node old.js' \\
        --candidate new=acp:'shop-agent --acp'

    docs/own-agent.md follows one project from here to a signed verdict.

    Exit codes: 0 written; 2 wrong usage, or a file is in the way; 130 interrupted.
    """


@command("importing:import_", "import")
@click.argument("files", nargs=-1, required=True, type=options.PLACE)
@click.option(
    "--out",
    required=True,
    type=options.FOLDER,
    help="The folder for the cassettes, <family>/<name>.yaml.",
)
@click.option(
    "--family",
    default="imported",
    show_default=True,
    help="The family, the first part of the names.",
)
@click.option(
    "--model", default="gemini-2.5-flash", show_default=True, help="The model of the session."
)
@click.option(
    "--approval-mode",
    type=click.Choice(["default", "auto_edit", "yolo", "plan"]),
    default="default",
    show_default=True,
    help="What tools may do without confirmation.",
)
@click.option("--interactive", is_flag=True, help="An interactive instead of a headless session.")
@click.option("--licence", help="The licence of the recordings.")
@click.option("--force", is_flag=True, help="Overwrite existing cassettes.")
def import_() -> None:
    """Convert recorded `.responses` files into cassettes.

    The files contain responses only; each stream that ends without a tool call becomes one `send`.
    Give the approval mode and settings of the recording as options, or add them by hand.

    \b
    parity import recordings/*.responses --out cassettes
    parity import todo.responses --out cassettes --approval-mode yolo
    """


@command("adopt:adopt")
@click.argument("found", type=deferred("harness.commands.naming:finding_place"))
@click.option(
    "--as",
    "name",
    metavar="FAMILY/BEHAVIOUR",
    help="The new name, after the behaviour.  [default: its own name]",
)
@click.option("--note", metavar="TEXT", help="A description in one line.  [default: its own]")
@click.option(
    "--force",
    is_flag=True,
    help="Overwrite an existing cassette; adopt even if the runtimes differ.",
)
@click.option("--no-upstream", is_flag=True, help="Do not observe it in the published core.")
@options.trust
@options.waivers
def adopt() -> None:
    """Add a finding to the corpus in ./cassettes.

    Masks secrets and paths of this machine, and runs the cassette in legacy and adk, which must
    agree now. If the published core is installed, observes it there, as `parity baseline` does,
    into baselines/upstream. FOUND is removed after everything else is written, and does not change
    if anything fails.

    \b
    parity adopt .parity/found/shrunk/2fa3272ca154.yaml --as text/usage_twice
    parity adopt found.yaml --as errors/reset_twice --note 'two resets'
    parity adopt found.yaml --as tools/odd_call --no-upstream

    Cassettes of the corpus are trusted, so a cassette that starts processes needs --trust.

    Exit codes: 0 adopted; 1 the runtimes differ on it; 2 wrong usage, or a file that cannot be
    loaded or written; 3 inconclusive; 130 interrupted. Files change only with exit code 0.
    """


@command("waive:waive")
@click.argument("cassette", required=False)
@click.option(
    "--journal",
    type=options.PLACE,
    help="Read the finding from this journal (or a folder with one) instead of running it.",
)
@click.option(
    "--control", type=options.side, default="legacy", show_default=True, help="Without --journal."
)
@click.option(
    "--candidate", type=options.side, default="adk", show_default=True, help="Without --journal."
)
@click.option(
    "--fingerprint",
    metavar="HEX",
    help="The difference, by the start of its fingerprint.  [default: the first cause]",
)
@click.option("--owner", help="The owner: a role, such as adk-runtime.")
@click.option("--impact", help="What a user notices.")
@click.option("--reason", help="Why the difference cannot be removed now.")
@click.option(
    "--days",
    type=click.IntRange(1, 366),
    default=90,
    show_default=True,
    help="Days until it expires.",
)
@click.option("--id", "name", help="The id of the entry.  [default: made from the place]")
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Judge waivers, and count --days, from this day instead of today (UTC).",
)
@click.option("--append", is_flag=True, help="Append it to the waivers file.")
@click.option(
    "--waivers",
    "waivers_file",
    type=options.FILE,
    help="The waivers file.  [default: parity_tests/waivers.toml]",
)
@options.trust
def waive() -> None:
    """Propose a waiver for a difference.

    Prints the entry of the waiver with the values of each side. CASSETTE is a file, or a name in
    ./cassettes or else in the bundled corpus. With --journal it is the name of a case, and optional
    if only one case differs. You must complete owner, impact and reason; until then, `parity`
    refuses the file.

    \b
    parity waive tools/parallel_mixed
    parity waive tools/parallel_mixed --fingerprint 3fa9 --append
    parity waive --journal parity-report/journal.jsonl text/text \\
        --owner adk-runtime --impact 'None.' --reason 'ADK counts it later.'

    Exit codes: 0 an entry was proposed; 2 wrong usage, or there is nothing to waive; 3 the case is
    inconclusive.
    """


@command("baseline:baseline")
@options.paths
@click.option("--runtime", required=True, metavar="NAME", help="The runtime to observe.")
@click.option(
    "--out",
    type=options.FOLDER,
    required=True,
    help="The folder of the baselines, <name>.json for each cassette.",
)
@options.select
@options.jobs
@options.limits
@options.trust
@click.option(
    "--check", is_flag=True, help="Observe again and list stale baselines; write nothing."
)
@click.option(
    "--most",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --check: observe only N again; for the others, check the version of the cassette.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    metavar="S",
    help="The seed that selects the N of --most.",
)
@click.option("--prune", is_flag=True, help="Remove baselines of deleted cassettes.")
def baseline() -> None:
    """Store the observations of a runtime, for later comparisons.

    `parity run --control baseline:DIR` reads the files back; a folder in ./baselines can be given
    by its name. They contain the whole behaviour, the prompts of the runtime as hashes, and no path
    of this machine. A run that cannot be observed is not stored.

    \b
    parity baseline cassettes --runtime legacy --out baselines/legacy -n 0
    parity baseline cassettes --runtime legacy --out baselines/legacy --check
    parity baseline cassettes --runtime legacy --out baselines/legacy --check \\
        --most 300 --seed 7
    parity run cassettes --control baseline:legacy --candidate adk

    --prune, and --check for superfluous baselines, take the named folders as complete; name all
    that DIR is for.

    Exit codes: 0 all stored, or none stale; 1 a baseline is stale, missing or superfluous; 2 wrong
    usage, or a file that cannot be loaded; 3 a run was not observed; 130 interrupted. If several
    apply, 2 takes precedence over 1, and 1 over 3.
    """
