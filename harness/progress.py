"""The progress of a long command: one live line on a terminal, a line at times in a log.

A log gets a line every ten seconds or every twentieth of the work, whichever comes first: none in
the first ten seconds, so that a short run's log stays short, and at most one a second.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, Self, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column
from rich.text import Text

from harness.canonical import printable

__all__ = ["Pace", "ProgressLine", "in_words", "so_far"]

_BAR_WIDTH: Final = 20

_EVERY_S: Final = 10.0
"""Seconds after which a log gets a line, however little is done."""
_SHARE: Final = 0.05
"""Part of the work after which it gets one, however soon."""
_LEAST_S: Final = 1.0
"""Seconds between two lines."""
_UNITS: Final = {"h": 3600, "m": 60, "s": 1}


class Pace:
    """Says when a line of progress is due in a log.

    Args:
        clock: Seconds from anywhere; only differences matter.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begun = self._last = clock()
        self._share = 0.0

    @property
    def elapsed_s(self) -> float:
        """Seconds since it was made."""
        return self._clock() - self._begun

    def due(self, share: float) -> bool:
        """Whether a line is due; if so, the next one counts from here.

        Args:
            share: The part of the work that is done, from 0 to 1.
        """
        now = self._clock()
        if now - self._begun < _EVERY_S:
            return False
        quiet_s = now - self._last
        # Of the last case the report says more.
        far = share - self._share + 1e-9 >= _SHARE and quiet_s >= _LEAST_S and share < 1
        if quiet_s < _EVERY_S and not far:
            return False
        self._last, self._share = now, share
        return True


class ProgressLine(ABC):
    """Shows how far some work is. Use as a context manager.

    Args:
        stream: Standard error, as a rule.
        clock: Real seconds; only differences matter.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.perf_counter) -> None:
        self._stream = stream
        self._pace = Pace(clock)
        self._stage = ""
        self._bar: Progress | None = None
        if stream.isatty():
            column = Column(no_wrap=True, ratio=1)
            columns = (
                BarColumn(_BAR_WIDTH),
                TextColumn("{task.description}", table_column=column),
            )
            console = Console(file=stream, highlight=False)
            self._bar = Progress(*columns, console=console, transient=True, expand=True)
            self._task = self._bar.add_task("", total=1.0)

    @property
    @abstractmethod
    def _share(self) -> float:
        """The part of the work that is done, from 0 to 1."""

    @property
    @abstractmethod
    def _words(self) -> str:
        """How far the work is, on one line."""

    @property
    def time(self) -> str:
        """The time that has passed, and an estimate of what remains."""
        return so_far(self._pace.elapsed_s, self._share)

    @property
    def _live(self) -> str:
        """What the live line of a terminal says."""
        return self._stage or self._words

    def update(self) -> None:
        """Draw the line anew, or write one to the log where that is due."""
        if self._bar is not None:
            words = escape(printable(self._live))
            self._bar.update(self._task, completed=self._share, description=words)
        elif self._pace.due(self._share):
            self._write(self._words)

    def say(self, words: str, style: str = "") -> None:
        """Write a line of its own, above the live line or to the log."""
        if self._bar is not None:
            self._bar.console.print(Text(printable(words), style=style), soft_wrap=True)
        else:
            self._write(words)

    def stage(self, words: str) -> None:
        """Name what the work does from here on, of which no share is known; "" ends the stage."""
        self._stage = words
        if self._bar is not None:
            self._bar.update(self._task, total=None if words else 1.0)
            self.update()
        elif words:
            self._write(words)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.end()

    def end(self) -> None:
        """Remove the live line; does nothing the second time."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _write(self, words: str) -> None:
        print(printable(words), file=self._stream, flush=True)


def so_far(elapsed_s: float, share: float) -> str:
    """The time that has passed, and an estimate of what remains: `2m10s, about 4m left`.

    Args:
        elapsed_s: Seconds since the work began.
        share: The part of it that is done since then, from 0 to 1.
    """
    words = in_words(elapsed_s)
    if not 0 < share < 1:
        return words
    left_s = elapsed_s / share - elapsed_s
    return f"{words}, about {in_words(max(left_s, 1))} left"


def in_words(seconds: float) -> str:
    """A duration as it would be written on the command line: `1h30m`, `42s`."""
    left = round(seconds)
    words = ""
    for unit, worth in _UNITS.items():
        count, left = divmod(left, worth)
        words += f"{count}{unit}" if count else ""
    return words or "0s"
