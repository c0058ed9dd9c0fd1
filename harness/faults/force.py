"""Put a fault into the runs of the runtimes that it breaks."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from harness.sides import engines_of
from seeded_faults import Fault, Site

__all__ = ["breaks_side", "in_force"]


def breaks_side(fault: Fault, runtime: str) -> bool:
    """Whether a fault breaks runs of `runtime`, also of `adk+legacy`; never the published core."""
    broken = (Site.LEGACY, Site.ADK) if fault.site is Site.SERVICE else (fault.site,)
    return any(engine in broken for engine in engines_of(runtime))


def in_force(fault: Fault | None, runtime: str) -> AbstractContextManager[None]:
    """Put `fault` in for a run of `runtime`; do nothing if it does not break that runtime."""
    if fault is None or not breaks_side(fault, runtime):
        return nullcontext()
    return fault.breaks()
