"""How long a case took, beside what came of it: told, and never compared."""

from __future__ import annotations

from dataclasses import dataclass

from harness.experiment.case import CaseOutcome, CaseTask, judge

__all__ = ["Timed", "timed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """What came of a case, and how long that took; the time is no part of what came of it."""

    outcome: CaseOutcome
    took_ms: float


def timed(task: CaseTask) -> Timed:
    """`judge`, with the time it took where it was done, without any waiting for a worker."""
    begun = task.clock()
    outcome = judge(task)
    return Timed(outcome=outcome, took_ms=(task.clock() - begun) * 1000)
