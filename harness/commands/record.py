"""`parity record`: a cassette of a live run of `parity agent`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from harness.commands import checks, options
from harness.commands.agent import headless_options, run_options
from harness.errors import UsageError
from harness.live.recorder import Recorded, Recorder
from harness.live.requests import requests_file
from harness.output import stopping_at_broken_output
from harness.wrapping import say
from services.clock import SystemClock
from services.environment import Environment
from surfaces.headless.program import run_headless

__all__ = ["record"]

_INTERRUPTED = 130


@click.command()
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    type=options.FILE,
    help="The cassette to write, FAMILY/NAME.yaml; its folder and file name are its name.",
)
@click.option("--force", is_flag=True, help="Write over a cassette that is there already.")
@click.option("--no-files", is_flag=True, help="Leave the workspace's files out.")
@click.option(
    "--note", default="", metavar="TEXT", help="One line about it.  [default: the prompt]"
)
@run_options
@click.pass_context
def record(
    ctx: click.Context, /, out: Path, force: bool, no_files: bool, note: str, **given: Any
) -> int:
    """Run the agent as `parity agent` does, and keep a cassette.

    \b
    parity record --out my/first.yaml -p 'what is in this folder?'
    parity record --out my/edit.yaml -p 'fix the typo in a.txt' -y --runtime adk
    parity run my/first.yaml

    The cassette holds the files of the current folder as they were before, the settings, the
    prompt, and every answer and error of the model as it came, piece by piece. What the model was
    asked is beside it, in NAME.requests.jsonl, a line for each request.

    Keys and tokens are masked, those of the environment and whatever looks like one, also where the
    answer's pieces cut them; the paths of the folder and the home are replaced; HTTP headers and
    files such as .env are left out. Where a secret of the environment is spread so that no mask can
    cover it, nothing is written. Read a cassette before you share it.

    Ctrl-C ends the run; what was recorded so far is written. Where the API answers nothing (it
    cannot be reached, or refuses the key), nothing is written, and no folder is left behind.

    Exit codes: those of `parity agent`; 2 where the cassette cannot be, or is not, written.
    """  # noqa: D301 - click's mark for lines that stay as they are
    asked = headless_options(given)
    if out.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{out} is no name for a cassette", "name it FAMILY/NAME.yaml with --out")
    ctx.with_resource(_removing_empty(out.parent))
    for file in (out, requests_file(out)):
        if file.exists() and not force:
            raise UsageError(f"{file} is there already", "--force replaces it")
        checks.writable_file(file, "--out")
    recorder = Recorder(
        out,
        runtime=asked.runtime,
        variables=Environment.of_this_machine().variables,
        clock=SystemClock(),
        with_files=not no_files,
        note=note,
    )
    with stopping_at_broken_output():
        code = run_headless(
            asked, stdin=sys.stdin, out=sys.stdout, err=sys.stderr, witness=recorder
        )
    recorded = recorder.write(interrupted=code == _INTERRUPTED)
    if recorded is None:
        say(f"parity: {recorder.nothing}, so no cassette was written", err=True)
    else:
        _report(recorded)
    return code


@contextmanager
def _removing_empty(folder: Path) -> Iterator[None]:
    """Remove the folders that are made on the way to `folder`, where nothing is put into them."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        yield
    finally:
        for each in missing:
            with suppress(OSError):
                each.rmdir()


def _report(recorded: Recorded) -> None:
    for remark in recorded.remarks:
        say(f"parity: {remark}", err=True)
    cut = ", up to the interruption" if recorded.interrupted else ""
    trust = " --trust" if recorded.needs_trust else ""
    say(
        f"parity: recorded {recorded.steps} answers and {recorded.files} files{cut}: "
        f"{recorded.file} (requests: {recorded.requests.name})\n"
        f"parity: replay it with `parity run {recorded.file}{trust}`",
        err=True,
    )
