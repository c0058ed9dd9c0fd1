"""A generated run as values: its plan, its blocks, and its findings.

Way, profile, seed and number of blocks determine the examples, whatever worker runs them. A run
ends after a whole block.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.canonical import canonical, sha256_hex
from harness.codec import Coded
from harness.parity.verdict import CaseResult
from harness.parity.waivers import Waivers
from harness.scenarios.between import profile_between
from harness.scenarios.block import BLOCK_EXAMPLES, BlockDone, BlockTask, Finding
from harness.scenarios.drawing import Way
from harness.scenarios.profiles import Profile
from services.wire import JsonObject

__all__ = [
    "WORKER_DIED",
    "Again",
    "Generation",
    "GenerationPlan",
    "Outcome",
    "Shrinking",
    "block_tasks",
    "upper_bound",
]

WORKER_DIED = "worker-died"
"""The fingerprint of a scenario that kills the process that runs it."""

_LEVEL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationPlan:
    """What a generated run draws, and whom it compares."""

    way: Way
    profile: str
    seed: int
    control: str
    candidate: str
    waivers: Waivers
    fault: str | None = None
    """The name of a seeded fault to put in."""
    toward: str | None = None
    """The part of the source that the weights lead to."""
    weights: Mapping[str, Mapping[str, int]] | None = None
    """Weights in place of the profile's own (`harness.generating.toward`)."""
    examples: int | None = None
    """How many scenarios; `None` draws until `enough` returns true."""

    @property
    def drawn_from(self) -> Profile:
        """The profile without the features that a side lacks."""
        return profile_between(self.profile, self.control, self.candidate, self.weights)

    @property
    def facts(self) -> JsonObject:
        """The facts that identify a run: its examples and its sides."""
        return {
            "way": self.way,
            "profile": self.profile,
            "profileDigest": self.drawn_from.digest,
            "seed": self.seed,
            "examples": self.examples,
            "control": self.control,
            "candidate": self.candidate,
            "fault": self.fault,
        }

    def command(self, examples: int | None = None) -> list[str]:
        """The command line that draws the same; `examples` if the plan has no number."""
        words = ["parity", "generate", f"--{self.way}", "--profile", self.profile]
        words += ["--toward", self.toward] if self.toward is not None else []
        words += ["--seed", str(self.seed)]
        count = self.examples if self.examples is not None else examples
        words += ["--examples", str(count)] if count is not None else []
        words += ["--control", self.control, "--candidate", self.candidate]
        return words + (["--fault", self.fault] if self.fault is not None else [])

    @property
    def digest(self) -> str:
        """16 hex digits over `facts`."""
        return sha256_hex(canonical(self.facts))[:16]


def block_tasks(
    plan: GenerationPlan,
    enough: Callable[[], bool],
    muted: Callable[[int], frozenset[str]],
    done: Collection[int] = (),
) -> Iterator[BlockTask]:
    """Yield the blocks of a run, except those whose numbers are in `done`.

    It stops when `enough` returns true. `muted` returns the fingerprints that are known before a
    block.
    """
    left = plan.examples
    number = 0
    while left is None or left > 0:
        examples = BLOCK_EXAMPLES if left is None else min(BLOCK_EXAMPLES, left)
        if number not in done:
            if enough():
                return
            yield BlockTask(
                way=plan.way,
                profile=plan.profile,
                seed=plan.seed,
                number=number,
                examples=examples,
                control=plan.control,
                candidate=plan.candidate,
                waivers=plan.waivers,
                fault=plan.fault,
                weights=plan.weights,
                muted=muted(number),
            )
        left = None if left is None else left - examples
        number += 1


class Again(StrEnum):
    """The outcome of running a finding again."""

    CAME = "came again"
    NOISE = "noise"
    """The control differs from itself: the finding decides nothing."""
    NONDETERMINISTIC = "nondeterministic"
    """Only the candidate differs from itself."""
    GONE = "did not come again"
    """Neither side differs from itself: the finding decides nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Coded):
    """A finding after it was run again."""

    again: Again
    remark: str = ""
    """What the further runs showed, unless it came again."""
    result: CaseResult
    """The result now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrinking(Coded):
    """The outcome of shrinking a finding."""

    words: str
    result: CaseResult | None = None
    """The result of the small scenario, if there is one."""


@dataclass(slots=True)
class Generation:
    """The results of a run so far."""

    blocks: dict[int, BlockDone] = field(default_factory=dict)
    findings: dict[str, Finding] = field(default_factory=dict)
    """Fingerprint → the finding of the block with the lowest number."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    shrunk: dict[str, Shrinking] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    unsettled: Counter[str] = field(default_factory=Counter)

    def add(self, done: BlockDone) -> list[Finding]:
        """Add a block; returns the findings that are new, or now of an earlier block."""
        self.blocks[done.number] = done
        self.seen.update(done.seen)
        self.reached.update(done.reached)
        self.unsettled.update(done.unsettled)
        fresh: list[Finding] = []
        for finding in done.findings:
            known = self.findings.get(finding.fingerprint)
            if known is None or finding.block < known.block:
                self.findings[finding.fingerprint] = finding
                fresh.append(finding)
        return fresh

    def known_before(self, number: int) -> frozenset[str]:
        """The fingerprints that earlier blocks have found."""
        return frozenset(name for name, finding in self.findings.items() if finding.block < number)

    def result_of(self, fingerprint: str) -> CaseResult:
        """The latest result of a finding."""
        outcome, shrunk = self.outcomes.get(fingerprint), self.shrunk.get(fingerprint)
        if shrunk is not None and shrunk.result is not None:
            return shrunk.result
        return self.findings[fingerprint].result if outcome is None else outcome.result

    @property
    def examples(self) -> int:
        """Scenarios drawn."""
        return sum(done.examples for done in self.blocks.values())

    @property
    def over_bytes(self) -> int:
        """How many scenarios ran over a socket, too."""
        return sum(done.over_bytes for done in self.blocks.values())

    @property
    def repeated(self) -> int:
        """Scenarios that were drawn again in their block, and not run again."""
        return sum(done.repeated for done in self.blocks.values())

    @property
    def spent(self) -> Mapping[str, float]:
        """Processor seconds of all workers, by activity."""
        blocks = self.blocks.values()
        return {
            "drawing": sum(done.draw_s for done in blocks),
            "running": sum(done.run_s for done in blocks),
            "comparing": sum(done.compare_s for done in blocks),
        }

    @property
    def digest(self) -> str:
        """SHA-256 over all scenarios in the order of their blocks."""
        joined = "".join(self.blocks[number].digest for number in sorted(self.blocks))
        return hashlib.sha256(joined.encode()).hexdigest()


def upper_bound(examples: int) -> float:
    """The rate of divergence that `examples` without a finding rule out at 95 %.

    Source: Clopper and Pearson's one-sided interval for none of n, about 3 / n.
    """
    return 1.0 - _LEVEL ** (1.0 / examples) if examples else 1.0
