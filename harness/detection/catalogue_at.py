"""Where a catalogue of faults is found: by name, because faults themselves cannot be sent about.

A fault holds functions that wrap functions. A worker is told the fault's name and where to find
the catalogue, and looks it up for itself.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from seeded_faults import Fault

__all__ = ["CatalogueAt"]


@dataclass(frozen=True, slots=True)
class CatalogueAt:
    """A catalogue by `module:function`, which returns the faults by their names."""

    target: str = "harness.faults.catalogue:faults"

    def faults(self) -> Mapping[str, Fault]:
        """The whole catalogue."""
        module, _, name = self.target.partition(":")
        return cast("Mapping[str, Fault]", getattr(importlib.import_module(module), name)())
