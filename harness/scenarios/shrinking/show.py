"""What a person sees while a cassette is made small: progress on standard error, and the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn
from rich.table import Column

from harness.scenarios.shrinking.shrinker import Progress as ShrinkProgress
from harness.scenarios.shrinking.shrinker import Shrunk
from harness.scenarios.shrinking.sizes import content_digest, size_of
from harness.scenarios.trial import Trial

__all__ = ["shrink_progress", "shrunk_lines"]


def _silent(progress: ShrinkProgress) -> None:
    return


@contextmanager
def shrink_progress(stream: TextIO) -> Iterator[Callable[[ShrinkProgress], None]]:
    """A line on `stream` that follows each try where that is a terminal; otherwise nothing."""
    if not stream.isatty():
        yield _silent
        return
    words = TextColumn("{task.description}", table_column=Column(no_wrap=True, ratio=1))
    console = Console(file=stream)
    with Progress(SpinnerColumn(), words, console=console, transient=True, expand=True) as bar:
        task = bar.add_task("begun", total=None)

        def follow(progress: ShrinkProgress) -> None:
            told = f"{progress.tries} tries: {progress.size}; {progress.stage}"
            bar.update(task, description=escape(told))

        yield follow


def shrunk_lines(start: Trial, best: Trial, shrunk: Shrunk | None, limit: str) -> list[str]:
    """What came of it, from what to what.

    Args:
        start: What it began with.
        best: The smallest.
        shrunk: How it ended; `None` where it was interrupted.
        limit: How long it could have taken, in words.
    """
    before, after = size_of(start.document), size_of(best.document)
    if shrunk is None:
        return [f"before: {before}", f"after:  {after} (interrupted)"]
    tries = f"{shrunk.tries} {'try' if shrunk.tries == 1 else 'tries'}"
    lines = [f"before: {before}", f"after:  {after} ({tries})"]
    if not shrunk.finished:
        lines[1] = f"after:  {after} ({tries}; time was up after {limit})"
    elif content_digest(start.document) == content_digest(best.document):
        lines = [f"it is as small as it gets: {after} ({tries})"]
    if shrunk.flaky:
        lines.append("the difference comes and goes: this one showed it more than once")
    return lines
