"""The options and arguments that several commands share, for use as `@options.jobs`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from harness.command_line.deferred import deferred
from harness.experiment.limits import LIMITS_VARIABLE, Limits
from harness.sides import PROVIDERS, SURFACES

__all__ = [
    "FILE",
    "FOLDER",
    "PLACE",
    "adk_plugin_option",
    "as_of",
    "candidate",
    "control",
    "duration",
    "duration_or_none",
    "evidence",
    "expect_head",
    "gates",
    "jobs",
    "key_options",
    "limits",
    "passphrase_options",
    "paths",
    "phase",
    "phase_of_gates",
    "phase_required",
    "policy_from",
    "profile",
    "provider",
    "select",
    "shard",
    "side",
    "signoffs",
    "surface",
    "trust",
    "verbose",
    "waivers",
]

_MOST_SHARDS: Final = 1000
_PLUGIN: Final = re.compile(r"\w+(\.\w+)*:\w+(\.\w+)*")
_UNITS: Final = {"h": 3600, "m": 60, "s": 1}
_WHOLE: Final = re.compile(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s?)?")


def duration(asked: str, *, allow_zero: bool = False) -> float:
    """Seconds, from hours, minutes and seconds; a bare number counts seconds. An option's type.

    Raises:
        click.BadParameter: it is none, or it is 0 and that is not allowed.
    """
    match = _WHOLE.fullmatch(asked.strip().lower())
    if match is None or not match[0]:
        raise click.BadParameter(f"{asked!r} is no duration; write it like 90s, 10m or 1h30m")
    seconds = sum(
        int(digits) * unit
        for digits, unit in zip(match.groups(), _UNITS.values(), strict=True)
        if digits
    )
    if seconds == 0 and not allow_zero:
        raise click.BadParameter(f"{asked!r} is no time at all; write it like 90s, 10m or 1h30m")
    return float(seconds)


def duration_or_none(asked: str) -> float:
    """As `duration`, or 0."""
    return duration(asked, allow_zero=True)


def shard(asked: str) -> str:
    """`I/N`, the I-th of N parts counted from 1, without leading zeros: the type of an option.

    Raises:
        click.BadParameter: it is no such part.
    """
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", asked, re.ASCII)
    if match is None:
        raise click.BadParameter(f"{asked!r} is no part of a corpus; write it as 2/3")
    number, count = int(match[1]), int(match[2])
    if not 1 <= number <= count <= _MOST_SHARDS:
        raise click.BadParameter(f"{asked!r}: parts count from 1 to at most {_MOST_SHARDS}")
    return f"{number}/{count}"


Command = TypeVar("Command", bound=Callable[..., Any])

FILE: Final = click.Path(path_type=Path, dir_okay=False)
FOLDER: Final = click.Path(path_type=Path, file_okay=False)
PLACE: Final = click.Path(path_type=Path)
"""A file or a folder."""


def _limits(asked: str | Limits) -> Limits:
    """The limits that are given, and the defaults of the others."""
    try:
        return asked if isinstance(asked, Limits) else Limits.parse(asked)
    except ValueError as error:
        raise click.BadParameter(f"{error}; write it as {Limits()}") from error


side = deferred("harness.commands.naming:side")
"""The type of a side of a comparison."""

control = click.option(
    "--control",
    type=side,
    default="legacy",
    show_default=True,
    help="The control: the runtime that is taken to be right.",
)

candidate = click.option(
    "--candidate",
    type=side,
    default="adk",
    show_default=True,
    help="The candidate: the runtime that is judged.",
)

paths = click.argument("paths", nargs=-1, type=deferred("harness.commands.naming:cassette_place"))

select = click.option(
    "-k",
    "expr",
    metavar="EXPR",
    help="Only cassettes whose names match: words with and, or, not and parentheses.",
)

jobs = click.option(
    "-n",
    "--jobs",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Worker processes; 0 for one per core. Results do not depend on it.",
)

limits = click.option(
    "--limits",
    type=_limits,
    metavar="LIMITS",
    envvar=LIMITS_VARIABLE,
    default=Limits(),
    help="End a case that uses more: seconds of CPU time and of wall time, MiB of memory that it "
    f"grows by. Default: ${LIMITS_VARIABLE}, else {Limits()}.",
)

trust = click.option(
    "--trust",
    is_flag=True,
    help="Run cassettes that start processes (shell commands, hooks, servers) from anywhere.",
)

verbose = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Also list what is not counted: by rule, waiver, remark and behaviour.",
)

profile = click.option(
    "--profile",
    type=click.Choice(["pull_request", "release"]),
    default="release",
    show_default=True,
    help="The requirements: pull_request (minutes, in CI) or release (a nightly run).",
)

_PHASES: Final = click.Choice(["A", "B", "C"])

phase = click.option("--phase", type=_PHASES, help="Only this rollout phase.")

_OF_GATES: Final = "A phase of the gates: A, B, C, or one of the project."

phase_required = click.option("--phase", required=True, metavar="PHASE", help=_OF_GATES)

phase_of_gates = click.option("--phase", metavar="PHASE", help=_OF_GATES)

waivers = click.option(
    "--waivers",
    "waivers_file",
    type=FILE,
    help="Accepted differences.  [default: parity_tests/waivers.toml, if it exists]",
)

evidence = click.option(
    "--journal",
    "places",
    type=PLACE,
    multiple=True,
    default=(Path("parity-report"),),
    show_default=True,
    metavar="PLACE",
    help="A journal, kill matrix or summary of a generated run, or a folder of them; repeatable.",
)

as_of = click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Judge waivers and ages as of this day instead of today (UTC).",
)

gates = click.option(
    "--gates",
    "gates_file",
    type=FILE,
    help="Requirements and trusted keys.  [default: parity_tests/gates.toml, if it exists]",
)

expect_head = click.option(
    "--expect-head",
    metavar="DIGEST",
    help="SHA-256 of the newest record's file, or at least its first 8 digits.",
)

policy_from = click.option(
    "--policy-from",
    metavar="REV",
    help="Judge by the gates and waivers of this revision, and list what changed since.",
)


def signoffs(default: str = "./signoffs") -> Callable[[Command], Command]:
    """`--signoffs DIR`; `default` says in words where records are looked for without it."""
    return click.option(
        "--signoffs",
        type=FOLDER,
        metavar="DIR",
        help=f"The folder of records.  [default: {default}]",
    )


def passphrase_options(command: Command) -> Command:
    """`--passphrase-file`, `--passphrase-fd`."""
    command = click.option(
        "--passphrase-fd",
        type=click.IntRange(min=0),
        metavar="N",
        help="Read the passphrase from this open file descriptor.",
    )(command)
    return click.option(
        "--passphrase-file",
        type=FILE,
        metavar="FILE",
        help="Read the passphrase from this file.",
    )(command)


def key_options(command: Command) -> Command:
    """`--key`, `--key-fd` and where the passphrase comes from."""
    command = passphrase_options(command)
    command = click.option(
        "--key-fd",
        type=click.IntRange(min=0),
        metavar="N",
        help="Read the private key from this open file descriptor.",
    )(command)
    return click.option(
        "--key",
        "key_file",
        type=FILE,
        metavar="FILE",
        help="The private key from `parity keygen`.",
    )(command)


def _plugins(
    ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    for name in given:
        if not _PLUGIN.fullmatch(name):
            problem = f"{name!r} names no plugin; write it as package.module:attribute"
            raise click.BadParameter(problem, ctx, parameter)
    return given


def adk_plugin_option(words: str) -> Callable[[Command], Command]:
    """`--adk-plugin package.module:attribute`, any number of times."""
    return click.option(
        "--adk-plugin",
        "adk_plugins",
        metavar="MODULE:NAME",
        multiple=True,
        callback=_plugins,
        help=words,
    )


provider = click.option(
    "--provider",
    type=click.Choice(PROVIDERS),
    help="Play the cassettes over this provider's SDK and wire format; both sides, unless a side "
    "names one.",
)

surface = click.option(
    "--surface",
    type=click.Choice(SURFACES),
    help="Play the cassettes through this user interface; both sides, unless a side names one.",
)
