"""Every seeded fault, by its name: those that each runtime and the services declare beside them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from runtimes.fault_packages import fault_packages
from seeded_faults import Fault, Site, faults_in

__all__ = ["faults"]

_SITES: Final = (Site.SERVICE, Site.LEGACY, Site.ADK)


@cache
def faults() -> Mapping[str, Fault]:
    """The whole catalogue, sorted by behaviour, site and name.

    Raises:
        ValueError: two faults have the same name.
    """
    found: dict[str, Fault] = {}
    every = [fault for package in fault_packages() for fault in faults_in(package)]
    for fault in sorted(every, key=_place):
        if fault.name in found:
            raise ValueError(f"two faults are called {fault.name}")
        found[fault.name] = fault
    return found


def _place(fault: Fault) -> tuple[str, int, str]:
    """A sample depends on this order where strata have equal claims to a place in it."""
    return fault.behaviour, _SITES.index(fault.site), fault.name
