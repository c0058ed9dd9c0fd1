"""Compares the runs of one engine under several orders.

It compares what no order may change: the requests on each thread, the results of calls, the stored
conversation and the files. The interleaving of the parent's stream may change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harness.experiment.shareable import compared_without_secrets
from harness.orders.shared import Trace, apart
from harness.parity.channels import CHANNELS
from harness.parity.compare import compare_observations
from harness.parity.divergence import Divergence
from harness.parity.verdict import CaseResult
from harness.replay.observation import Observation

__all__ = ["Difference", "Seen", "differing"]

_TIMING: Final = frozenset(channel.name for channel in CHANNELS if channel.timing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One engine's run under one order."""

    number: int
    """The number of the order, from 0."""
    observation: Observation
    trace: Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference between two runs of one engine under different orders."""

    one: int
    other: int
    first: Divergence
    """The first difference; `one` is its control."""
    shared: tuple[str, ...]
    """Shared things that were accessed in another order; empty if no thread could notice any."""


def differing(runs: Sequence[Seen]) -> list[Difference]:
    """The differences between the runs of one engine, at most one for each run.

    Runs that accessed everything shared in the same order form a group. A run is compared with the
    first of its group, and the first of each group with the first run of all.
    """
    found: list[Difference] = []
    groups: list[Seen] = []
    for run in runs:
        alike = next((each for each in groups if not apart(each.trace, run.trace)), None)
        if alike is None:
            groups.append(run)
            alike = groups[0]
        if alike is run:
            continue
        first = _first_difference(alike.observation, run.observation)
        if first is not None:
            shared = apart(alike.trace, run.trace)
            found.append(Difference(one=alike.number, other=run.number, first=first, shared=shared))
    return found


def _first_difference(one: Observation, other: Observation) -> Divergence | None:
    """The first difference, without secrets."""

    def compared(these: Sequence[Observation], those: Sequence[Observation]) -> CaseResult:
        every = compare_observations(these[0], those[0]).divergences
        found = [each for each in every if each.channel not in _TIMING]
        return CaseResult(cassette=one.name, divergences=tuple(found[:1]))

    result = compared_without_secrets(compared, [one], [other])
    return next(iter(result.divergences), None)
