"""Every seeded fault, by its name. One module for each behaviour; `held_out_*` came last."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from harness.faults.fault import Fault

__all__ = ["faults"]


@cache
def faults() -> Mapping[str, Fault]:
    """The whole catalogue, in order of the modules' names.

    Each module of this package has a tuple `FAULTS`.
    """
    found: dict[str, Fault] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda each: each.name):
        for fault in importlib.import_module(f"{__name__}.{module.name}").FAULTS:
            if fault.name in found:
                raise ValueError(f"two faults are called {fault.name}")
            found[fault.name] = fault
    return found
