"""Writes drawn scenarios as cassettes, for commands that take cassettes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from harness.cassette.dump import dump_yaml
from harness.errors import UsageError
from harness.experiment.events import follow_whole, on_finished, on_waiting
from harness.experiment.pool import WorkerDied, Workers, run_on
from harness.progress import ProgressLine
from harness.scenarios.block import BlockTask, drawn_in
from harness.scenarios.generation import GenerationPlan, block_tasks
from harness.scenarios.judging import Judging
from harness.whole_file import write_whole
from services.wire import JsonObject

__all__ = ["WriteTask", "write_block", "write_scenarios"]


@dataclass(frozen=True, slots=True)
class WriteTask:
    """A block of scenarios to write to a folder."""

    block: BlockTask
    folder: Path

    @property
    def name(self) -> str:
        """For progress, and for messages about a worker that died."""
        return self.block.name


def write_scenarios(
    plan: GenerationPlan,
    folder: Path,
    workers: Workers,
    jobs: int,
    stream: TextIO,
) -> int:
    """Write the scenarios that a plan draws to `folder`, a file each; return their number.

    Each scenario runs once, since a cassette declares the steps that no side requests. Its name is
    the digest of its content, so a scenario that is drawn twice is one file.

    Args:
        plan: What is drawn; it has a number of examples.
        folder: The root of the cassettes; it is made if it is missing.
        workers: What runs the scenarios.
        jobs: How many blocks are run at once.
        stream: Gets the progress; standard error, as a rule.

    Raises:
        UsageError: a file cannot be written.
    """
    written: set[str] = set()

    def tasks() -> Iterator[WriteTask]:
        for block in block_tasks(plan, lambda: False, lambda _: frozenset()):
            yield WriteTask(block, folder)

    def died(task: WriteTask, death: WorkerDied) -> list[str]:
        return []

    with _Progress(stream) as progress:
        progress.total = plan.examples or 0

        def take(task: WriteTask, names: list[str]) -> None:
            written.update(names)
            progress.done += task.block.examples
            progress.update()

        events = run_on(workers, write_block, tasks(), jobs, died=died)
        follow_whole(events, on_waiting(progress.update), on_finished(take))
    return len(written)


class _Progress(ProgressLine):
    """Shows how many scenarios have been run."""

    total = done = 0

    @property
    def _share(self) -> float:
        return self.done / self.total if self.total else 0.0

    @property
    def _words(self) -> str:
        return f"{self.done} of {self.total} scenarios, after {self.time}"


def write_block(task: WriteTask) -> list[str]:
    """Run and write the scenarios of a block; their names."""
    block = task.block
    how = Judging(control=block.control, candidate=block.candidate, waivers=block.waivers)
    names: list[str] = []
    for drawn in drawn_in(block):
        document = how.judge_or_say(drawn.document).document
        _write(document, task.folder)
        names.append(str(document["name"]))
    return names


def _write(document: JsonObject, folder: Path) -> None:
    file = folder / f"{document['name']}.yaml"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, dump_yaml(document))
    except OSError as error:
        problem = f"the scenario {file} cannot be written: {error.strerror}"
        raise UsageError(problem, "choose another folder with --write") from error
