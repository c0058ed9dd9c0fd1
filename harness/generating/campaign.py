"""`Campaign`: a generated run, from its first block to its last shrunk finding.

It has three stages: draw and run blocks; run each finding again, by itself and in a fresh worker;
shrink those that came again. A finding is in a file at once, and in the journal after its block, so
that an interrupted run can resume.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from harness.experiment.events import follow_whole, on_finished, on_waiting
from harness.experiment.pool import WorkerDied, Workers, run_on
from harness.explain import explain
from harness.generating.deaths import narrowed
from harness.parity.verdict import CaseResult
from harness.scenarios.again import AgainTask, run_again
from harness.scenarios.block import BLOCK_EXAMPLES, BlockDone, BlockTask, Finding, run_block
from harness.scenarios.found import FoundCassette, KnownFinding, found_name, write_found
from harness.scenarios.generation import (
    WORKER_DIED,
    Again,
    GenerationPlan,
    Outcome,
    Shrinking,
    block_tasks,
)
from harness.scenarios.generation_journal import GenerationJournal
from harness.scenarios.judging import Judging
from harness.scenarios.smaller import ShrinkTask, Smaller, run_shrink
from harness.timeline.words import cut
from harness.wording import counted

__all__ = ["SHOWN", "Campaign", "CampaignProgress", "CampaignSetup", "first_line"]

SHOWN: Final = 200
"""Characters of a line that reports show."""


class CampaignProgress(Protocol):
    """Shows the progress of a campaign."""

    def update(self) -> None:
        """Show the current state: a block is finished, or a second has passed."""

    def say(self, words: str, style: str = "") -> None:
        """Show a line of its own."""

    def stage(self, words: str) -> None:
        """Name a stage other than drawing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignSetup:
    """How to carry out a plan."""

    workers: Workers
    jobs: int
    folder: Path
    """The folder of findings."""
    now: Callable[[], float]
    """A clock, in seconds."""
    time_s: float | None = None
    """Seconds of drawing after which no block begins; `None`: the plan has a number of examples."""
    shrink_s: float = 60.0
    """Seconds for shrinking one finding; 0 shrinks none."""
    run: Callable[[BlockTask], BlockDone] = run_block
    """Runs a block; a module-level function, which workers find by name."""


