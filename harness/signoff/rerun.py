"""Run journalled cases again before signing, and require the same traces.

So a signature stands for what the signer's own machine observed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from harness.draw import chosen
from harness.errors import LoadProblem, ReplayFailure
from harness.experiment.case import CaseOutcome, CaseTask, Skipped
from harness.experiment.events import CaseFinished, Event, Listener, follow_whole, on_finished
from harness.experiment.judged import judged_cases
from harness.experiment.pool import WorkerDied, Workers, run_on
from harness.gate.measurements import SampleRun
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers
from harness.report.progress import CaseProgress
from harness.scenarios.block import BLOCK_EXAMPLES, BlockDone, BlockTask
from harness.signoff.problems import SigningRefused
from harness.signoff.statement import ReplayedBlock
from harness.wording import listed
from services.redaction import redacted_value

__all__ = [
    "Again",
    "block_tasks_of",
    "refuse_other",
    "run_blocks_again",
    "run_cases_again",
]

_SHOWN: Final = frozenset({"remarks", "timelines"})
"""Keys of a result that are shown only; no verdict depends on them."""


@dataclass(frozen=True, slots=True)
class Again:
    """The result of running something again; with a problem if it differs."""

    name: str
    problem: str = ""
    undecided: bool = False
    """It could not be run here."""


class _CasesAgain:
    """A listener that compares finished cases with their results in the journal."""

    def __init__(
        self,
        traces: Mapping[str, tuple[str, str]],
        results: Mapping[str, CaseResult] | None,
    ) -> None:
        self._traces = traces
        self._results = results
        self.seen: dict[str, Again] = {}

    def __call__(self, event: Event[CaseTask, CaseOutcome]) -> None:
        if isinstance(event, CaseFinished):
            self.seen[event.task.name] = self._compared(event.task, event.result)

    def verdict(self, name: str, outcome: object) -> CaseVerdict:
        """The verdict that the progress line counts."""
        return CaseVerdict.DIVERGENT if self.seen[name].problem else CaseVerdict.PARITY

    def _compared(self, task: CaseTask, outcome: CaseOutcome) -> Again:
        was = self._traces.get(task.name)
        match outcome:
            case Skipped() if was is None:
                return Again(task.name)
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
                if other:
                    return Again(task.name, f"{' and '.join(other)} left another trace")
                journalled = None if self._results is None else self._results[task.name]
                return Again(task.name, _other_words(outcome, journalled) if journalled else "")


def run_cases_again(
    tasks: Sequence[CaseTask],
    traces: Mapping[str, tuple[str, str]],
    *,
    jobs: int,
    results: Mapping[str, CaseResult] | None = None,
    stream: TextIO | None = None,
) -> list[Again]:
    """Run cases again, and compare the digests of the observations with `traces`.

    With the `results` of a journal, the whole result of a case must be equal. A case without a
    result was skipped, and must be skipped again. Progress goes to `stream`, if there is one.

    Raises:
        KeyboardInterrupt: the user's.
    """
    again = _CasesAgain(traces, results)
    with ExitStack() as stack:
        listeners: list[Listener[CaseTask, CaseOutcome]] = [again]
        if stream is not None:
            listeners.append(stack.enter_context(CaseProgress(stream, again.verdict)))
        follow_whole(judged_cases(tasks, jobs), *listeners)
    return list(again.seen.values())


def _other_words(now: CaseResult, before: CaseResult) -> str:
    """How a result differs from the journalled one; empty if it is equal."""
    # Journals are redacted, so the new result is, too.
    is_now, was = redacted_value(now.to_json()), before.to_json()
    other = [key for key in was if key not in _SHOWN and was[key] != is_now[key]]
    if not other:
        return ""
    return f"its {', '.join(other)} {'is' if len(other) == 1 else 'are'} not as journalled"


def block_tasks_of(
    sample: SampleRun, waivers: Waivers, count: int, seed: int
) -> list[tuple[BlockTask, str]]:
    """Some blocks of a generated run, each with its digest in the run's summary."""
    numbers = range(-(-sample.drawn // BLOCK_EXAMPLES))
    picked = sorted(int(name) for name in chosen([str(number) for number in numbers], count, seed))
    digests = _block_digests(sample.file)
    return [
        (
            BlockTask(
                way=sample.way,
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
    """Block to the digest of its scenarios' names, from a summary that the gate has validated."""
    document = json.loads(file.read_bytes())
    found = document.get("blockDigests")
    return found if isinstance(found, dict) else {}


def run_blocks_again(
    tasks: Sequence[tuple[BlockTask, str]],
    run: Callable[[BlockTask], BlockDone],
    workers: Workers,
    jobs: int,
) -> list[tuple[Again, ReplayedBlock | None]]:
    """Draw and run blocks again; they must have the same scenarios and no finding.

    Raises:
        KeyboardInterrupt: the user's.
    """
    digests = {(task.profile, task.seed, task.number): digest for task, digest in tasks}
    seen: list[tuple[Again, ReplayedBlock | None]] = []

    def take(task: BlockTask, done: BlockDone) -> None:
        name = f"{task.name} of seed {task.seed}"
        before = digests[task.profile, task.seed, task.number]
        block = None
        if before and done.digest not in ("", before):
            again = Again(name, "other scenarios are drawn now")
        elif done.seen:
            again = Again(name, f"finds {', '.join(sorted(done.seen))}")
        elif done.lost or done.examples != task.examples:
            again = Again(name, done.lost or "not all of it was drawn", undecided=True)
        else:
            again = Again(name)
            block = ReplayedBlock(
                profile=task.profile, seed=task.seed, number=task.number, digest=done.digest
            )
        seen.append((again, block))

    events = run_on(workers, run, [task for task, _ in tasks], jobs, died=_lost)
    follow_whole(events, on_finished(take))
    return seen


def _lost(task: BlockTask, died: WorkerDied) -> BlockDone:
    return BlockDone(number=task.number, lost=died.why)


def refuse_other(seen: Sequence[Again]) -> None:
    """Raise if a result differs, or could not be obtained.

    Raises:
        SigningRefused: naming the cases.
    """
    differing = [f"{each.name}: {each.problem}" for each in seen if each.problem]
    if not differing:
        return
    count = f"{len(differing)} of {len(seen)}"
    problem = f"run again, {count} did not come out as journalled: {listed(differing, most=3)}"
    refused = SigningRefused(problem, "run everything anew, and look at what differs")
    if all(each.undecided for each in seen if each.problem):
        refused.exit_code = ReplayFailure.exit_code
    raise refused
