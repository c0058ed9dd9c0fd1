"""`parity`: the command line; `harness.command_line` declares the commands."""

from __future__ import annotations

import logging
import os
import sys
from difflib import get_close_matches
from io import StringIO
from types import ModuleType
from typing import Final

import click

from harness.collector import collect_seldom
from harness.command_line import agents, corpus, evidence, run_and_read, search
from harness.debug_log import log_debug
from harness.errors import HarnessError, in_short
from harness.output import StandardOutput
from harness.wrapping import say
from runtimes.project_file import find_project_file
from services.redaction import without_credentials

__all__ = ["main", "parity"]

logger = logging.getLogger(__name__)

_USAGE: Final = 2
_UNDECIDED: Final = 3
_INTERRUPTED: Final = 130

_HEADINGS: Final = {
    "run and read": run_and_read,
    "corpus": corpus,
    "search": search,
    "evidence": evidence,
    "agents": agents,
}
"""Heading of `parity --help` to the module that declares its commands, in their order."""


def _commands(module: ModuleType) -> dict[str, click.Command]:
    """Return the commands that a module declares, by name, without parts of commands."""
    found = [each for each in vars(module).values() if isinstance(each, click.Command)]
    parts = [part for each in found for part in getattr(each, "commands", {}).values()]
    return {str(each.name): each for each in found if each not in parts}


class _Commands(click.Group):
    """Finds a command by its name, and turns errors into exit codes.

    1 means `divergent` and is the commands' own: no exception ends with it.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for module in _HEADINGS.values() for name in _commands(module)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = (_commands(module).get(cmd_name) for module in _HEADINGS.values())
        return next((each for each in found if each is not None), None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, each with the first sentence of its help."""
        width = max(map(len, self.list_commands(ctx)))
        for heading, module in _HEADINGS.items():
            rows = _commands(module).items()
            with formatter.section(f"Commands, {heading}"):
                formatter.write_dl(
                    [(f"{name:<{width}}", each.get_short_help_str(80)) for name, each in rows]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names; an unknown one gets the nearest names."""
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in known:
            listed = " or ".join(repr(name) for name in get_close_matches(args[0], known))
            hint = f" Did you mean {listed}?" if listed else ""
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
    say(f"parity: {without_credentials(problem)}", err=True)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 parity, 1 divergent, 2 wrong usage, a file that cannot be loaded or "
    "output that cannot be written, 3 inconclusive or the harness failed, 141 the reader "
    "closed the output.",
)
@click.version_option(package_name="parity")
@click.option("--debug", is_flag=True, help="Write debug logs to standard error.")
@click.pass_context
def parity(ctx: click.Context, debug: bool) -> None:
    """Prove that an agent's engine can be swapped without anyone noticing.

    Replays recorded model responses through two runtimes and compares their requests, tool calls,
    history and events.

    \b
    parity run                        the whole corpus, legacy against adk
    parity run tools/parallel_reads   one cassette, by its name or its path
    parity run -k 'abort and tool'    the cases whose names match
    parity show tools/parallel_reads  one cassette, macros expanded
    """  # noqa: D301 - click's mark for lines that stay as they are
    if debug:
        log_debug()
    else:
        # Without a handler Python prints warnings by itself; the report says what matters.
        logging.getLogger().addHandler(logging.NullHandler())
    # `init` writes the file, and may replace a broken one.
    if ctx.invoked_subcommand != "init" and find_project_file() is not None:
        from harness.project import command_defaults

        ctx.default_map = command_defaults()


def main() -> None:
    """The console script."""
    collect_seldom()
    output = StandardOutput()
    try:
        os.getcwd()  # noqa: PTH109 - imports of pathlib cost what `parity --help` must not
    except OSError as error:
        _say(f"the current folder cannot be used: {error.strerror}; change to an existing folder")
        sys.exit(_USAGE)
    try:
        parity()
    except SystemExit as ending:
        sys.exit(output.exit_code(ending.code if isinstance(ending.code, int) else 0))


if __name__ == "__main__":
    main()