class Campaign:
    """One generated run."""

    def __init__(
        self,
        plan: GenerationPlan,
        setup: CampaignSetup,
        journal: GenerationJournal,
        known: Mapping[str, KnownFinding],
    ) -> None:
        """Begin a run, or resume that of `journal`; `known` findings are only counted."""
        self.plan = plan
        self.setup = setup
        self.known = known
        self.generation = journal.generation
        self.finished = False
        """Whether every stage is finished."""
        self._journal = journal
        self._begun = setup.now() - journal.elapsed_s

    @property
    def share(self) -> float:
        """The finished part of the drawing, from 0 to 1."""
        time_s, examples = self.setup.time_s, self.plan.examples
        done = self.elapsed_s / time_s if time_s else self.generation.examples / (examples or 1)
        return min(done, 1.0)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run began, without pauses."""
        return self.setup.now() - self._begun

    def file_of(self, fingerprint: str) -> Path:
        """The file of a finding."""
        found = self._found(self.generation.findings[fingerprint])
        return self.setup.folder / f"{found_name(found)}.yaml"

    def run(self, progress: CampaignProgress) -> None:
        """Run all stages.

        Raises:
            UsageError: a finding cannot be written.
            KeyboardInterrupt: from the user; the findings are kept.
        """
        for fingerprint, finding in self.generation.findings.items():
            if not self.file_of(fingerprint).exists():
                self._write(finding)
        self._draw(progress)
        self._run_again(progress)
        self._shrink(progress)
        self.finished = True

    def _draw(self, progress: CampaignProgress) -> None:
        setup, generation = self.setup, self.generation
        blocks = block_tasks(self.plan, self._enough, self._muted, tuple(generation.blocks))

        def narrow(task: BlockTask, died: WorkerDied) -> BlockDone:
            progress.stage(f"{task.name} killed its worker; looking for the example")
            done = narrowed(task, setup.run, setup.workers)
            progress.stage("")
            return done

        def take(task: BlockTask, done: BlockDone) -> None:
            before = set(generation.findings)
            fresh = generation.add(done)
            for finding in fresh:
                self._write(finding)
            self._journal.block(done, self.elapsed_s)
            progress.update()
            for name in (each.fingerprint for each in fresh):
                if name not in before:
                    progress.say(f"found {name}: {first_line(self.says(name))}", "red")

        events = run_on(setup.workers, setup.run, blocks, setup.jobs, died=narrow)
        follow_whole(events, on_waiting(progress.update), on_finished(take))

    def _enough(self) -> bool:
        return self.setup.time_s is not None and self.elapsed_s >= self.setup.time_s

    def _muted(self, number: int) -> frozenset[str]:
        return self.generation.known_before(number) | frozenset(self.known)

    def _run_again(self, progress: CampaignProgress) -> None:
        todo = [
            AgainTask(
                document=finding.document,
                fingerprint=finding.fingerprint,
                result=finding.result,
                how=self._how(finding),
            )
            for finding in self._findings()
            if finding.fingerprint not in self.generation.outcomes
        ]
        if not todo:
            return
        progress.stage(f"running {counted(len(todo), 'finding')} again")

        def died(task: AgainTask, died: WorkerDied) -> Outcome:
            result = CaseResult.undecided(task.result.cassette, died.why)
            return Outcome(again=Again.GONE, result=result, remark=died.why)

        def take(task: AgainTask, outcome: Outcome) -> None:
            self.generation.outcomes[task.fingerprint] = outcome
            self._write(self.generation.findings[task.fingerprint])
            self._journal.outcome(task.fingerprint, outcome)

        events = run_on(self.setup.workers, run_again, todo, self._jobs(todo), died=died)
        follow_whole(events, on_waiting(progress.update), on_finished(take))

    def _shrink(self, progress: CampaignProgress) -> None:
        generation = self.generation
        todo = [
            ShrinkTask(
                document=finding.document,
                fingerprint=finding.fingerprint,
                choices=finding.choices,
                profile=self.plan.profile,
                weights=self.plan.weights,
                how=self._how(finding),
                time_s=self.setup.shrink_s,
            )
            for finding in self._findings()
            if generation.outcomes[finding.fingerprint].again is Again.CAME
            and finding.fingerprint not in generation.shrunk
        ]
        if not todo or not self.setup.shrink_s:
            return
        progress.stage(f"shrinking {counted(len(todo), 'finding')}")

        def died(task: ShrinkTask, died: WorkerDied) -> Smaller:
            return Smaller(words=f"not shrunk: {died.why}")

        def take(task: ShrinkTask, smaller: Smaller) -> None:
            if smaller.document is not None:
                finding = generation.findings[task.fingerprint]
                self._write(finding, smaller)
            shrunk = Shrinking(words=smaller.words, result=smaller.result)
            generation.shrunk[task.fingerprint] = shrunk
            self._journal.shrunk(task.fingerprint, shrunk)

        events = run_on(self.setup.workers, run_shrink, todo, self._jobs(todo), died=died)
        follow_whole(events, on_waiting(progress.update), on_finished(take))

    def _how(self, finding: Finding) -> Judging:
        return Judging(
            control=self.plan.control,
            candidate=self.plan.candidate,
            waivers=self.plan.waivers,
            fault=self.plan.fault,
            cuts=finding.cuts,
        )

    def _findings(self) -> Iterator[Finding]:
        """The findings that do not kill a process, in order of their blocks."""
        found = sorted(self.generation.findings.values(), key=lambda each: each.block)
        return (each for each in found if each.fingerprint != WORKER_DIED)

    def _jobs(self, tasks: list[AgainTask] | list[ShrinkTask]) -> int:
        return min(self.setup.jobs, len(tasks))

    def _write(self, finding: Finding, smaller: Smaller | None = None) -> None:
        write_found(self.setup.folder, self._found(finding, smaller))

    def _found(self, finding: Finding, smaller: Smaller | None = None) -> FoundCassette:
        """A finding as it is stored: as drawn, or `smaller`."""
        document = None if smaller is None else smaller.document
        result = None if smaller is None else smaller.result
        return FoundCassette(
            document=document or finding.document,
            fingerprint=finding.fingerprint,
            control=self.plan.control,
            candidate=self.plan.candidate,
            fault=self.plan.fault,
            profile=self.plan.profile,
            seed=self.plan.seed,
            block=finding.block,
            kind="generated" if document is None else "shrunk",
            says=self.says(finding.fingerprint, result),
            way=self.plan.way,
            plan=self.plan.digest,
            over_bytes=finding.cuts is not None,
            command=shlex.join(self.plan.command(BLOCK_EXAMPLES * (finding.block + 1))),
        )

    def says(self, fingerprint: str, result: CaseResult | None = None) -> str:
        """A description of a finding, in lines."""
        outcome = self.generation.outcomes.get(fingerprint)
        judged = result or self.generation.result_of(fingerprint)
        lines = explain(judged, self.plan.control, self.plan.candidate)
        if outcome is not None and outcome.remark:
            lines.insert(0, outcome.remark)
        return "\n".join(lines or ["no difference any more"])


def first_line(text: str) -> str:
    """The first line of a text, of at most 200 characters."""
    return cut((text.splitlines() or [""])[0], SHOWN)
