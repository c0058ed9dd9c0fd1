"""Compare two observations that come from different runs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from harness.experiment.shareable import compared_without_secrets
from harness.parity.compare import compare_repeated
from harness.parity.verdict import CaseResult
from harness.replay.observation import Observation

__all__ = ["compared"]


@dataclass(frozen=True, slots=True)
class _Facts:
    name: str
    unused: Collection[int]
    phase: str | None = None
    contract: tuple[str, ...] = ()


def compared(control: Observation, candidate: Observation, name: str) -> CaseResult:
    """Compare as `parity run` does, before waivers; `name` becomes the case's name.

    Equal unused steps are no doubt: a trace does not say which steps may be unused.
    """
    facts = _Facts(control.name, tuple({*control.unused_steps, *candidate.unused_steps}))
    result = compared_without_secrets(
        lambda these, those: compare_repeated(these, those, facts), [control], [candidate]
    )
    divergences = tuple(replace(found, cassette=name) for found in result.divergences)
    return replace(result, cassette=name, divergences=divergences)
