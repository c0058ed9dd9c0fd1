"""The listeners that an option adds to a run; `harness.report.listening` says what they are.

To add a listener, write its module and add its row here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import click

from harness.command_line import options
from harness.command_line.deferred import deferred

__all__ = ["LISTENERS", "ListenerOption", "report_options"]

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ListenerOption:
    """An option of `run`, `merge` and `report`, and the listener that it adds."""

    option: str
    """As on the command line: `--json`."""
    listener: Callable[..., Any]
    """Makes the listener of the option's value and of the run's `Settled`."""
    help: str
    type: Any = options.FILE
    """The type of the option's value; `BOOL` is a flag."""

    @property
    def parameter(self) -> str:
        """The name of the option's value in a command's parameters: `json_listener`."""
        return f"{self.option.removeprefix('--').replace('-', '_')}_listener"


LISTENERS: Final = (
    ListenerOption(
        "--html",
        deferred("harness.report.html:HtmlListener"),
        "Write the report as index.html in this folder.",
        options.PLACE,
    ),
    ListenerOption(
        "--json",
        deferred("harness.report.json_report:json_listener"),
        "Write the report as JSON.",
    ),
    ListenerOption(
        "--junit",
        deferred("harness.report.junit:junit_listener"),
        "Write the report as JUnit XML.",
    ),
    ListenerOption(
        "--summary",
        deferred("harness.report.summary:summary_listener"),
        "Write the report as Markdown, for a comment on a pull request.",
    ),
    ListenerOption(
        "--github",
        deferred("harness.report.annotations:GitHubListener"),
        "Write GitHub annotations, and add the Markdown to $GITHUB_STEP_SUMMARY if it is set.",
        click.BOOL,
    ),
)
"""In the order in which they receive each event."""


def report_options(command: Command) -> Command:
    """`-v`, `--durations N`, and the options of `LISTENERS`."""
    for row in reversed(LISTENERS):
        flag = row.type is click.BOOL
        option = click.option(row.option, row.parameter, type=row.type, is_flag=flag, help=row.help)
        command = option(command)
    durations = click.option(
        "--durations",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="List the N slowest cases; with --json, how long each case took.",
    )
    return options.verbose(durations(command))
