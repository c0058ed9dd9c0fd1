"""The catalogue of seeded faults, which the runtimes and services declare beside their code."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, cast

from parity import own_name
from runtimes.fault_packages import fault_packages
from seeded_faults import Fault, Site, faults_in

__all__ = ["CatalogueAt", "faults"]

_SITES: Final = (Site.SERVICE, Site.LEGACY, Site.ADK)


@cache
def faults() -> Mapping[str, Fault]:
    """Return the whole catalogue, sorted by behaviour, site and name.

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


@dataclass(frozen=True, slots=True)
class CatalogueAt:
    """A catalogue by `module:function`: faults hold functions, so a worker cannot receive them."""

    target: str = "harness.faults.catalogue:faults"

    def faults(self) -> Mapping[str, Fault]:
        """Return the whole catalogue."""
        module, _, name = self.target.partition(":")
        made = getattr(importlib.import_module(own_name(module)), name)()
        return cast("Mapping[str, Fault]", made)


def _place(fault: Fault) -> tuple[str, int, str]:
    """Return the order of the catalogue; a stratified sample depends on it where strata tie."""
    return fault.behaviour, _SITES.index(fault.site), fault.name
