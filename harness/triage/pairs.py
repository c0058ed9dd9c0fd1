"""Two observations that were not made by one run, compared as a run would compare them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from harness.parity.compare import compare_repeated
from harness.parity.verdict import CaseResult
from harness.replay.observation import Observation

__all__ = ["compared", "labels"]


@dataclass(frozen=True, slots=True)
class _Facts:
    name: str
    unused: Collection[int]
    phase: str | None = None
    contract: tuple[str, ...] = ()


def compared(control: Observation, candidate: Observation) -> CaseResult:
    """The same rules, channels and explanations as in a run, before waivers.

    What is left over alike is nobody's doubt here: which steps a cassette declares so, a trace does
    not say.
    """
    facts = _Facts(control.name, tuple({*control.unused_steps, *candidate.unused_steps}))
    return compare_repeated([control], [candidate], facts)


def labels(control: Observation, candidate: Observation, here: str, there: str) -> tuple[str, str]:
    """What to call the two sides: by their runtimes, or where those are one by `here`, `there`."""
    if control.runtime != candidate.runtime:
        return control.runtime, candidate.runtime
    return here, there
