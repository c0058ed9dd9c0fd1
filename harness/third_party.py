"""The packages of third-party runtimes, as components of the inventory.

A verdict over such a runtime depends on its code. The files are found without importing the
package.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Final

from harness.inventory import Component, files_component, files_of
from harness.sides import baseline_folder, engines_of
from runtimes.registry import runtime_point

__all__ = ["RUNTIME", "runtime_components", "runtime_names"]

RUNTIME: Final = "runtime "
"""The prefix of such a component's name, before the name of the runtime."""


def runtime_names(*sides: str) -> list[str]:
    """Return the components of the third-party runtimes of `sides`; our runtimes have none."""
    engines = (
        engine for side in sides if baseline_folder(side) is None for engine in engines_of(side)
    )
    return list(dict.fromkeys(f"{RUNTIME}{engine.partition('@')[0]}" for engine in engines))


def runtime_components(sides: Iterable[str]) -> dict[str, Component]:
    """Return a component for each third-party runtime of `sides`.

    It has the files of the package that contains the entry point's module, by path from the
    package's folder, and the version of the distribution.
    """
    found = {}
    for name in runtime_names(*sides):
        point = runtime_point(name.removeprefix(RUNTIME))
        if point is not None:
            found[name] = _component(point)
    return found


def _component(point: EntryPoint) -> Component:
    files = dict(files_component(_files(point)).files)
    if point.dist is not None:
        files[f"version of {point.dist.name}"] = point.dist.version
    return Component(dict(sorted(files.items())))


def _files(point: EntryPoint) -> Iterator[tuple[str, Path]]:
    """Return the files of a module's top package, or of the module's part of a namespace."""
    try:
        parts = point.module.split(".")
    except AttributeError:  # the text is not an entry point
        return
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        spec = _spec(name)
        if spec is None:
            return
        folders = list(spec.submodule_search_locations or ())
        if folders and (spec.origin is not None or count == len(parts)):
            for folder in folders:
                yield from files_of(Path(folder), f"{name.replace('.', '/')}/")
            return
        if not folders:
            if spec.origin is not None:
                yield Path(spec.origin).name, Path(spec.origin)
            return


def _spec(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):  # opening the runtime reports the problem
        return None
