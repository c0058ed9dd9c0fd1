"""The packages of this project under names that no other project has, such as `parity.services`.

Our packages have short names (`services`, `harness`), and import each other by them. The project of
a user may have packages of the same names. So every program of a user imports ours through this
package: the command, the pytest plugin's process, and the user's code (`from
parity.runtimes.contract import Runtime`). Python then has each module of ours under its long name,
and the name `services` is free for the user.

Our code stays as it is written: its modules get an `__import__` of their own, which reads
`services` as `parity.services`. Functions that get the name of a module as text pass it through
`own_name`.

In a process that has imported our packages by their short names before, such as a run of our own
tests, this package gives the same modules a second name.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, Final

__all__ = ["BUILTINS", "OWN", "ROOT", "OwnLoader", "own_name", "short_name"]

OWN: Final = frozenset(
    {
        "adapters",
        "agent_protocol",
        "harness",
        "parity_tests",
        "runtimes",
        "seeded_faults",
        "services",
        "surfaces",
    }
)
"""The short names of our packages. A wheel has no `parity_tests`."""

_HERE: Final = Path(__file__).resolve().parent
ROOT: Final = _HERE if (_HERE / "services").is_dir() else _HERE.parent
"""The folder of our packages: this one in a wheel, the one around it in a checkout."""
_PREFIX: Final = f"{__name__}."


def _is_ours(name: str) -> bool:
    """Whether a module of that short name is imported, and it is ours."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and Path(file).resolve().is_relative_to(ROOT)


_SHORT: Final = any(map(_is_ours, OWN))
"""Whether the modules of this process have their short names."""


def own_name(name: str) -> str:
    """Return the name by which this process has a module of ours, from its short name.

    Names of other modules stay as they are.
    """
    is_own = not _SHORT and name.partition(".")[0] in OWN
    return f"{_PREFIX}{name}" if is_own else name


def short_name(name: str) -> str:
    """Return the short name of a module of ours; names of other modules stay as they are."""
    return name.removeprefix(_PREFIX)


def _import(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """`__import__` of our modules: a short name of ours means the module below this package."""
    top = name.partition(".")[0]
    if level or top not in OWN:
        return builtins.__import__(name, globals, locals, fromlist or (), level)
    module = builtins.__import__(f"{_PREFIX}{name}", globals, locals, fromlist or (), 0)
    return module if fromlist else sys.modules[f"{_PREFIX}{top}"]


BUILTINS: Final[dict[str, Any]] = (
    vars(builtins) if _SHORT else {**vars(builtins), "__import__": _import}
)
"""The built-in names of our modules."""


class OwnLoader(SourceFileLoader):
    """Loads a module of ours."""

    def exec_module(self, module: ModuleType) -> None:
        """Execute it with our `__import__`, which its functions keep."""
        vars(module)["__builtins__"] = BUILTINS
        super().exec_module(module)


class _SecondName(Loader):
    """Loads a module of ours under its short name."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module, which may exist already."""
        module = importlib.import_module(short_name(spec.name))
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Keep the specification of the module, which Python has replaced."""
        module.__spec__ = self._spec


class _Finder:
    """Finds our packages below this one, and nothing else."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module of ours; `None` lets the other finders look.

        Raises:
            ImportError: code of others imports one of our packages by its short name.
        """
        if not name.startswith(_PREFIX):
            if name in OWN and not _SHORT:
                _refuse(name)
            return None
        short = name.removeprefix(_PREFIX)
        top, dot, _ = short.partition(".")
        if top not in OWN:
            return None
        if _SHORT:
            return ModuleSpec(name, _SecondName())
        found = PathFinder.find_spec(name, path if dot else [str(ROOT)])
        if found is not None and type(found.loader) is SourceFileLoader:
            found.loader = OwnLoader(found.loader.name, found.loader.path)
        return found


def _refuse(name: str) -> None:
    """Refuse to import a package of ours a second time, by its short name.

    In a checkout Python would find it. A package of that name elsewhere is the user's.
    """
    found = PathFinder.find_spec(name)
    if found is not None and found.origin and Path(found.origin).resolve().is_relative_to(ROOT):
        raise ImportError(f"import {_PREFIX}{name} instead of {name}", name=name)


sys.meta_path.insert(0, _Finder)
