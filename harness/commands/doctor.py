"""`parity doctor`: what runtimes can do, and what a comparison with them cannot find."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import click

from harness.cassette.find import CassetteFile, find_cassettes
from harness.commands import checks
from harness.config import default_corpora
from harness.doctor.checks import Outcome
from harness.doctor.examining import examined
from harness.doctor.power import found_by_traits
from harness.doctor.show import examined_json, show_examined
from harness.errors import UsageError
from harness.experiment.limits import Limits
from harness.report.progress import CaseProgress
from harness.sides import USUAL
from harness.whole_file import writable_file, write_json
from harness.wording import counted
from harness.wrapping import say
from runtimes.registry import runtime_traits
from services.wire import JsonObject

__all__ = ["doctor"]

_BROKEN = 1
_UNUSABLE = 2
_INTERRUPTED = 130


@click.pass_context
def doctor(
    ctx: click.Context,
    runtimes: tuple[str, ...],
    jobs: int,
    limits: Limits,
    json_file: Path | None,
) -> int:
    """Run `parity doctor`; return its exit code."""
    writable_file(json_file, "--json")
    backend = checks.backend_of(ctx, limits)
    corpus = _corpus()
    codes, documents = [0], list[JsonObject]()
    try:
        for name in dict.fromkeys(runtimes or USUAL):
            try:
                checks.runtimes(backend, name)
            except UsageError as error:
                say(f"{name}: {error}", err=True)
                codes.append(_UNUSABLE)
                continue
            with CaseProgress(sys.stderr) as progress:
                seen = examined(name, backend, checks.worker_count(jobs), progress)
            more = found_by_traits(runtime_traits(name), corpus)
            show_examined(seen, more, sys.stdout)
            counts = Counter(each.outcome for each in (*seen.found, *more))
            broken = counts[Outcome.BROKEN]
            say(
                f"{name}: {counted(counts[Outcome.WORKS], 'check')} passed, "
                f"{counts[Outcome.LACKS]} lacking, {broken} broken"
            )
            codes.append(_BROKEN if broken else 0)
            documents.append(examined_json(seen, more))
    except KeyboardInterrupt:
        say("interrupted", err=True)
        return _INTERRUPTED
    if json_file is not None:
        write_json(json_file, {"format": 1, "runtimes": documents})
    return max(codes)


def _corpus() -> list[CassetteFile]:
    """Return the cassettes of this folder; none where there are none."""
    try:
        return list(find_cassettes(default_corpora()))
    except UsageError:
        return []
