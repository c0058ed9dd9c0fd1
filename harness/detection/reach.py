"""Which cases a fault can change: those whose good run calls something that the fault wraps.

All other cases need no broken run. `replaced`, which puts every fault in, counts calls of functions
only: a fault that wraps a constant or a class is run with every case.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from harness.faults.catalogue import CatalogueAt
from seeded_faults import Fault
from seeded_faults.patching import Reach, replaced, watched

__all__ = ["Wrapped", "all_targets", "calls_noted", "wrapped_by"]

Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The targets that a fault replaces."""

    targets: frozenset[str]
    countable: bool
    """Whether every call of all of them is counted."""

    def touches(self, called: frozenset[str]) -> bool:
        """Whether the fault can change a run that called these targets."""
        return not self.countable or not self.targets.isdisjoint(called)


def wrapped_by(fault: Fault) -> Wrapped:
    """The targets of a fault, found by putting it in and taking it out.

    Raises:
        UnknownTarget: it can no longer be put in.
    """
    with watched() as reach, fault.breaks():
        return Wrapped(frozenset(reach.put_in), bool(reach.put_in) and not reach.uncounted)


@cache
def all_targets(catalogue: CatalogueAt) -> tuple[str, ...]:
    """All targets of a catalogue's faults whose calls can be counted, sorted."""
    found: set[str] = set()
    for fault in catalogue.faults().values():
        with watched() as reach:
            try:
                with fault.breaks():
                    found |= reach.put_in - reach.uncounted
            except Exception:  # noqa: BLE001, S112 - any fault's code; `dead` reports it
                continue
    return tuple(sorted(found))


@contextmanager
def calls_noted(targets: tuple[str, ...]) -> Iterator[Reach]:
    """Note which of `targets` are called in the meantime, and change nothing else."""
    with watched() as reach, ExitStack() as stack:
        for target in targets:
            stack.enter_context(replaced(target, _as_it_is))
        yield reach


def _as_it_is(kept: Kept) -> Kept:
    return kept
