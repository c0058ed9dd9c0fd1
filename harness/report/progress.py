"""How far a run over many cases is, and how its cases came out so far."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any, TextIO

from harness.experiment.events import CaseFinished, Event, RunFinished, RunStarted, Waiting
from harness.parity.verdict import CaseVerdict
from harness.progress import ProgressLine

__all__ = ["CaseProgress"]


class CaseProgress(ProgressLine):
    """A listener that shows a run over cases. Use as a context manager.

    Args:
        stream: Standard error, as a rule.
        verdict: The verdict of a finished case; `None` where there is none. Without it no verdicts
            are counted.
        clock: Real seconds; only differences matter.
    """

    def __init__(
        self,
        stream: TextIO,
        verdict: Callable[[str, Any], CaseVerdict | None] = lambda name, result: None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__(stream, clock)
        self._verdict = verdict
        self._total = self._done = 0
        self._verdicts: Counter[CaseVerdict | None] = Counter()
        self._last = ""

    def __call__(self, event: Event[Any, Any]) -> None:
        """Take in one event."""
        match event:
            case RunStarted(total):
                self._total = total or 0
            case CaseFinished(task, result):
                self._done += 1
                self._last = task.name
                self._verdicts[self._verdict(task.name, result)] += 1
                self.update()
            case Waiting():
                self.update()
            case RunFinished():
                self.end()
            case _:
                pass

    @property
    def _share(self) -> float:
        return self._done / self._total if self._total else 1.0

    @property
    def _words(self) -> str:
        bad = [each for each in CaseVerdict if each is not CaseVerdict.PARITY]
        failures = [f"{self._verdicts[each]} {each.value}" for each in bad if self._verdicts[each]]
        done = f"{self._done} of {self._total} cases ({self._share:.0%}) after {self.time}"
        return "; ".join(filter(None, [done, ", ".join(failures)]))

    @property
    def _live(self) -> str:
        return f"{self._words}; {self._last}" if self._last else self._words
