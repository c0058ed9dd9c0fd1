"""The packages of seeded faults: each runtime's own, the services', and those of other packages.

They are found by entry points (group `parity.faults`). Ours are known even where this project runs
uninstalled; deleting a runtime deletes its faults.
"""

from __future__ import annotations

import importlib
import importlib.util
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Final

from parity import own_name
from runtimes.registry import known_runtimes, runtime_point

__all__ = ["fault_packages"]

_GROUP: Final = "parity.faults"


def fault_packages() -> list[ModuleType]:
    """Import every package of faults. Its modules are still to be imported."""
    ours = [f"runtimes.{name}" for name in known_runtimes() if runtime_point(name) is None]
    names = [own_name(f"{package}.faults") for package in ("services", *ours)]
    found = {name: None for name in names if importlib.util.find_spec(name) is not None}
    others = {point.module: None for point in entry_points(group=_GROUP) if not _is_ours(point)}
    return [importlib.import_module(name) for name in {**found, **others}]


def _is_ours(point: EntryPoint) -> bool:
    return point.dist is not None and point.dist.name == "parity"
