"""One engine under two orders: where it did something else.

What is compared is what no order should change: what was asked on each thread, what came of each
call, what is remembered and written in the end. How the parent's stream interleaves is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
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
    """The order's, from 0."""
    observation: Observation
    trace: Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A run that is not what the same engine did under another order."""

    one: int
    other: int
    first: Divergence
    """The first difference, `one` standing where the control usually does."""
    shared: tuple[str, ...]
    """What was touched in another order; empty where no thread could have seen a difference."""


def differing(runs: Sequence[Seen]) -> list[Difference]:
    """Where the runs of one engine differ, at most once for each run.

    A run is compared with the first one in which everything shared was touched in the same order;
    the first of each such group with the first run of all.
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
    result = compared_without_secrets(
        lambda these, those: CaseResult(
            cassette=one.name, divergences=tuple(islice(_between(these[0], those[0]), 1))
        ),
        [one],
        [other],
    )
    return next(iter(result.divergences), None)


def _between(one: Observation, other: Observation) -> Iterator[Divergence]:
    for found in compare_observations(one, other).divergences:
        if found.channel not in _TIMING:
            yield found
