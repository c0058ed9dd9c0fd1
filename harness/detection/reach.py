"""Which cases a fault can touch at all: those whose good run calls something that it wraps.

A wrapper that is never called changes nothing, so a case that does not call it needs no broken run.
This holds because faults are put in by `replaced` and nothing else; what `replaced` cannot count,
a constant or a class, may be looked at anywhere, and such a fault is run with every case.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from harness.detection.catalogue_at import CatalogueAt
from seeded_faults import Fault
from seeded_faults.patching import Reach, replaced, watched

__all__ = ["Wrapped", "all_targets", "calls_noted", "wrapped_by"]

Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class Wrapped:
    """What a fault puts something in the place of."""

    targets: frozenset[str]
    countable: bool
    """Whether every call of all of them is noticed."""

    def touches(self, called: frozenset[str]) -> bool:
        """Whether a run that called these targets could go differently with the fault in force."""
        return not self.countable or not self.targets.isdisjoint(called)


def wrapped_by(fault: Fault) -> Wrapped:
    """Find out by putting the fault in and out again.

    Raises:
        UnknownTarget: it can no longer be put in.
    """
    with watched() as reach, fault.breaks():
        return Wrapped(frozenset(reach.put_in), bool(reach.put_in) and not reach.uncounted)


@cache
def all_targets(catalogue: CatalogueAt) -> tuple[str, ...]:
    """All that the faults of a catalogue wrap and whose calls can be noticed, sorted."""
    found: set[str] = set()
    for fault in catalogue.faults().values():
        with watched() as reach:
            try:
                with fault.breaks():
                    found |= reach.put_in - reach.uncounted
            except Exception:  # noqa: BLE001, S112 - a border; said where that fault is asked for
                continue
    return tuple(sorted(found))


@contextmanager
def calls_noted(targets: tuple[str, ...]) -> Iterator[Reach]:
    """Notice which of `targets` are called in the meantime, and change nothing else."""
    with watched() as reach, ExitStack() as stack:
        for target in targets:
            stack.enter_context(replaced(target, _as_it_is))
        yield reach


def _as_it_is(kept: Kept) -> Kept:
    return kept
