"""`parity agent`: one prompt through a runtime, for people and programs without a terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

__all__ = ["agent"]


@click.command()
@click.option("-p", "--prompt", default="", help="What to ask; comes after what is piped in.")
@click.option("--runtime", metavar="NAME", help="legacy or adk; else the settings' flags decide.")
@click.option(
    "-o",
    "--output-format",
    "output",
    type=click.Choice(["text", "json", "stream-json"]),
    help="What standard output gets.  [default: text]",
)
@click.option("-r", "--resume", metavar="WHICH", help="Go on with `latest`, a number, or an id.")
@click.option("-m", "--model", metavar="MODEL", help="The model, or an alias of one.")
@click.option(
    "--approval-mode",
    type=click.Choice(["default", "auto_edit", "yolo", "plan"]),
    help="What tools may do unasked.",
)
@click.option("-y", "--yolo", is_flag=True, help="Short for --approval-mode yolo.")
@click.option(
    "--settings",
    "settings_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Settings to use instead of the user's and the folder's.",
)
@click.option("--skip-trust", is_flag=True, help="Let the folder's own settings count.")
@click.option(
    "--fake-responses",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Answer from a file of recorded answers; needs no key.",
)
@click.option(
    "--record-responses",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write what the model answers to a file.",
)
@click.option("--raw-output", is_flag=True, help="Let the model's terminal sequences through.")
@click.option("--accept-raw-output-risk", is_flag=True, help="The same, without the warning.")
@click.pass_context
def agent(
    ctx: click.Context,
    prompt: str,
    runtime: str | None,
    output: str | None,
    resume: str | None,
    model: str | None,
    approval_mode: str | None,
    yolo: bool,
    settings_file: Path | None,
    skip_trust: bool,
    fake_responses: Path | None,
    record_responses: Path | None,
    raw_output: bool,
    accept_raw_output_risk: bool,
) -> None:
    """Ask an agent to do something in the current folder, and print what it says.

    \b
    parity agent -p 'what is in this folder?'
    git diff | parity agent -p 'review this' -o json --runtime adk
    parity agent -p 'and the tests?' --resume latest -o stream-json

    The API is reached with GEMINI_API_KEY, Vertex AI's variables, or GOOGLE_GEMINI_BASE_URL.

    Exit codes: 0 done; 1 failed; 2 wrong usage; 41 no way to sign in; 42 unusable input; 52
    unusable settings; 53 the turns ran out; 54 a tool failed for good; 130 interrupted.
    """  # noqa: D301 - click's mark for lines that stay as they are
    from surfaces.headless.options import HeadlessOptions
    from surfaces.headless.presenters import OutputFormat
    from surfaces.headless.program import run_headless

    if yolo and approval_mode:
        raise click.UsageError("--yolo and --approval-mode exclude each other; leave one out")
    options = HeadlessOptions(
        prompt=prompt,
        runtime=runtime,
        output=OutputFormat(output) if output else None,
        resume=resume,
        model=model,
        approval_mode="yolo" if yolo else approval_mode,
        settings_file=settings_file,
        skip_trust=skip_trust,
        fake_responses=fake_responses,
        record_responses=record_responses,
        raw_output=raw_output,
        accept_raw_output_risk=accept_raw_output_risk,
    )
    code = run_headless(options, stdin=sys.stdin, out=sys.stdout, err=sys.stderr)
    _let_go_of_closed_output()
    ctx.exit(code)


def _let_go_of_closed_output() -> None:
    """Python writes what is left at its end, and complains where nobody reads it any more."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
