"""Finds the scenario that kills the worker of a block, and the results of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace

from harness.experiment.events import CaseFinished
from harness.experiment.pool import WorkerDied, Workers, run_on
from harness.parity.verdict import CaseResult
from harness.scenarios.block import BlockDone, BlockTask, Finding, drawn_in
from harness.scenarios.generation import WORKER_DIED

__all__ = ["narrowed"]


def narrowed(task: BlockTask, run: Callable[[BlockTask], BlockDone], workers: Workers) -> BlockDone:
    """Run each scenario of a block in a fresh worker; one that kills its worker is a finding."""
    parts: dict[int, BlockDone] = {}
    stopped: dict[int, str] = {}
    for index in range(task.examples):
        for done in _alone(replace(task, only=index), run, workers):
            if not isinstance(done, WorkerDied):
                parts[index] = done
            elif done.stopped:
                stopped[index] = done.why
    if not parts:
        reason = "its worker dies with every example: generation itself kills it"
        return BlockDone(number=task.number, lost=stopped.get(0, reason))
    whole = _together(task, list(parts.values()))
    killers = [index for index in range(whole.examples) if index not in parts]
    if not killers:
        whole.lost = "its worker died twice, although no single example kills it"
        return whole
    drawn = drawn_in(task)
    whole.seen[WORKER_DIED] += len(killers)
    if WORKER_DIED not in task.muted:
        first = drawn[killers[0]]
        name = str(first.document["name"])
        why = stopped.get(killers[0], "its worker process died in every run")
        whole.findings.append(
            Finding(
                fingerprint=WORKER_DIED,
                block=task.number,
                document=first.document,
                choices=first.choices,
                result=CaseResult.undecided(name, why),
            )
        )
    return whole


def _alone(
    task: BlockTask, run: Callable[[BlockTask], BlockDone], workers: Workers
) -> Iterator[BlockDone | WorkerDied]:
    def died(task: BlockTask, died: WorkerDied) -> BlockDone | WorkerDied:
        return died

    with closing(run_on(workers, run, [task], 1, died=died)) as events:
        yield from (event.result for event in events if isinstance(event, CaseFinished))


def _together(task: BlockTask, parts: list[BlockDone]) -> BlockDone:
    """Add up the parts of a block: each drew all examples and ran one."""
    first = parts[0]
    whole = BlockDone(
        number=task.number,
        examples=first.examples,
        repeated=first.repeated,
        digest=first.digest,
    )
    found: set[str] = set()
    for part in parts:
        whole.reached.update(part.reached)
        whole.seen.update(part.seen)
        whole.unsettled.update(part.unsettled)
        whole.over_bytes += part.over_bytes
        whole.findings += [each for each in part.findings if each.fingerprint not in found]
        found.update(each.fingerprint for each in part.findings)
        whole.draw_s += part.draw_s
        whole.run_s += part.run_s
        whole.compare_s += part.compare_s
    return whole
