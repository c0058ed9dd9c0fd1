"""A generated run: blocks handed out, what they find gathered, known findings muted.

Which examples are drawn follows from way, profile, seed and the number of blocks alone; workers only
decide who runs them. A run ends after whole blocks, so that what was drawn can be named.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from harness.parity.waivers import Waivers
from harness.scenarios.block import BLOCK_EXAMPLES, BlockDone, BlockTask, Finding
from harness.scenarios.drawing import Way

__all__ = ["Generation", "GenerationPlan", "block_tasks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationPlan:
    """What was asked for."""

    way: Way
    profile: str
    seed: int
    control: str
    candidate: str
    waivers: Waivers
    examples: int | None = None
    """How many scenarios; `None` goes on until `enough` says so."""


def block_tasks(
    plan: GenerationPlan, enough: Callable[[], bool], muted: Callable[[], frozenset[str]]
) -> Iterator[BlockTask]:
    """The blocks of a run, one after the other, as somebody asks for them.

    Args:
        plan: What was asked for.
        enough: Whether no further block is to be begun.
        muted: The fingerprints that are known by now.
    """
    left = plan.examples
    number = 0
    while not enough() and (left is None or left > 0):
        examples = BLOCK_EXAMPLES if left is None else min(BLOCK_EXAMPLES, left)
        yield BlockTask(
            way=plan.way,
            profile=plan.profile,
            seed=plan.seed,
            number=number,
            examples=examples,
            control=plan.control,
            candidate=plan.candidate,
            waivers=plan.waivers,
            muted=muted(),
        )
        left = None if left is None else left - examples
        number += 1


@dataclass(slots=True)
class Generation:
    """What a run has come to so far."""

    blocks: dict[int, BlockDone] = field(default_factory=dict)
    findings: dict[str, Finding] = field(default_factory=dict)
    """The finding of each fingerprint, of the block with the lowest number."""
    seen: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)

    def add(self, done: BlockDone) -> list[Finding]:
        """Take in a block; returns the findings that are new."""
        self.blocks[done.number] = done
        self.seen.update(done.seen)
        self.reached.update(done.reached)
        fresh: list[Finding] = []
        for finding in done.findings:
            known = self.findings.get(finding.fingerprint)
            if known is None:
                fresh.append(finding)
            if known is None or finding.block < known.block:
                self.findings[finding.fingerprint] = finding
        return fresh

    @property
    def examples(self) -> int:
        """Scenarios drawn."""
        return sum(done.examples for done in self.blocks.values())

    @property
    def digest(self) -> str:
        """SHA-256 over all scenarios in the order of their blocks: which examples were run."""
        joined = "".join(self.blocks[number].digest for number in sorted(self.blocks))
        return hashlib.sha256(joined.encode()).hexdigest()
