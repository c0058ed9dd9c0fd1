"""The cases of a run, judged one after the other, each written down as it comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

from harness.cassette.find import CassetteFile
from harness.commands.case_tasks import case_tasks
from harness.commands.run_plan import RunPlan
from harness.config import default_contract
from harness.coverage.contract import load_contract
from harness.errors import LoadProblem
from harness.experiment.backend import Backend
from harness.experiment.case import CaseOutcome, CaseTask, Skipped
from harness.experiment.pool import WorkerDied, completed
from harness.experiment.timed import Timed, timed
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers, settle
from harness.report.journal import Journal, JournalRecord
from harness.report.terminal import CaseProgress
from harness.sides import baseline_folder

__all__ = ["Tally", "judge_all"]


@dataclass(slots=True)
class Tally:
    """What came of a run so far, by cassette."""

    results: dict[str, CaseResult] = field(default_factory=dict)
    problems: dict[str, LoadProblem] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    took_ms: dict[str, float] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)
    """The cases among `results` that come from workers of this run, and not from its journal."""
    interrupted: bool = False
    stopped: int = 0
    """Divergent cases after which the run was stopped, as asked for; 0: it was not."""

    @classmethod
    def after(cls, record: JournalRecord | None) -> Tally:
        """What a journal says that is gone on with."""
        if record is None:
            return cls()
        return cls(
            dict(record.finished),
            dict(record.problems),
            set(record.skipped),
            dict(record.took_ms),
        )

    def has(self, name: str) -> bool:
        """Whether anything came of that case."""
        return name in self.results or name in self.problems or name in self.skipped


class Failures:
    """How many cases diverge by the waivers, as far as a run has come.

    Args:
        waivers: The accepted differences. Their counts hold over the whole run.
        tally: What is known from a journal that the run goes on with.
    """

    def __init__(self, waivers: Waivers, tally: Tally) -> None:
        self._waivers = waivers
        self._most = {waiver.id: waiver.max_count for waiver in waivers.live}
        self._used: Counter[str] = Counter()
        self.count = 0
        """Divergent cases of this run alone."""
        for result in tally.results.values():
            self.verdict(result)
        self.count = 0

    def verdict(self, outcome: CaseOutcome) -> CaseVerdict | None:
        """The verdict of one more case by the waivers; `None` where it was not judged.

        A waiver that covers more than its count covers nothing from then on.
        """
        if not isinstance(outcome, CaseResult):
            return None
        settled = settle([outcome], self._waivers)[0][0]
        self._used.update(settled.waived.values())
        exceeded = any(self._used[each] > self._most[each] for each in settled.waived.values())
        verdict = CaseVerdict.DIVERGENT if exceeded else settled.verdict
        self.count += verdict is CaseVerdict.DIVERGENT
        return verdict


def judge_all(
    plan: RunPlan,
    backend: Backend,
    files: Sequence[CassetteFile],
    tally: Tally,
    journal: Journal | None,
    bar: CaseProgress,
    failures: Failures,
) -> None:
    """Judge `files`, until `plan.maxfail` of them diverge.

    `tally` has the results, however this is left.
    """

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
                tally.fresh.add(name)
                if journal is not None:
                    journal.closed(outcome, took_ms, name)

        if took_ms is not None:
            tally.took_ms[name] = round(took_ms, 1)  # as a journal keeps it
        bar.done(name, failures.verdict(outcome))

    outcomes = completed(
        timed,
        _tasks(plan, backend, files),
        jobs=plan.jobs,
        backend=backend.repeated(plan.repeat),
        runtimes=[s for s in (plan.control, plan.candidate) if baseline_folder(s) is None],
        started=started,
        waiting=bar.waiting,
    )
    with closing(outcomes):
        for task, done in outcomes:
            if isinstance(done, WorkerDied):
                take(task.name, CaseResult.undecided(task.name, str(done)), None)
            else:
                assert isinstance(done, Timed)
                take(task.name, done.outcome, done.took_ms)
            if plan.maxfail is not None and failures.count >= plan.maxfail:
                tally.stopped = failures.count
                return


def _tasks(plan: RunPlan, backend: Backend, files: Sequence[CassetteFile]) -> list[CaseTask]:
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
