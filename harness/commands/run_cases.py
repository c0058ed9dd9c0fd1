"""The cases of a run, judged one after the other, each written down as it comes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.commands.case_tasks import case_tasks
from harness.commands.run_plan import RunPlan

if TYPE_CHECKING:  # importing these costs what `parity --help` must not
    from harness.cassette.find import CassetteFile
    from harness.errors import LoadProblem
    from harness.experiment.backend import Backend
    from harness.experiment.case import CaseOutcome, CaseTask
    from harness.parity.verdict import CaseResult
    from harness.report.journal import Journal, JournalRecord
    from harness.report.terminal import CaseProgress

__all__ = ["Tally", "judge_all"]


@dataclass(slots=True)
class Tally:
    """What came of a run so far, by cassette."""

    results: dict[str, CaseResult] = field(default_factory=dict)
    problems: dict[str, LoadProblem] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    interrupted: bool = False
    took_ms: dict[str, float] = field(default_factory=dict)

    @classmethod
    def after(cls, record: JournalRecord | None) -> Tally:
        """What a journal says that is gone on with."""
        if record is None:
            return cls()
        return cls(
            dict(record.finished),
            dict(record.problems),
            set(record.skipped),
            took_ms=dict(record.took_ms),
        )

    def has(self, name: str) -> bool:
        """Whether anything came of that case."""
        return name in self.results or name in self.problems or name in self.skipped


def judge_all(
    plan: RunPlan,
    backend: Backend,
    files: Sequence[CassetteFile],
    tally: Tally,
    journal: Journal | None,
    bar: CaseProgress,
) -> None:
    """Judge `files`; `tally` has the results, however this is left."""
    from harness.errors import LoadProblem
    from harness.experiment.case import Skipped
    from harness.experiment.pool import WorkerDied, completed
    from harness.experiment.timed import Timed, timed
    from harness.parity.verdict import CaseResult
    from harness.sides import baseline_folder

    def started(task: CaseTask) -> None:
        if journal is not None:
            journal.started(task.name)

    def take(name: str, outcome: CaseOutcome, took_ms: float | None) -> None:
        match outcome:
            case Skipped():
                tally.skipped.add(name)
                if journal is not None:
                    journal.skipped(name)
            case LoadProblem():
                tally.problems[name] = outcome
                if journal is not None:
                    journal.refused(name, outcome)
            case CaseResult():
                tally.results[name] = outcome
                if took_ms is not None:
                    tally.took_ms[name] = took_ms
                if journal is not None:
                    journal.closed(outcome, took_ms, name)
                bar.done(name, outcome.verdict)

    outcomes = completed(
        timed,
        _tasks(plan, backend, files),
        jobs=plan.jobs,
        backend=backend.repeated(plan.repeat),
        runtimes=[s for s in (plan.control, plan.candidate) if baseline_folder(s) is None],
        started=started,
    )
    with closing(outcomes):
        for task, done in outcomes:
            if isinstance(done, WorkerDied):
                take(task.name, CaseResult.undecided(task.name, str(done)), None)
            else:
                assert isinstance(done, Timed)
                take(task.name, done.outcome, done.took_ms)


def _tasks(plan: RunPlan, backend: Backend, files: Sequence[CassetteFile]) -> list[CaseTask]:
    from harness.config import default_contract
    from harness.coverage.contract import load_contract

    contract = default_contract()
    load_contract(contract)  # a broken one is told before anything runs
    return case_tasks(
        files,
        backend,
        control=plan.control,
        candidate=plan.candidate,
        trust=plan.trust,
        repeat=plan.repeat,
        phase=plan.phase,
        contract=contract,
    )
