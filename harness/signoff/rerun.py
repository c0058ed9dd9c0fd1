"""What was journalled, run again: the same traces must come of it.

A signature stands for what the signer's own machine saw, not for a file that somebody handed over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.draw import chosen
from harness.errors import LoadProblem, ReplayFailure
from harness.experiment.case import CaseTask, Skipped, judge
from harness.experiment.pool import WorkerDied, Workers, completed, worked
from harness.gate.measurements import SampleRun
from harness.parity.verdict import CaseResult
from harness.parity.waivers import Waivers
from harness.scenarios.block import BLOCK_EXAMPLES, BlockDone, BlockTask
from harness.sides import baseline_folder
from harness.signoff.material import listed
from harness.signoff.problems import SigningRefused
from harness.signoff.statement import ReplayedBlock
from services.redaction import redacted_value

__all__ = [
    "Again",
    "block_tasks_of",
    "refuse_other",
    "run_blocks_again",
    "run_cases_again",
]

_ONCE: Final = 1
_TOLD: Final = frozenset({"remarks", "timelines"})
"""What of a result is only shown: nothing is judged by it."""


@dataclass(frozen=True, slots=True)
class Again:
    """What came of running something again: nothing to say, or in what it differs."""

    name: str
    problem: str = ""
    undecided: bool = False
    """It could not be run here, so that nothing is known."""


def run_cases_again(
    tasks: Sequence[CaseTask],
    traces: Mapping[str, tuple[str, str]],
    *,
    jobs: int,
    results: Mapping[str, CaseResult] | None = None,
    told: Callable[[str], None] = lambda name: None,
) -> Iterator[Again]:
    """Run cases and hold the digests of what was observed against `traces`, as they come.

    With the `results` of a journal all that it says of a case must come out again: traces tell of
    the runs, and not what was written down of their differences. A case of which it has none was
    skipped, and must be again.
    """
    if not tasks:
        return
    sides = (tasks[0].control, tasks[0].candidate)
    outcomes = completed(
        judge,
        tasks,
        jobs=jobs,
        backend=tasks[0].backend.repeated(tasks[0].repeat),
        runtimes=[side for side in sides if baseline_folder(side) is None],
        started=lambda task: told(task.name),
    )
    with closing(outcomes):
        for task, outcome in outcomes:
            again = _compared(task, outcome, traces.get(task.name))
            if isinstance(outcome, CaseResult) and results is not None and not again.problem:
                again = Again(task.name, _other_words(outcome, results[task.name]))
            yield again


def _compared(
    task: CaseTask,
    outcome: CaseResult | LoadProblem | Skipped | WorkerDied,
    was: tuple[str, str] | None,
) -> Again:
    match outcome:
        case Skipped() if was is None:
            return Again(task.name)
        case WorkerDied():
            return Again(task.name, str(outcome), undecided=True)
        case LoadProblem():
            return Again(task.name, outcome.message)
        case Skipped():
            return Again(task.name, "it is not of what was run")
        case CaseResult() if outcome.blockers:
            return Again(task.name, outcome.blockers[0], undecided=True)
        case CaseResult() if was is None:
            return Again(task.name, "the journal says that it was skipped")
        case CaseResult():
            sides = zip((task.control, task.candidate), outcome.digests, was, strict=True)
            other = [side for side, now, before in sides if now != before]
            return Again(task.name, f"{' and '.join(other)} left another trace" if other else "")


def _other_words(now: CaseResult, before: CaseResult) -> str:
    """In what a result is not the one that the journal has; empty if it is."""
    # Journals are written without secrets, so what is here now is looked at without them too.
    is_now, was = redacted_value(now.to_json()), before.to_json()
    other = [key for key in was if key not in _TOLD and was[key] != is_now[key]]
    if not other:
        return ""
    return f"its {', '.join(other)} {'is' if len(other) == 1 else 'are'} not as journalled"


def block_tasks_of(
    sample: SampleRun, waivers: Waivers, count: int, seed: int
) -> list[tuple[BlockTask, str]]:
    """Some blocks of a generated run, each with the digest that the run's summary has of it."""
    numbers = range(-(-sample.drawn // BLOCK_EXAMPLES))
    picked = sorted(int(name) for name in chosen([str(number) for number in numbers], count, seed))
    digests = _block_digests(sample.file)
    return [
        (
            BlockTask(
                way="sample" if sample.independent else "search",
                profile=sample.profile,
                seed=sample.seed,
                number=number,
                examples=min(BLOCK_EXAMPLES, sample.drawn - number * BLOCK_EXAMPLES),
                control=sample.control,
                candidate=sample.candidate,
                waivers=waivers,
                fault=sample.fault,
            ),
            digests.get(str(number), ""),
        )
        for number in picked
    ]


def _block_digests(file: Path) -> Mapping[str, str]:
    """Block to the digest of its scenarios' names, of a summary that the gate has read already."""
    document = json.loads(file.read_bytes())
    found = document.get("blockDigests")
    return found if isinstance(found, dict) else {}


def run_blocks_again(
    tasks: Sequence[tuple[BlockTask, str]],
    run: Callable[[BlockTask], BlockDone],
    workers: Workers,
    jobs: int,
) -> Iterator[tuple[Again, ReplayedBlock | None]]:
    """Draw and run blocks again: the same scenarios, and nothing found in them."""
    digests = {(task.profile, task.seed, task.number): digest for task, digest in tasks}
    outcomes = worked(run, [task for task, _ in tasks], jobs, workers, ahead=_ONCE)
    with closing(outcomes):
        for task, done in outcomes:
            name = f"{task.name} of seed {task.seed}"
            if isinstance(done, WorkerDied):
                yield Again(name, str(done), undecided=True), None
                continue
            before = digests[task.profile, task.seed, task.number]
            if before and done.digest != before:
                yield Again(name, "other scenarios are drawn now"), None
            elif done.seen:
                yield Again(name, f"finds {', '.join(sorted(done.seen))}"), None
            elif done.lost or done.examples != task.examples:
                yield Again(name, done.lost or "not all of it was drawn", undecided=True), None
            else:
                block = ReplayedBlock(
                    profile=task.profile, seed=task.seed, number=task.number, digest=done.digest
                )
                yield Again(name), block


def refuse_other(seen: Sequence[Again]) -> None:
    """Sign nothing where something came out in another way, or could not be run at all.

    Raises:
        SigningRefused: naming the cases.
    """
    told = [f"{each.name}: {each.problem}" for each in seen if each.problem]
    if not told:
        return
    count = f"{len(told)} of {len(seen)}"
    problem = f"run again, {count} did not come out as journalled: {listed(told, most=3)}"
    refused = SigningRefused(problem, "run everything anew, and look at what differs")
    if all(each.undecided for each in seen if each.problem):
        refused.exit_code = ReplayFailure.exit_code
    raise refused
