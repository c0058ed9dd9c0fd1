"""A fault in force for a run of the runtime that it concerns."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from harness.sides import engines_of
from seeded_faults import Fault, Site

__all__ = ["breaks_side", "in_force"]


def breaks_side(fault: Fault, runtime: str) -> bool:
    """Whether a run of `runtime` is broken by a fault. The published core never is.

    Of two that take turns (`adk+legacy`) one is enough: a fault of a runtime sits in its own
    code, which the other never calls.
    """
    broken = (Site.LEGACY, Site.ADK) if fault.site is Site.SERVICE else (fault.site,)
    return any(engine in broken for engine in engines_of(runtime))


def in_force(fault: Fault | None, runtime: str) -> AbstractContextManager[None]:
    """Put `fault` in for a run of `runtime`; nothing where it does not concern that runtime."""
    if fault is None or not breaks_side(fault, runtime):
        return nullcontext()
    return fault.breaks()
