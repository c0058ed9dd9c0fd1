"""What the pytest plugin has of `parity run`: judging one case, settling and keeping many.

Imported with the first cassette that runs, as this costs what a run costs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from harness.canonical import printable
from harness.cassette.find import CassetteFile
from harness.commands.case_tasks import case_tasks
from harness.commands.run_plan import RunPlan, header_of, inventory_of
from harness.config import default_waivers
from harness.errors import LoadProblem
from harness.experiment.backend import real_backend
from harness.experiment.case import CaseOutcome, CaseTask, judge
from harness.experiment.pool import WorkerDied, on_demand, process_workers
from harness.parity.verdict import CaseResult
from harness.parity.waivers import load_waivers, settle
from harness.report.journal import Journal
from harness.report.model import RunReport
from harness.report.settled import reproducing_options, settled_report
from harness.report.since import with_changes
from harness.report.words import reasons
from harness.sides import baseline_folder

__all__ = ["judging", "session_report", "settled_alone", "told"]


@contextmanager
def judging(plan: RunPlan) -> Iterator[Callable[[CassetteFile], CaseOutcome]]:
    """What one cassette comes to, before waivers: a function of its file.

    All cases run in one worker process, which a watchdog watches. It is forked when this is
    entered, so it has what the session's conftest files have set up by then.
    """
    backend = replace(real_backend(), limits=plan.limits).repeated(plan.repeat)
    sides = [side for side in (plan.control, plan.candidate) if baseline_folder(side) is None]
    workers = process_workers(backend, sides, forked=True)
    with on_demand(_judged, workers) as ask:

        def judge_file(file: CassetteFile) -> CaseOutcome:
            (task,) = case_tasks(
                [file],
                backend,
                control=plan.control,
                candidate=plan.candidate,
                trust=plan.trust,
                repeat=plan.repeat,
                phase=plan.phase,
            )
            outcome = ask(task)
            if isinstance(outcome, WorkerDied):
                return CaseResult.undecided(task.name, str(outcome))
            return outcome

        yield judge_file


def _judged(task: CaseTask) -> CaseOutcome:
    with warnings.catch_warnings():
        # The verdict is of how the runtimes behave, and never of this session's `-W error`.
        warnings.resetwarnings()
        warnings.simplefilter("ignore")
        return judge(task)


def settled_alone(plan: RunPlan, result: CaseResult) -> CaseResult:
    """One result after waivers, which are counted within it alone.

    Raises:
        WaiverFileError: the waivers cannot be used.
    """
    waivers = load_waivers(plan.waivers_file or default_waivers(), as_of=plan.as_of)
    return settle([result], waivers)[0][0]


def told(plan: RunPlan, result: CaseResult, file: CassetteFile) -> str:
    """Why a settled case is not parity, in the explainer's words, and how to see it again."""
    options = ["--trust"] if plan.trust else []
    if plan.waivers_file is not None:
        options += ["--waivers", str(plan.waivers_file)]
    alone = RunReport(
        control=plan.control,
        candidate=plan.candidate,
        cases=(result,),
        files={result.cassette: str(file.path)},
        options=options,
    )
    head = f"{result.verdict.value}: {printable(result.cassette)}"
    return "\n".join([head, *reasons(alone, result), f"reproduce: {alone.reproduce(result)}"])


def session_report(
    plan: RunPlan,
    results: Mapping[str, CaseResult],
    problems: Mapping[str, LoadProblem],
    files: Sequence[CassetteFile],
) -> RunReport:
    """The report over all results of a session, and its journal where one was asked for.

    Raises:
        HarnessError: the waivers cannot be used, or the journal cannot be written.
    """
    inventory = inventory_of(plan, files)
    header = header_of(plan, inventory, [file.name for file in files], plan.paths)
    if plan.journal is not None:
        with Journal(plan.journal, header, inventory) as journal:
            for name, result in results.items():
                journal.started(name)
                journal.closed(result, name=name)
            for name, problem in problems.items():
                journal.refused(name, problem)
            if len(results) + len(problems) == len(files):
                journal.ended()
    waivers = load_waivers(plan.waivers_file or default_waivers(), as_of=plan.as_of)
    report = settled_report(
        header,
        results,
        waivers,
        planned=len(results),
        problems=list(problems.values()),
        files={file.name: str(file.path) for file in files},
        options=reproducing_options(header, plan.waivers_file),
    )
    return with_changes(report, inventory, waivers)
