"""`parity`: the command line. Commands live in `harness.commands` and are imported when used."""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from io import StringIO
from typing import Final

import click

from harness.collector import collect_seldom
from harness.debug_log import log_debug
from harness.errors import HarnessError, in_short
from harness.output import StandardOutput
from harness.wrapping import say
from services.redaction import told

__all__ = ["main", "parity"]

logger = logging.getLogger(__name__)

_USAGE: Final = 2
_UNDECIDED: Final = 3
_INTERRUPTED: Final = 130

_COMMANDS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "run and read": {
        "run": ("run:run", "Replay cassettes through two runtimes and compare."),
        "report": ("report:report", "Show the report of a run from its journal; runs nothing."),
        "show-report": ("show_report:show_report", "Open a report's page in the browser."),
        "history": ("history:history", "List the verdicts of a cassette in past runs."),
        "merge": ("merge:merge", "Join the journals of one run's shards, and judge the whole."),
        "trace": ("trace:trace", "Write everything that one runtime does with cassettes."),
        "diff": ("diff:diff", "Compare two trace documents, written by `parity trace`."),
        "bisect": ("bisect:bisect", "Find the first revision in which CASSETTE is red."),
    },
    "corpus": {
        "list": ("corpus:list_", "List cassettes: name, phase and note."),
        "show": ("corpus:show", "Show one cassette as YAML, its macros expanded."),
        "check": ("corpus:check", "Check cassettes: their form, secrets, declared behaviours."),
        "import": ("importing:import_", "Make cassettes of recorded `.responses` files."),
        "adopt": ("adopt:adopt", "Make a finding a cassette of the corpus in ./cassettes."),
        "waive": ("waive:waive", "Propose the waiver of a difference that is accepted."),
        "baseline": ("baseline:baseline", "Keep what a runtime does, to compare without it later."),
    },
    "search": {
        "generate": (
            "generate:generate",
            "Draw scenarios and keep those on which runtimes differ.",
        ),
        "shrink": ("shrink:shrink", "Make a failing cassette as small as it can be."),
        "orders": ("orders:orders", "Complete parallel work in every order, and compare."),
        "faults": ("faults:faults", "Break the runtimes on purpose, and count what is noticed."),
        "mutants": ("mutants:mutants", "Draw small edits of the source, and count those found."),
    },
    "evidence": {
        "measure": ("measure:measure", "Run what the gate lacks for a phase, and ask the gate."),
        "gate": ("gate:gate", "Say whether a rollout phase may be flipped, and why."),
        "sign": ("sign:sign", "Sign the gate's yes to a phase, and add it to the records."),
        "verify": ("verify:verify", "Say whether a signed record holds here and now."),
        "revoke": ("revoke:revoke", "Revoke a signed record."),
        "keygen": ("keygen:keygen", "Make a pair of Ed25519 keys."),
        "can-flip": ("can_flip:can_flip", "Say whether the signed records allow a flag."),
    },
    "agents": {
        "agent": ("agent:agent", "Ask an agent to do something in the current folder."),
        "record": ("record:record", "Run the agent as `parity agent` does, and keep a cassette."),
        "upstream": ("upstream:upstream", "Install, list, remove versions of the published core."),
    },
}
"""Heading of `parity --help` to its commands: the module and function of each, and its short help.

Only the command that is called is imported.
"""
_TARGETS: Final = {
    name: target for rows in _COMMANDS.values() for name, (target, _) in rows.items()
}


class _Commands(click.Group):
    """Imports a command when it is asked for, and turns errors into exit codes.

    1 is left to the commands, for which it says `divergent`: no exception ends with it.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_TARGETS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _TARGETS:
            return None
        module, _, name = _TARGETS[cmd_name].partition(":")
        command = getattr(importlib.import_module(f"harness.commands.{module}"), name)
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings; imports none of them."""
        width = max(map(len, _TARGETS))
        for heading, rows in _COMMANDS.items():
            with formatter.section(f"Commands, {heading}"):
                formatter.write_dl(
                    [(f"{name:<{width}}", words) for name, (_, words) in rows.items()]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; an unknown one gets the nearest names."""
        if args and not args[0].startswith("-") and args[0] not in _TARGETS:
            near = get_close_matches(args[0], _TARGETS)
            listed = " or ".join(repr(name) for name in near)
            hint = f" Did you mean {listed}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> None:
        """Run a command: what it returns is the exit code, no value is 0."""
        try:
            code = super().invoke(ctx)
        except HarnessError as error:
            _say(str(error))
            ctx.exit(error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            _say("interrupted")
            ctx.exit(_INTERRUPTED)
        except click.exceptions.Exit:
            raise
        except click.ClickException as error:
            _show(error)
            ctx.exit(_USAGE)
        except Exception as error:
            logger.debug("the command failed", exc_info=error)
            _say(in_short(error))
            ctx.exit(_UNDECIDED)
        ctx.exit(code if isinstance(code, int) else 0)


def _show(error: click.ClickException) -> None:
    """Print click's message about wrong usage, wrapped as every other line."""
    shown = StringIO()
    error.show(shown)
    say(shown.getvalue().rstrip("\n"), err=True)


def _say(problem: str) -> None:
    say(f"parity: {told(problem)}", err=True)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 parity, 1 divergent, 2 wrong usage, a file that cannot be loaded or "
    "output that cannot be written, 3 inconclusive or the harness failed, 141 the reader "
    "of the output has left.",
)
@click.version_option(package_name="parity")
@click.option("--debug", is_flag=True, help="Log what the machinery does to standard error.")
def parity(debug: bool) -> None:
    """Prove that an agent's engine can be swapped without anyone noticing.

    Replays recorded model answers through two runtimes and compares what each asked the model,
    did, remembered and emitted.

    \b
    parity run                        the whole corpus, legacy against adk
    parity run tools/parallel_reads   one cassette, by its name or its path
    parity run -k 'abort and tool'    the cases whose names fit
    parity show tools/parallel_reads  one cassette, macros expanded
    """  # noqa: D301 - click's mark for lines that stay as they are
    if debug:
        log_debug()
    else:
        # Without a handler Python prints warnings by itself; the report says what matters.
        logging.getLogger().addHandler(logging.NullHandler())


def main() -> None:
    """The console script."""
    collect_seldom()
    output = StandardOutput()
    try:
        os.getcwd()  # noqa: PTH109 - imports of pathlib cost what `parity --help` must not
    except OSError as error:
        _say(f"the current folder cannot be used: {error.strerror}; change to one that is there")
        sys.exit(_USAGE)
    try:
        parity()
    except SystemExit as ending:
        sys.exit(output.exit_code(ending.code if isinstance(ending.code, int) else 0))


if __name__ == "__main__":
    main()
