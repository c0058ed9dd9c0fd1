"""The commands of the corpus: cassettes, waivers, baselines."""

from __future__ import annotations

import click

from harness.command_line import options
from harness.command_line.deferred import command, deferred

__all__ = ["adopt", "baseline", "check", "import_", "list_", "show", "waive"]


@command("corpus:list_", "list")
@options.paths
@options.select
@options.phase
@click.option(
    "--contract",
    "behaviour",
    metavar="ID",
    help="Only those that say they exercise this behaviour of parity_tests/contract.md.",
)
def list_() -> None:
    """List cassettes: name, phase and note.

    \b
    parity list
    parity list cassettes/tools --phase A
    parity list --contract P-014

    Exit codes: 0 listed; 2 wrong usage, or a file that cannot be loaded (the others are listed).
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("corpus:show")
@click.argument("cassette", metavar="NAME|FILE")
@click.option("--whole", is_flag=True, help="Show long texts whole instead of by their ends.")
def show() -> None:
    """Show one cassette as YAML, its macros expanded.

    NAME is looked for in ./cassettes or else the bundled corpus; a unique part of it will do.

    \b
    parity show tools/parallel_reads
    parity show cassettes/tools/parallel_reads.yaml
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("corpus:check")
@options.paths
@options.select
def check() -> None:
    """Check cassettes: their form, secrets, declared behaviours.

    Every problem is one line with file, key and what to do. A secret is an API key, a token, a
    password in an address, a PEM block, or a person's name in a home path; the line names the sort
    of secret, never the secret. A behaviour is one of parity_tests/contract.md.

    \b
    parity check
    parity check cassettes/tools
    parity check tools/parallel_reads

    Exit codes: 0 all are valid; 2 some are not.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("importing:import_", "import")
@click.argument("files", nargs=-1, required=True, type=options.PLACE)
@click.option(
    "--out",
    required=True,
    type=options.FOLDER,
    help="The folder for the cassettes, each at <family>/<name>.yaml.",
)
@click.option("--family", default="imported", show_default=True, help="First part of the names.")
@click.option("--model", default="gemini-2.5-flash", show_default=True, help="The session's model.")
@click.option(
    "--approval-mode",
    type=click.Choice(["default", "auto_edit", "yolo", "plan"]),
    default="default",
    show_default=True,
    help="How much the session may do unasked.",
)
@click.option("--interactive", is_flag=True, help="An interactive session instead of a headless.")
@click.option("--licence", help="The licence of the recordings.")
@click.option("--force", is_flag=True, help="Write over cassettes that are there already.")
def import_() -> None:
    """Make cassettes of recorded `.responses` files.

    They hold answers only: the user's side becomes one `send` for each stream that ends without a
    call. What a recording asked for (approval mode, settings) must be given as options or added by
    hand.

    \b
    parity import recordings/*.responses --out cassettes
    parity import todo.responses --out cassettes --approval-mode yolo
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("adopt:adopt")
@click.argument("found", type=deferred("harness.commands.naming:finding_place"))
@click.option(
    "--as",
    "name",
    metavar="FAMILY/BEHAVIOUR",
    help="What to call it, for what it shows.  [default: its own name]",
)
@click.option("--note", metavar="TEXT", help="One line about it.  [default: its own]")
@click.option(
    "--force",
    is_flag=True,
    help="Write over a cassette that is there; adopt although the runtimes differ on it.",
)
@click.option("--no-upstream", is_flag=True, help="Do not observe it in the published core.")
@options.trust
@options.waivers
def adopt() -> None:
    """Make a finding a cassette of the corpus in ./cassettes.

    Secrets and paths of this machine are struck out; then it is run in legacy and adk, which must
    agree on it by now, and observed in the published core where that is installed, as `parity
    baseline` does, into baselines/upstream. FOUND is moved: it goes when all else is written, and
    stays as it is if anything fails.

    \b
    parity adopt .parity/found/shrunk/2fa3272ca154.yaml --as text/usage_twice
    parity adopt found.yaml --as errors/reset_twice --note 'two resets'
    parity adopt found.yaml --as tools/odd_call --no-upstream

    In the corpus it is trusted: one that starts processes is adopted only with --trust.

    Exit codes: 0 adopted; 1 the runtimes differ on it; 2 wrong usage, or a file that cannot be
    loaded or written; 3 nothing can be said of it; 130 interrupted. Only after 0 has anything
    changed.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("waive:waive")
@click.argument("cassette", required=False)
@click.option(
    "--journal",
    type=options.PLACE,
    help="Read the finding from a run's journal, or a folder with one, and run nothing.",
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
    help="Which of several differences, by the beginning of its fingerprint; else the first cause.",
)
@click.option("--owner", help="Who answers for it: a role, such as adk-runtime.")
@click.option("--impact", help="What a user sees of it.")
@click.option("--reason", help="Why it cannot be otherwise, for now.")
@click.option(
    "--days", type=click.IntRange(1, 366), default=90, show_default=True, help="How long it holds."
)
@click.option("--id", "name", help="The entry's id; one is made from the place otherwise.")
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day from which the days count, and by which waivers are judged; today otherwise.",
)
@click.option("--append", is_flag=True, help="Write it to the end of the waivers file.")
@click.option(
    "--waivers",
    "waivers_file",
    type=options.FILE,
    help="The waivers file; parity_tests/waivers.toml otherwise.",
)
@options.trust
def waive() -> None:
    """Propose the waiver of a difference that is accepted.

    Prints the waiver's entry, ready to be completed. CASSETTE is a file, or the name of one in
    ./cassettes or else the bundled corpus; with --journal
    it is the name of a case, and can be left out where one case alone differs. The entry holds what
    each side did, as it is. Owner, impact and reason are a person's to write: until they are
    written, a file with the entry is refused.

    \b
    parity waive tools/parallel_mixed
    parity waive tools/parallel_mixed --fingerprint 3fa9 --append
    parity waive --journal parity-report/journal.jsonl text/text \\
        --owner adk-runtime --impact 'None.' --reason 'ADK counts it later.'

    Exit codes: 0 an entry was proposed; 2 wrong usage, or there is nothing to waive; 3 the case
    decides nothing.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("baseline:baseline")
@options.paths
@click.option("--runtime", required=True, metavar="NAME", help="The runtime to observe.")
@click.option(
    "--out",
    type=options.FOLDER,
    required=True,
    help="The folder of the baselines, one at <name>.json each.",
)
@options.select
@options.jobs
@options.limits
@options.trust
@click.option("--check", is_flag=True, help="Write nothing: observe anew, and name what is stale.")
@click.option(
    "--most",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --check: observe only N anew; of the others, whether they are of their cassettes.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    metavar="S",
    help="Which N those are.",
)
@click.option("--prune", is_flag=True, help="Remove baselines of cassettes that are gone.")
def baseline() -> None:
    """Keep what a runtime does, to compare without it later.

    `parity run --control baseline:DIR` reads the files back; a folder of ./baselines can be named
    by its name alone. They hold behaviour whole, the
    runtime's own prompts as hashes, and no path of this machine. A run that could not be observed
    is not kept.

    \b
    parity baseline cassettes --runtime legacy --out baselines/legacy -n 0
    parity baseline cassettes --runtime legacy --out baselines/legacy --check
    parity baseline cassettes --runtime legacy --out baselines/legacy --check \\
        --most 300 --seed 7
    parity run cassettes --control baseline:legacy --candidate adk

    --prune, and --check where it names what is superfluous, take whole folders of cassettes as all
    there are; name every one that DIR is for.

    Exit codes: 0 all kept, or nothing stale; 1 something is stale, missing or superfluous; 2 wrong
    usage, or a file that cannot be loaded; 3 a run was not observed; 130 interrupted. Of several,
    2 wins over 1 over 3.
    """  # noqa: D301 - click's mark for lines that stay as they are
