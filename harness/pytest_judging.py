"""The parts of `parity run` for the pytest plugin: options, judging a case, settling many."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from harness.canonical import printable
from harness.cassette.find import CassetteFile
from harness.commands import checks
from harness.commands.case_tasks import case_tasks
from harness.commands.run_plan import RunPlan, header_of, inventory_of
from harness.config import default_waivers, usual_sides
from harness.errors import LoadProblem, UsageError
from harness.experiment.backend import real_backend
from harness.experiment.case import CaseOutcome, CaseTask, judge
from harness.experiment.judged import undecided
from harness.experiment.limits import Limits
from harness.experiment.pool import on_demand, process_workers
from harness.parity.verdict import CaseResult
from harness.parity.waivers import load_waivers, settle
from harness.report.journal import Journal
from harness.report.leads import with_past
from harness.report.model import RunReport
from harness.report.settled import reproducing_options, settled_report
from harness.report.tally import Tally
from harness.report.words import headline, reasons, untrusted
from harness.sides import baseline_folder
from harness.triage.blame import blame
from harness.whole_file import writable_file

__all__ = [
    "asked_for",
    "description",
    "judging",
    "session_lines",
    "session_report",
    "settled_alone",
]


def asked_for(texts: Mapping[str, str], paths: Sequence[str], *, trust: bool) -> RunPlan:
    """Parse the texts of the options; an empty text is an omitted option.

    Raises:
        UsageError: An option is invalid.
        HarnessError: The waivers cannot be used.
    """
    now = datetime.now(UTC)
    usual_control, usual = usual_sides()
    control, candidate = texts["control"] or usual_control, texts["candidate"] or usual
    phase, repeat = texts["phase"] or None, texts["repeat"] or "1"
    try:
        limits = Limits.parse(texts["limits"]) if texts["limits"] else checks.usual_limits()
    except ValueError as error:
        raise UsageError(f"--parity-limits: {error}; write it as {Limits()}") from error
    if phase not in (None, "A", "B", "C"):
        raise UsageError(f"--parity-phase {phase}: write A, B or C")
    if not re.fullmatch(r"[1-9]|1[0-9]|20", repeat):
        raise UsageError(f"--parity-repeat {repeat}: write a number from 1 to 20")
    try:
        as_of = date.fromisoformat(texts["as_of"]) if texts["as_of"] else now.date()
    except ValueError as error:
        problem = f"--parity-as-of {texts['as_of']}: write a day as 2026-01-31"
        raise UsageError(problem) from error
    journal = Path(texts["journal"]) if texts["journal"] else None
    waivers = Path(texts["waivers"]) if texts["waivers"] else None
    checks.sides(real_backend(), control, candidate)
    load_waivers(waivers, as_of=as_of)
    writable_file(journal, "--parity-journal")
    return RunPlan(
        control=control,
        candidate=candidate,
        phase=phase,
        # Only the part before `::` in `tests/x.yaml::name` is a path.
        paths=tuple(Path(path.partition("::")[0]) for path in paths),
        limits=limits,
        trust=trust,
        repeat=int(repeat),
        journal=journal,
        waivers_file=waivers,
        as_of=as_of,
        started_at=now,
    )


@contextmanager
def judging(plan: RunPlan) -> Iterator[Callable[[CassetteFile], CaseOutcome]]:
    """Provide a function that judges the cassette in a file, before waivers.

    All cases run in one worker process, which a watchdog watches.
    """
    backend = replace(real_backend(), limits=plan.limits).repeated(plan.repeat)
    sides = [side for side in (plan.control, plan.candidate) if baseline_folder(side) is None]
    workers = process_workers(backend, sides, forked=True)
    with on_demand(_judged, workers, undecided) as ask:

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
            return ask(task)

        yield judge_file


def _judged(task: CaseTask) -> CaseOutcome:
    with warnings.catch_warnings():
        # The session's `-W error` must not change how the runtimes behave.
        warnings.resetwarnings()
        warnings.simplefilter("ignore")
        return judge(task)


def settled_alone(plan: RunPlan, result: CaseResult) -> CaseResult:
    """Apply the waivers to one result; their counts cover this result only.

    Raises:
        WaiverFileError: the waivers cannot be used.
    """
    waivers = load_waivers(plan.waivers_file or default_waivers(), as_of=plan.as_of)
    return settle([result], waivers)[0][0]


def description(plan: RunPlan, result: CaseResult, file: CassetteFile) -> str:
    """Explain why a settled case is not parity, and give the command that reproduces it."""
    alone = RunReport(
        control=plan.control,
        candidate=plan.candidate,
        cases=(result,),
        files={result.cassette: str(file.path)},
        options=reproducing_options(plan.trust, plan.waivers_file),
    )
    head = f"{result.verdict.value}: {printable(result.cassette)}"
    return "\n".join([head, *reasons(alone, result), f"reproduce: {alone.reproduce(result)}"])


def session_report(
    plan: RunPlan,
    results: Mapping[str, CaseResult],
    problems: Mapping[str, LoadProblem],
    files: Sequence[CassetteFile],
) -> RunReport:
    """Make the report over all results of a session, and write its journal if requested.

    Raises:
        HarnessError: the waivers cannot be used, or the journal cannot be written.
    """
    inventory = inventory_of(plan, files)
    header = header_of(plan, inventory, [file.name for file in files], plan.paths)
    if plan.journal is not None:
        with Journal(plan.journal, header, inventory) as journal:
            outcomes: dict[str, CaseOutcome] = {**results, **problems}
            for name, outcome in outcomes.items():
                journal.started(name)
                journal.outcome(name, outcome)
            if len(results) + len(problems) == len(files):
                journal.ended()
    waivers = load_waivers(plan.waivers_file or default_waivers(), as_of=plan.as_of)
    report = settled_report(
        header,
        Tally(dict(results), dict(problems)),
        waivers,
        given=len(results) + len(problems),
        files={file.name: str(file.path) for file in files},
        options=reproducing_options(header.trust, plan.waivers_file),
    )
    return with_past(report, inventory, waivers)


def session_lines(report: RunReport) -> list[str]:
    """Format the end of a session: whose problem it is, the next commands, the verdict."""
    lines = [
        f"waiver {status.id}: {status.state}"
        for status in report.waivers
        if status.state not in ("used", "unused")
    ]
    found = blame(report)
    if found is not None:
        lines.append(found.line)
    if line := untrusted(report, "pytest --parity --parity-trust"):
        lines.append(line)
    return [*lines, headline(report)]
