"""A block: the unit in which generation is cut up, so that who runs it makes no difference."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from dataclasses import dataclass, field

from harness.parity.verdict import CaseResult
from harness.parity.waivers import Waivers
from harness.scenarios.drawing import DrawnScenario, Way, block_seed, draw_block
from harness.scenarios.profiles import PROFILES
from harness.scenarios.trial import Trial, try_document
from services.wire import JsonObject

__all__ = ["BLOCK_EXAMPLES", "BlockDone", "BlockTask", "Finding", "run_block"]

BLOCK_EXAMPLES = 25
"""Examples in a block: some seconds of work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockTask:
    """One block to draw and run. What is drawn follows from way, profile, seed and number alone."""

    way: Way
    profile: str
    seed: int
    number: int
    examples: int
    control: str
    candidate: str
    waivers: Waivers
    muted: frozenset[str] = frozenset()
    """Fingerprints that are known: counted, not kept."""

    @property
    def name(self) -> str:
        """For progress and for a worker that died in it."""
        return f"{self.profile}, block {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A scenario on which the runtimes do not agree."""

    fingerprint: str
    block: int
    document: JsonObject
    choices: tuple[int, ...]
    result: CaseResult


@dataclass(slots=True, kw_only=True)
class BlockDone:
    """What came of a block."""

    number: int
    examples: int = 0
    """Scenarios drawn."""
    repeated: int = 0
    """Of these, drawn before in this block and not run again: a search does that."""
    digest: str = ""
    """SHA-256 over the names of all drawn scenarios, in order: which examples these were."""
    reached: Counter[str] = field(default_factory=Counter)
    """Behaviour to the number of scenarios that reached it."""
    findings: list[Finding] = field(default_factory=list)
    """The first of each fingerprint."""
    seen: Counter[str] = field(default_factory=Counter)
    """Fingerprint to how often it came up, muted ones included."""
    draw_s: float = 0.0
    run_s: float = 0.0
    compare_s: float = 0.0


def run_block(task: BlockTask) -> BlockDone:
    """Draw a block and put every scenario of it through both runtimes."""
    profile = PROFILES[task.profile]
    done = BlockDone(number=task.number)
    names = hashlib.sha256()
    tried: set[str] = set()
    known = set(task.muted)

    def look_at(drawn: DrawnScenario) -> None:
        name = str(drawn.document["name"])
        names.update(f"{name}\n".encode())
        done.examples += 1
        if name in tried:
            done.repeated += task.way == "search"
            if task.way == "search":
                return
        tried.add(name)
        trial = try_document(drawn.document, task.control, task.candidate, task.waivers)
        _note(done, task, drawn, trial, known)

    begun = time.process_time()
    seed = block_seed(task.seed, profile, task.number)
    draw_block(task.way, profile, seed, task.examples, look_at)
    done.draw_s = time.process_time() - begun - done.run_s - done.compare_s
    done.digest = names.hexdigest()
    return done


def _note(
    done: BlockDone, task: BlockTask, drawn: DrawnScenario, trial: Trial, known: set[str]
) -> None:
    done.run_s += trial.run_s
    done.compare_s += trial.compare_s
    done.reached.update(trial.reached)
    found = trial.fingerprint
    if found is None:
        return
    done.seen[found] += 1
    if found not in known:
        known.add(found)
        done.findings.append(
            Finding(
                fingerprint=found,
                block=task.number,
                document=trial.document,
                choices=drawn.choices,
                result=trial.result,
            )
        )
