"""`parity`: the command line. Commands live in `harness.commands` and are imported when used."""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Mapping
from typing import Final

import click

from harness.collector import collect_seldom
from harness.errors import HarnessError, in_short
from harness.output import StandardOutput

__all__ = ["main", "parity"]

logger = logging.getLogger(__name__)

_USAGE: Final = 2
_UNDECIDED: Final = 3
_INTERRUPTED: Final = 130
_WHOLE: Final = 1000
"""Characters of a description: more than any has, so that none is cut off."""

_COMMANDS: Final[Mapping[str, str]] = {
    "run": "harness.commands.run:run",
    "merge": "harness.commands.merge:merge",
    "history": "harness.commands.history:history",
    "trace": "harness.commands.trace:trace",
    "baseline": "harness.commands.baseline:baseline",
    "generate": "harness.commands.generate:generate",
    "orders": "harness.commands.orders:orders",
    "list": "harness.commands.corpus:list_",
    "show": "harness.commands.corpus:show",
    "check": "harness.commands.corpus:check",
    "import": "harness.commands.importing:import_",
    "upstream": "harness.commands.upstream:upstream",
    "agent": "harness.commands.agent:agent",
    "record": "harness.commands.record:record",
    "faults": "harness.commands.faults:faults",
    "waive": "harness.commands.waive:waive",
    "gate": "harness.commands.gate:gate",
    "measure": "harness.commands.measure:measure",
    "can-flip": "harness.commands.can_flip:can_flip",
    "shrink": "harness.commands.shrink:shrink",
    "adopt": "harness.commands.adopt:adopt",
    "keygen": "harness.commands.keygen:keygen",
    "sign": "harness.commands.sign:sign",
    "verify": "harness.commands.verify:verify",
    "revoke": "harness.commands.revoke:revoke",
    "report": "harness.commands.report:report",
    "show-report": "harness.commands.show_report:show_report",
    "diff": "harness.commands.diff:diff",
    "bisect": "harness.commands.bisect:bisect",
}


_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "run and read": (
        "run",
        "report",
        "show-report",
        "history",
        "merge",
        "trace",
        "diff",
        "bisect",
    ),
    "corpus": ("list", "show", "check", "import", "adopt", "waive", "baseline"),
    "search": ("generate", "shrink", "orders", "faults"),
    "evidence": ("measure", "gate", "sign", "verify", "revoke", "keygen", "can-flip"),
    "agents": ("agent", "record", "upstream"),
}
"""The headings of `parity --help`; a command that is in none of them stands under `other`."""


class _Commands(click.Group):
    """Imports a command when it is asked for, and turns errors into exit codes.

    1 is left to the commands, for which it says `divergent`: no exception ends with it.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = _COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, _, name = target.partition(":")
        command = getattr(importlib.import_module(module), name)
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, each with its whole first sentence."""
        grouped = {name for names in _GROUPS.values() for name in names}
        others = tuple(name for name in _COMMANDS if name not in grouped)
        width = max(map(len, _COMMANDS))
        for heading, names in (*_GROUPS.items(), ("other", others)):
            found = [(name, self.get_command(ctx, name)) for name in names]
            rows = [
                (f"{name:<{width}}", command.get_short_help_str(_WHOLE))
                for name, command in found
                if command is not None
            ]
            if rows:
                with formatter.section(f"Commands, {heading}"):
                    formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; an unknown one gets the nearest names."""
        if args and not args[0].startswith("-") and args[0] not in _COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(args[0], _COMMANDS)
            listed = " or ".join(repr(name) for name in near)
            hint = f" Did you mean {listed}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
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


def _show(error: click.ClickException) -> None:
    """What click prints of wrong usage, wrapped as everything else."""
    from io import StringIO

    from harness.wrapping import say

    shown = StringIO()
    error.show(shown)
    say(shown.getvalue().rstrip("\n"), err=True)


def _say(problem: str) -> None:
    from harness.wrapping import say
    from services.redaction import told

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
        from harness.debug_log import log_debug

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
