"""`parity record`: a cassette of a live run of `parity agent`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from harness.commands.agent import headless_options, opens_terminal
from harness.errors import UsageError
from harness.live.recorder import Recorded, Recorder
from harness.live.requests import requests_file
from harness.live.session_recorder import session_recorder
from harness.output import stopping_at_broken_output
from harness.whole_file import writable_file
from harness.wrapping import say
from services.clock import SystemClock
from services.environment import Environment
from surfaces.headless.program import run_headless
from surfaces.terminal.program import run_terminal

__all__ = ["record"]

_INTERRUPTED = 130


@click.pass_context
def record(
    ctx: click.Context, /, out: Path, force: bool, no_files: bool, note: str, **given: Any
) -> int:
    """Run `parity record`; return its exit code."""
    asked = headless_options(given)
    if out.suffix not in (".yaml", ".yml"):
        raise UsageError(
            f"{out} is not a name for a cassette", "name it FAMILY/NAME.yaml with --out"
        )
    ctx.with_resource(_removing_empty(out.parent))
    for file in (out, requests_file(out)):
        if file.exists() and not force:
            raise UsageError(f"{file} already exists", "--force replaces it")
        writable_file(file, "--out")
    recorder: Recorder
    if opens_terminal(asked):
        recorder = session = session_recorder(
            out, runtime=asked.runtime, with_files=not no_files, note=note
        )
        code = run_terminal(asked, out=sys.stdout, err=sys.stderr, witness=lambda: session)
        recorded = recorder.write(interrupted=False)
    else:
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
