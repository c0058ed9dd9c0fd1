"""`parity agent`: one prompt through a runtime, for people and programs without a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from harness.output import stopping_at_broken_output

if TYPE_CHECKING:  # importing it costs what `parity --help` must not
    from surfaces.headless.options import HeadlessOptions

__all__ = ["agent", "headless_options", "run_options"]


Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS: Final = (
    click.option("-p", "--prompt", default="", help="What to ask; @path sends a file along."),
    click.option("--runtime", metavar="NAME", help="legacy or adk; else the settings decide."),
    click.option(
        "-o",
        "--output-format",
        "output",
        type=click.Choice(["text", "json", "stream-json"]),
        help="What standard output gets.  [default: text]",
    ),
    click.option(
        "-r", "--resume", metavar="WHICH", help="Go on with `latest`, a number, or an id."
    ),
    click.option("-m", "--model", metavar="MODEL", help="The model, or an alias of one."),
    click.option(
        "--approval-mode",
        type=click.Choice(["default", "auto_edit", "yolo", "plan"]),
        help="What tools may do unasked.",
    ),
    click.option("-y", "--yolo", is_flag=True, help="Short for --approval-mode yolo."),
    click.option(
        "--settings",
        "settings_file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Settings to use instead of the user's and the folder's.",
    ),
    click.option("--skip-trust", is_flag=True, help="Let the folder's own settings count."),
    click.option(
        "--fake-responses",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Answer from a file of recorded answers; needs no key.",
    ),
    click.option(
        "--record-responses",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Write what the model answers to a file.",
    ),
    click.option("--raw-output", is_flag=True, help="Let the model's terminal sequences through."),
    click.option("--accept-raw-output-risk", is_flag=True, help="The same, without the warning."),
    click.option(
        "--telemetry/--no-telemetry",
        default=None,
        help="Measure the run, or don't, whatever the settings say.",
    ),
    click.option(
        "--telemetry-outfile",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Append spans and metrics to a file, instead of sending them.",
    ),
)


def run_options(command: Command) -> Command:
    """What says how the agent runs; shared with whoever records it. Read by `headless_options`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def headless_options(given: Mapping[str, Any]) -> HeadlessOptions:
    """The options of `run_options`, as click gives them, for the surface.

    Raises:
        click.UsageError: they contradict each other.
    """
    from services.telemetry_settings import TelemetryOverrides
    from surfaces.headless.options import HeadlessOptions
    from surfaces.headless.presenters import OutputFormat

    if given["yolo"] and given["approval_mode"]:
        raise click.UsageError("--yolo and --approval-mode exclude each other; leave one out")
    output = given["output"]
    return HeadlessOptions(
        prompt=given["prompt"],
        runtime=given["runtime"],
        output=OutputFormat(output) if output else None,
        resume=given["resume"],
        model=given["model"],
        approval_mode="yolo" if given["yolo"] else given["approval_mode"],
        settings_file=given["settings_file"],
        skip_trust=given["skip_trust"],
        fake_responses=given["fake_responses"],
        record_responses=given["record_responses"],
        raw_output=given["raw_output"],
        accept_raw_output_risk=given["accept_raw_output_risk"],
        telemetry=TelemetryOverrides(
            enabled=given["telemetry"],
            outfile=str(given["telemetry_outfile"]) if given["telemetry_outfile"] else None,
        ),
    )


@click.command()
@run_options
@click.pass_context
def agent(ctx: click.Context, /, **given: Any) -> None:
    """Ask an agent to do something in the current folder.

    \b
    parity agent -p 'what is in this folder?'
    git diff | parity agent -p 'review this' -o json --runtime adk
    parity agent -p 'and the tests?' --resume latest -o stream-json

    The API is reached with GEMINI_API_KEY, Vertex AI's variables, or GOOGLE_GEMINI_BASE_URL.

    Exit codes: 0 done; 1 failed; 2 wrong usage; 41 no way to sign in; 42 unusable input; 52
    unusable settings; 53 the turns ran out; 54 a tool failed for good; 130 interrupted.
    """  # noqa: D301 - click's mark for lines that stay as they are
    from surfaces.headless.program import run_headless

    options = headless_options(given)
    with stopping_at_broken_output():
        code = run_headless(options, stdin=sys.stdin, out=sys.stdout, err=sys.stderr)
    ctx.exit(code)
