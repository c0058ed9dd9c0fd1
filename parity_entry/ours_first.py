"""Import this module to get our packages from the folder of this package.

`sys.path` may begin with a folder of the user that has a `harness` or `services` (PYTHONPATH,
`python -m`). Only processes of this project import this module, never the user's interpreter.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Final

__all__ = ["OURS"]

OURS: Final = frozenset(
    {"agent_protocol", "seeded_faults", "services", "runtimes", "surfaces", "harness"}
)
"""The packages of this project whose names a user's project may have as well."""
_ROOT: Final = str(Path(__file__).resolve().parents[1])


class _OursFirst:
    """A finder of modules (PEP 451) that knows our packages and nothing else."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The package of that name beside this one; None lets the other finders look."""
        return PathFinder.find_spec(name, [_ROOT]) if name in OURS else None


sys.meta_path.insert(0, _OursFirst)
