"""The run that judges cases: its events are those of `parity run`, `sign` and `verify`."""

from __future__ import annotations

from collections.abc import Sequence

from harness.experiment.case import CaseOutcome, CaseTask, judge
from harness.experiment.events import Events
from harness.experiment.pool import WorkerDied, run_cases
from harness.parity.verdict import CaseResult
from harness.sides import baseline_folder

__all__ = ["judged_cases", "undecided"]


def judged_cases(tasks: Sequence[CaseTask], jobs: int) -> Events[CaseTask, CaseOutcome]:
    """Yield the events of `tasks`, which all have the same sides and number of runs."""
    if not tasks:
        return
    first = tasks[0]
    yield from run_cases(
        judge,
        tasks,
        died=undecided,
        jobs=jobs,
        backend=first.backend.repeated(first.repeat),
        runtimes=[s for s in (first.control, first.candidate) if baseline_folder(s) is None],
    )


def undecided(task: CaseTask, died: WorkerDied) -> CaseOutcome:
    """Return the outcome of a case whose worker died."""
    return CaseResult.undecided(task.name, died.why)
