"""What the commands that end with a run's report share: its options, its files, its exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from harness.commands import checks, options
from harness.errors import UsageError
from harness.gate.page import gates_beside
from harness.report.model import RunReport, exit_code
from harness.report.terminal import show
from harness.report.written import GITHUB, STEP_SUMMARY, WRITERS, write_report
from harness.wrapping import say

__all__ = ["ReportWanted", "deliver", "report_options", "report_wanted"]

_PAGE: Final = "html_folder"

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportWanted:
    """What the command line says of the report."""

    places: Mapping[str, Path] = field(default_factory=dict)
    """The options of `harness.report.written` that were given, with where each writes to."""
    durations: int = 0
    """How many of the slowest cases are listed."""
    verbose: bool = False


def report_options(command: Command) -> Command:
    """`-v`, `--durations N`, and where the report can be written to: read by `report_wanted`."""
    words = "Annotate, and add the Markdown to $GITHUB_STEP_SUMMARY where that is set."
    command = click.option("--github", GITHUB, is_flag=True, help=words)(command)
    for writer in reversed(WRITERS):
        kind = click.Path(path_type=Path, dir_okay=writer.index is not None)
        option = click.option(writer.option, writer.parameter, type=kind, help=writer.help)
        command = option(command)
    words = "List the N slowest cases; with --json, how long each case took."
    durations = click.option(
        "--durations", type=click.IntRange(min=0), default=0, metavar="N", help=words
    )
    return options.verbose(durations(command))


def report_wanted(asked: dict[str, Any]) -> ReportWanted:
    """Take what `report_options` added out of a command's parameters.

    Raises:
        UsageError: a place cannot be written to, found out before there is a report.
    """
    places: dict[str, Path] = {}
    if asked.pop(GITHUB):
        summary = os.environ.get(STEP_SUMMARY)
        if summary:
            checks.writable_file(Path(summary), STEP_SUMMARY)
        places[GITHUB] = Path(summary or os.devnull)
    for writer in WRITERS:
        place: Path | None = asked.pop(writer.parameter)
        if place is None:
            continue
        if writer.index is not None:
            checks.writable_folder(place, writer.option)
        if str(place) == "-":
            where = "standard output: the terminal's report goes there"
            raise UsageError(f"{writer.option} cannot go to {where}", "name a file")
        checks.writable_file(writer.file(place), writer.option)
        places[writer.parameter] = place
    return ReportWanted(
        places=places, durations=asked.pop("durations"), verbose=asked.pop("verbose")
    )


def deliver(report: RunReport, wanted: ReportWanted, *, also: Path | None = None) -> int:
    """Write the report to its files and to standard output; return the exit code.

    A page shows the answers of a gate that lie in its folder, where `parity measure` leaves them.

    Args:
        report: The report.
        wanted: What the command line says of it.
        also: Another file that the command has written.

    Raises:
        UsageError: a file cannot be written.
    """
    report = replace(report, durations=wanted.durations)
    if _PAGE in wanted.places:
        components = {} if report.header is None else report.header.components
        report = replace(report, gates=gates_beside(wanted.places[_PAGE], components))
    written = write_report(report, wanted.places)
    written += [] if also is None else [also]
    show(report, sys.stdout, verbose=wanted.verbose)
    if written:
        say(f"written: {', '.join(map(str, written))}")
    return int(exit_code(report))
