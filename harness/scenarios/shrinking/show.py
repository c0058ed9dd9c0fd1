"""Shows a shrinking: progress on standard error, and the result."""

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


@contextmanager
def shrink_progress(stream: TextIO) -> Iterator[Callable[[ShrinkProgress], None]]:
    """A line on `stream` that follows each try, if that is a terminal."""
    if not stream.isatty():
        yield lambda progress: None
        return
    words = TextColumn("{task.description}", table_column=Column(no_wrap=True, ratio=1))
    console = Console(file=stream)
    with Progress(SpinnerColumn(), words, console=console, transient=True, expand=True) as bar:
        task = bar.add_task("begun", total=None)

        def follow(progress: ShrinkProgress) -> None:
            line = f"{progress.tries} tries: {progress.size}; {progress.stage}"
            bar.update(task, description=escape(line))

        yield follow


def shrunk_lines(start: Trial, best: Trial, shrunk: Shrunk | None, limit: str) -> list[str]:
    """The result as lines: the sizes before and after.

    Args:
        start: The scenario before.
        best: The smallest.
        shrunk: The outcome; `None` if it was interrupted.
        limit: The time limit, formatted.
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
