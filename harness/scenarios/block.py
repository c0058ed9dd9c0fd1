"""A block: the unit of generation, whose result does not depend on the worker that runs it."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from harness.codec import Coded
from harness.parity.verdict import CaseResult
from harness.parity.waivers import Waivers
from harness.scenarios.between import profile_between
from harness.scenarios.drawing import DrawnScenario, Way, block_seed, draw_block
from harness.scenarios.judging import Judging
from services.wire import JsonObject

__all__ = [
    "BLOCK_EXAMPLES",
    "BlockDone",
    "BlockTask",
    "Finding",
    "drawn_in",
    "run_block",
]

BLOCK_EXAMPLES = 25
"""Examples in a block: some seconds of work."""

_BYTES_FROM = 12
"""From this example on, the first that fits also runs over a socket: one of each block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockTask:
    """One block to draw and run. Way, profile, seed and number determine its scenarios."""

    way: Way
    profile: str
    seed: int
    number: int
    examples: int
    control: str
    candidate: str
    waivers: Waivers
    fault: str | None = None
    """The name of a seeded fault to put in."""
    weights: Mapping[str, Mapping[str, int]] | None = None
    """Weights in place of the profile's own."""
    muted: frozenset[str] = frozenset()
    """Known fingerprints: counted, not kept."""
    only: int | None = None
    """The only example to run, from 0, though all are drawn; `None` runs all."""

    @property
    def name(self) -> str:
        """For progress, and for messages about a worker that died."""
        return f"{self.profile}, block {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Coded):
    """A scenario in which the runtimes differ."""

    fingerprint: str
    block: int
    document: JsonObject
    choices: tuple[int, ...]
    result: CaseResult
    cuts: int | None = None
    """If only bytes show it: the seed of the cuts in the event streams."""


@dataclass(slots=True, kw_only=True)
class BlockDone(Coded):
    """The result of a block."""

    number: int
    examples: int = 0
    """Scenarios drawn."""
    repeated: int = 0
    """Scenarios that a search drew again in this block, and did not run again."""
    digest: str = ""
    """SHA-256 over the names of all drawn scenarios, in order."""
    over_bytes: int = 0
    """How many scenarios ran over a socket, too."""
    reached: Counter[str] = field(default_factory=Counter)
    """Probe → number of scenarios that reached it."""
    findings: list[Finding] = field(default_factory=list)
    """The first of each fingerprint."""
    seen: Counter[str] = field(default_factory=Counter)
    """Fingerprint → how often it occurred, muted ones included."""
    unsettled: Counter[str] = field(default_factory=Counter)
    """Provider rule → number of scenarios in which both runtimes break it, while the published
    core's findings are not known."""
    lost: str = ""
    """Why the result is missing or incomplete: the worker died of no single example."""
    draw_s: float = 0.0
    """Processor seconds spent on drawing."""
    run_s: float = 0.0
    compare_s: float = 0.0

    def to_json(self) -> JsonObject:
        """For journals."""
        seconds = {"drawS": self.draw_s, "runS": self.run_s, "compareS": self.compare_s}
        return {**Coded.to_json(self), **{key: round(each, 4) for key, each in seconds.items()}}


def drawn_in(task: BlockTask) -> list[DrawnScenario]:
    """The scenarios of a block, without running any."""
    drawn: list[DrawnScenario] = []
    _draw(task, drawn.append)
    return drawn


def run_block(task: BlockTask) -> BlockDone:
    """Draw a block and run every scenario in both runtimes."""
    work = _Work(task)
    begun = time.process_time()
    _draw(task, work.look_at)
    done = work.done
    done.draw_s = time.process_time() - begun - done.run_s - done.compare_s
    done.digest = work.names.hexdigest()
    return done


def _draw(task: BlockTask, look_at: Callable[[DrawnScenario], None]) -> None:
    profile = profile_between(task.profile, task.control, task.candidate, task.weights)
    seed = block_seed(task.seed, profile, task.number)
    draw_block(task.way, profile, seed, task.examples, look_at)


class _Work:
    """A block in progress."""

    def __init__(self, task: BlockTask) -> None:
        self.done = BlockDone(number=task.number)
        self.names = hashlib.sha256()
        self._task = task
        self._how = Judging(
            control=task.control,
            candidate=task.candidate,
            waivers=task.waivers,
            fault=task.fault,
        )
        self._tried: set[str] = set()
        self._known = set(task.muted)
        self._bytes_left = True

    def look_at(self, drawn: DrawnScenario) -> None:
        """Run one drawn scenario."""
        name = str(drawn.document["name"])
        self.names.update(f"{name}\n".encode())
        index = self.done.examples
        self.done.examples += 1
        if self._task.way == "search" and name in self._tried:
            self.done.repeated += 1
            return
        self._tried.add(name)
        wanted = self._task.only in (None, index)
        if wanted:
            self._judge(drawn, self._how)
        late = index >= _BYTES_FROM and self._bytes_left
        if late and self._how.can_run_over_bytes(drawn.document):
            self._bytes_left = False
            if wanted:
                self.done.over_bytes += 1
                self._judge(drawn, replace(self._how, cuts=index))

    def _judge(self, drawn: DrawnScenario, how: Judging) -> None:
        done = self.done
        trial = how.judge_or_say(drawn.document)
        done.run_s += trial.run_s
        done.compare_s += trial.compare_s
        if how.cuts is None:
            done.reached.update(trial.reached)
            done.unsettled.update({each.finding.rule for each in trial.result.unsettled})
        found = trial.fingerprint
        if found is None:
            return
        done.seen[found] += 1
        if found not in self._known:
            self._known.add(found)
            done.findings.append(
                Finding(
                    fingerprint=found,
                    block=self._task.number,
                    document=trial.document,
                    choices=drawn.choices,
                    result=trial.result,
                    cuts=how.cuts,
                )
            )
