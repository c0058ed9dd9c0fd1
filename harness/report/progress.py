"""How far a run over many cases is: a live line on a terminal, a line at times in a log."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from harness.canonical import printable
from harness.parity.verdict import CaseVerdict
from harness.progress import Pace, so_far

__all__ = ["CaseProgress", "progress"]

_BAR_WIDTH = 20


class CaseProgress(Protocol):
    """Follows a run over many cases."""

    def done(self, cassette: str, verdict: CaseVerdict | None) -> None:
        """A case is finished; without a verdict where it was skipped or could not be loaded."""
        ...

    def waiting(self) -> None:
        """Nothing has finished for some seconds."""
        ...


class _Count:
    """How many cases are finished, and how."""

    def __init__(self, total: int, clock: Callable[[], float]) -> None:
        self.pace = Pace(clock)
        self.total = total
        self.done = 0
        self._verdicts: Counter[CaseVerdict] = Counter()

    def add(self, verdict: CaseVerdict | None) -> None:
        self.done += 1
        if verdict is not None:
            self._verdicts[verdict] += 1

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 1.0

    @property
    def time(self) -> str:
        return so_far(self.pace.elapsed_s, self.share)

    @property
    def failures(self) -> str:
        """`2 divergent, 1 inconclusive`; empty where every case is parity so far."""
        bad = [each for each in CaseVerdict if each is not CaseVerdict.PARITY]
        return ", ".join(
            f"{self._verdicts[each]} {each.value}" for each in bad if self._verdicts[each]
        )


class _Lines:
    """A line at times, for logs."""

    def __init__(self, count: _Count, stream: TextIO) -> None:
        self._count = count
        self._stream = stream

    def done(self, cassette: str, verdict: CaseVerdict | None) -> None:
        self._count.add(verdict)
        self.waiting()

    def waiting(self) -> None:
        count = self._count
        if not count.pace.due(count.share):
            return
        words = f"{count.done} of {count.total} cases ({count.share:.0%}) after {count.time}"
        print("; ".join(filter(None, [words, count.failures])), file=self._stream, flush=True)


class _TimeColumn(ProgressColumn):
    """Elapsed time, the estimate, and the failures so far; they move on while a case runs."""

    def __init__(self, count: _Count) -> None:
        super().__init__(Column(no_wrap=True))
        self._count = count

    def render(self, task: Task) -> Text:
        words = Text(self._count.time)
        if self._count.failures:
            words.append(f"; {self._count.failures}", style="red")
        return words


class _Bar:
    def __init__(self, count: _Count, bar: Progress) -> None:
        self._count = count
        self._bar = bar
        self._task = bar.add_task("", total=count.total)

    def done(self, cassette: str, verdict: CaseVerdict | None) -> None:
        self._count.add(verdict)
        self._bar.update(self._task, advance=1, description=escape(printable(cassette)))

    def waiting(self) -> None:
        """The live line moves by itself."""


@contextmanager
def progress(
    total: int, stream: TextIO, clock: Callable[[], float] = time.perf_counter
) -> Iterator[CaseProgress]:
    """Progress on `stream`: a live line where that is a terminal, else a line at times.

    Args:
        total: How many cases there are.
        stream: Standard error, as a rule.
        clock: Real seconds; only differences matter.
    """
    count = _Count(total, clock)
    if not stream.isatty():
        yield _Lines(count, stream)
        return
    last = TextColumn("{task.description}", style="dim", table_column=Column(no_wrap=True, ratio=1))
    columns = (BarColumn(_BAR_WIDTH), MofNCompleteColumn(), _TimeColumn(count), last)
    with Progress(*columns, console=Console(file=stream), transient=True, expand=True) as bar:
        yield _Bar(count, bar)
