"""The code of third-party runtimes, as components of the inventory.

A verdict over such a runtime depends on its code. The files are found without importing the
package.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import urlparse
from urllib.request import url2pathname

from harness.inventory import Component, files_component, files_of
from harness.sides import baseline_folder, engines_of
from runtimes.project import current_project
from runtimes.project_file import PROJECT_FILE
from runtimes.registry import runtime_point

__all__ = ["RUNTIME", "runtime_components", "runtime_names"]

RUNTIME: Final = "runtime "
"""The prefix of such a component's name, before the name of the runtime."""
_CODE: Final = frozenset({".py", ".pyi", ".toml", ".json", ".yaml", ".yml", ".txt", ".md", ".j2"})
"""The files of a folder that count: code, prompts and settings."""
_LEFT_OUT: Final = frozenset({"build", "dist", "node_modules", "parity-report", "site-packages"})


def runtime_names(*sides: str) -> list[str]:
    """Return the components of the third-party runtimes of `sides`; our runtimes have none."""
    engines = (
        engine for side in sides if baseline_folder(side) is None for engine in engines_of(side)
    )
    return list(dict.fromkeys(f"{RUNTIME}{engine.partition('@')[0]}" for engine in engines))


def runtime_components(sides: Iterable[str]) -> dict[str, Component]:
    """Return a component for each third-party runtime of `sides`.

    It has the package with the runtime's factory, by path from the package's folder; the other
    packages of its distribution, and the distribution's version. A runtime of a project file has
    that file and the project's `code` instead, by path from the project's folder.
    """
    found = {}
    for name in runtime_names(*sides):
        point = runtime_point(name.removeprefix(RUNTIME))
        if point is not None:
            found[name] = _component(point)
    return found


def _component(point: EntryPoint) -> Component:
    found = [*_files(point)]
    if point.group == PROJECT_FILE:
        found = [*_only_code([*_project_files(), *_from_project(found)])]
    elif point.dist is not None:
        found = [*_distribution_files(point.dist), *found]
    # The first name of a file counts: the one from the project's folder.
    named = {place.resolve(): name for name, place in reversed(found)}
    files = dict(files_component((name, place) for place, name in named.items()).files)
    if point.dist is not None:
        files[f"version of {point.dist.name}"] = point.dist.version
    return Component(dict(sorted(files.items())))


def _project_files() -> Iterator[tuple[str, Path]]:
    """Yield the project file, and the files that it names as the agents' code."""
    project = current_project()
    if project is None:
        return
    yield PROJECT_FILE, project.file
    for name in project.code:
        place = project.place(name)
        shown = PurePosixPath(name).as_posix()
        if place.is_dir():
            yield from _code_below(place, "" if shown == "." else f"{shown}/")
        elif place.is_file():
            yield shown, place


def _only_code(files: Iterable[tuple[str, Path]]) -> Iterator[tuple[str, Path]]:
    """Yield files without those that the project file names for other purposes than code.

    The corpus, the waivers and the gates have components of their own, and a new record must not
    change what it is about. They may lie in a folder of code.
    """
    project = current_project()
    if project is None:
        return
    suite = (project.waivers, project.gates, project.contract, project.signoffs)
    named = [name for name in (*project.corpus, *suite) if name is not None]
    other = [project.place(name).resolve() for name in named]
    for name, file in files:
        place = file.resolve()
        if not any(place.is_relative_to(each) for each in other):
            yield name, file


def _from_project(files: Iterable[tuple[str, Path]]) -> Iterator[tuple[str, Path]]:
    """Yield files under their paths from the project's folder, where they lie in it."""
    project = current_project()
    folder = Path() if project is None else project.folder.resolve()
    for name, file in files:
        place = file.resolve()
        inside = place.is_relative_to(folder)
        yield place.relative_to(folder).as_posix() if inside else name, file


def _distribution_files(dist: Distribution) -> Iterator[tuple[str, Path]]:
    """Yield the code of a distribution: what it installed, or the folder that it is edited in."""
    folder = _edited_in(dist)
    if folder is not None:
        yield from _code_below(folder, "")
        return
    for file in dist.files or ():
        if file.suffix in (".py", ".pyi", ".so", ".pyd") and ".." not in file.parts:
            yield file.as_posix(), Path(str(dist.locate_file(file)))


def _edited_in(dist: Distribution) -> Path | None:
    """Return the folder of an editable installation. Source: PEP 610, `direct_url.json`."""
    try:
        origin = json.loads(dist.read_text("direct_url.json") or "{}")
        url = urlparse(origin["url"]) if origin["dir_info"]["editable"] else None
    except (ValueError, KeyError, TypeError):
        return None
    place = None if url is None or url.scheme != "file" else Path(url2pathname(url.path))
    return place if place is not None and place.is_dir() else None


def _code_below(folder: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    """Yield code files, without hidden folders, environments and what was built."""
    for entry in sorted(folder.iterdir()):
        hidden = entry.name.startswith(".") or entry.name in _LEFT_OUT
        if hidden or (entry / "pyvenv.cfg").exists() or entry.name.endswith(".egg-info"):
            continue
        if entry.is_dir() and not entry.is_symlink():
            if entry.name != "__pycache__":
                yield from _code_below(entry, f"{prefix}{entry.name}/")
        elif entry.suffix in _CODE:
            yield f"{prefix}{entry.name}", entry


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
