"""A generated run as values: what was asked for, its blocks, and what they come to.

Which examples are drawn follows from way, profile, seed and number of blocks alone; workers only
decide who runs them. A run ends after whole blocks, so that what was drawn can be named.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.canonical import canonical, sha256_hex
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
"""The fingerprint of a scenario that kills the process in which it runs."""

_LEVEL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationPlan:
    """What was asked for."""

    way: Way
    profile: str
    seed: int
    control: str
    candidate: str
    waivers: Waivers
    fault: str | None = None
    """The name of a seeded fault to put in."""
    examples: int | None = None
    """How many scenarios; `None` goes on until `enough` says so."""

    @property
    def drawn_from(self) -> Profile:
        """The weights that are drawn by: the profile, without what a side cannot do."""
        return profile_between(self.profile, self.control, self.candidate)

    @property
    def facts(self) -> JsonObject:
        """What makes two runs the same run: which examples, between whom."""
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
        """The command line that draws the same; `examples` where the plan does not say how many."""
        words = ["parity", "generate", f"--{self.way}", "--profile", self.profile]
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
    """The blocks of a run, one after the other, as somebody asks for them.

    Args:
        plan: What was asked for.
        enough: Whether no further block is to be begun.
        muted: Given a block's number, the fingerprints that are known by then.
        done: The numbers of blocks that need not be run again.
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
                muted=muted(number),
            )
        left = None if left is None else left - examples
        number += 1


class Again(StrEnum):
    """What a finding did when it was run again."""

    CAME = "came again"
    NOISE = "noise"
    """The control differs from itself: nothing can be said."""
    NONDETERMINISTIC = "nondeterministic"
    """The candidate alone differs from itself."""
    GONE = "did not come again"
    """Neither side differs from itself, and yet: nothing can be said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a finding after it was found."""

    again: Again
    result: CaseResult
    """How it is judged now."""
    remark: str = ""
    """What the runs again showed, where it did not simply come again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrinking:
    """What shrinking a finding came to."""

    words: str
    result: CaseResult | None = None
    """How the small one is judged; `None` where there is none."""


@dataclass(slots=True)
class Generation:
    """What a run has come to so far."""

    blocks: dict[int, BlockDone] = field(default_factory=dict)
    findings: dict[str, Finding] = field(default_factory=dict)
    """The finding of each fingerprint, of the block with the lowest number."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    shrunk: dict[str, Shrinking] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    unsettled: Counter[str] = field(default_factory=Counter)

    def add(self, done: BlockDone) -> list[Finding]:
        """Take in a block; returns the findings that are new, or now of an earlier block."""
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
        """What blocks before that one have found: the same for it whoever else works."""
        return frozenset(name for name, finding in self.findings.items() if finding.block < number)

    def result_of(self, fingerprint: str) -> CaseResult:
        """How a finding is judged by now."""
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
        """How many were run over a socket, too."""
        return sum(done.over_bytes for done in self.blocks.values())

    @property
    def repeated(self) -> int:
        """Of these, drawn before in their block and not run again."""
        return sum(done.repeated for done in self.blocks.values())

    @property
    def spent(self) -> Mapping[str, float]:
        """Processor seconds of all workers, by what they were spent on."""
        blocks = self.blocks.values()
        return {
            "drawing": sum(done.draw_s for done in blocks),
            "running": sum(done.run_s for done in blocks),
            "comparing": sum(done.compare_s for done in blocks),
        }

    @property
    def digest(self) -> str:
        """SHA-256 over all scenarios in the order of their blocks: which examples were run."""
        joined = "".join(self.blocks[number].digest for number in sorted(self.blocks))
        return hashlib.sha256(joined.encode()).hexdigest()


def upper_bound(examples: int) -> float:
    """The rate that is ruled out at 95 % by so many independent examples without a finding.

    Source: Clopper and Pearson's one-sided interval for none of n, which for large n is 3 / n.
    """
    return 1.0 - _LEVEL ** (1.0 / examples) if examples else 1.0
