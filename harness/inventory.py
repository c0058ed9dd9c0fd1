"""The inputs of a verdict: code, corpus and rules by digest, machine and packages by name.

An `Inventory` lists the files of each component with their digests, so that a difference between
two inventories names the file, waiver or package. The results of runs with equal inventories can be
merged.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Final

from harness.canonical import canonical, sha256_hex
from runtimes.published import DEFAULT_VERSION, UpstreamUnavailable, node_version
from services.regular_files import MOST_TEXT, open_regular, read_regular

__all__ = [
    "CODE",
    "NOT_CODE",
    "PACKAGES",
    "Component",
    "Inventory",
    "changes",
    "code_components",
    "code_digest",
    "environment",
    "files_component",
    "files_of",
    "helpers_component",
    "installed_distributions",
    "layered_component",
    "waivers_component",
]

CODE: Final = ("agent_protocol", "services", "runtimes", "surfaces", "harness", "adapters")
"""The components of code, one for each package, without the fault catalogue."""
PACKAGES: Final = (*CODE, "seeded_faults")
"""The packages of our code. The tools for making faults count as a part of the harness."""
CATALOGUE: Final = "fault catalogue"
HELPERS: Final = "corpus helpers"
"""The component of the programs beside cassettes that cassettes start, such as servers."""
_PACKAGES: Final = Path(__file__).resolve().parents[1]
_FAULTS: Final = re.compile(r"(services|runtimes/\w+)/faults/")
"""The folders of the catalogue's faults, beside the code that they break."""
_DATA: Final = frozenset(
    {"harness/corpus", "harness/baselines", "harness/contract.md", "services/docs"}
)
"""Data that a wheel bundles with the code and a checkout has outside its packages. It is excluded,
so that a wheel and its checkout have equal digests."""
NOT_CODE: Final = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache"})
"""Folders beside the code that tools write; no part of any component."""
_UNREADABLE: Final = "unreadable"
_NAMED: Final = 3


@dataclass(frozen=True)
class Component:
    """One part of the inputs of a verdict."""

    files: Mapping[str, str] = field(default_factory=dict)
    """File name with `/` → SHA-256, 64 hex digits; or name of a distribution → version."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """The named entries in the files, if any: id of a waiver → SHA-256."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 over names and contents, 64 hex digits; empty without files."""
        return sha256_hex(canonical([self.files, self.parts])) if self.files else ""

    @property
    def names(self) -> Mapping[str, str]:
        """The names that changes are reported by: the parts if there are any, else the files."""
        return self.parts or self.files


@dataclass(frozen=True)
class Inventory:
    """All inputs of a verdict except the machine, by component."""

    components: Mapping[str, Component]

    @property
    def digests(self) -> dict[str, str]:
        """Component → digest."""
        return {name: component.digest for name, component in self.components.items()}

    def differences(self, now: Inventory) -> list[str]:
        """Return the differences of two inventories as phrases; `self` is the earlier one."""
        found = []
        for name in dict.fromkeys([*self.components, *now.components]):
            was = self.components.get(name, Component())
            is_now = now.components.get(name, Component())
            if was.digest != is_now.digest:
                found.append(f"{name}: {_in_words(was.names, is_now.names)}")
        return found


def changes(was: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Return name → `changed`, `new` or `gone` for each difference, sorted by name."""
    words = {}
    for name in sorted({*was, *now}):
        if name not in was:
            words[name] = "new"
        elif name not in now:
            words[name] = "gone"
        elif was[name] != now[name]:
            words[name] = "changed"
    return words


def _in_words(was: Mapping[str, str], now: Mapping[str, str]) -> str:
    found = [f"{name} {word}" for name, word in changes(was, now).items()]
    if not found:
        return "changed, but in no named file"
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return ", ".join(found[:_NAMED]) + more


@cache
def code_components() -> Mapping[str, Component]:
    """Read our own code and the catalogue of faults, once in a process.

    Includes sources and data files, without `__pycache__`. A compiled file beside the sources is
    included, because Python prefers `wire/__init__.pyc` to `wire.py`.
    """
    found: dict[str, dict[str, str]] = {name: {} for name in (*CODE, CATALOGUE)}
    for package in PACKAGES:
        component = package if package in CODE else "harness"
        for name, file in files_of(_PACKAGES / package, f"{package}/"):
            found[CATALOGUE if _FAULTS.match(name) else component][name] = file_digest(file)
    return {name: Component(files) for name, files in found.items()}


def code_digest(digests: Mapping[str, str]) -> str:
    """Return 12 hex digits over our code and faults, from the digest of each component."""
    # A journal may come from another build, and lack a component.
    parts = [(name, digests.get(name, "")) for name in (*CODE, CATALOGUE)]
    return sha256_hex(canonical(parts))[:12]


def files_component(files: Iterable[tuple[str, Path]]) -> Component:
    """Make a component of files, as (name, file). Missing files are left out."""
    read = ((name, file_digest(file)) for name, file in sorted(files) if file.exists())
    return Component(dict(read))


def layered_component(folders: Sequence[Path], names: Iterable[str]) -> Component:
    """Make a component of files from several folders, in this order.

    A file that differs in a later folder is included, too, with the folder's number after its name.
    The paths of the folders are not, so that the component is equal on every machine.
    """
    there = dict.fromkeys(folder.resolve() for folder in folders if folder.is_dir())
    found: dict[str, str] = {}
    for name in sorted(names):
        digests = (file_digest(file) for file in (each / name for each in there) if file.exists())
        for number, digest in enumerate(dict.fromkeys(digests), 1):
            found[name if number == 1 else f"{name} ({number})"] = digest
    return Component(found)


def helpers_component(cassettes: Iterable[tuple[str, Path]]) -> Component:
    """Make the component of programs (`*.py`) in the root folders of the cassettes."""
    roots = {file.absolute().parents[len(Path(name).parts) - 1] for name, file in cassettes}
    found = [(file.name, file) for root in sorted(roots) for file in sorted(root.glob("*.py"))]
    return files_component(found)


def waivers_component(file: Path | None) -> Component:
    """Make the component of the waivers file, with each waiver as a part; `None` is no file.

    A malformed file has no parts; `load_waivers` reports its problem.
    """
    if file is None or not file.exists():
        return Component()
    try:
        entries = tomllib.loads(read_regular(file, MOST_TEXT).decode("utf-8-sig"))["waiver"]
        parts = {str(entry["id"]): sha256_hex(_table(entry)) for entry in entries}
    except (OSError, ValueError, KeyError, TypeError):
        parts = {}
    return Component({file.name: file_digest(file)}, dict(sorted(parts.items())))


def _table(entry: Mapping[str, object]) -> str:
    """Format a waiver as JSON, with dates as texts."""
    return json.dumps(entry, sort_keys=True, default=str)


def file_digest(file: Path) -> str:
    """Return the SHA-256 of a file, 64 hex digits, or a mark if it cannot be read."""
    try:
        with open_regular(file) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return _UNREADABLE


def environment(sides: Sequence[str] = ()) -> dict[str, str]:
    """Return the properties of the machine that a run can depend on: name → text.

    These are Python, the platform, the version of the published core, and the versions of this
    project's dependencies. Node is included only if the published core is one of `sides`, since
    nothing else depends on it.
    """
    asked = [side.partition("@") for side in sides]
    cores = sorted({version or DEFAULT_VERSION for name, _, version in asked if name == "upstream"})
    found = {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": f"{platform.system()} {platform.machine()}",
        "core": ", ".join(cores) or DEFAULT_VERSION,
        # Tools measure texts with the workspace's path, so its length matters, but not its name.
        "temporary folder": f"{len(str(Path(tempfile.gettempdir()).resolve()))} characters long",
    }
    if cores:
        found["node"] = _node_version()
    installed = installed_distributions()
    return found | {name: installed[name] for name in _asked_for() if name in installed}


@cache
def installed_distributions() -> Mapping[str, str]:
    """Return name → version of all installed distributions, sorted, from the names of folders.

    Reading the metadata of each would take longer than the rest of an inventory.
    """
    found: dict[str, str] = {}
    for place in sys.path:
        try:
            names = [each.name for each in Path(place).iterdir()]
        except OSError:
            continue
        for found_name in names:
            stem, dot, kind = found_name.rpartition(".")
            name, dash, version = stem.partition("-")
            if dot and kind in ("dist-info", "egg-info") and dash:
                found.setdefault(_normal(name), version.partition("-")[0])
    return dict(sorted(found.items()))


@cache
def _asked_for() -> tuple[str, ...]:
    """Return this project's distribution and its direct dependencies."""
    try:
        lines = requires("parity") or []
    except PackageNotFoundError:  # a checkout that is not installed
        lines = _dependencies_of_checkout()
    names = (_normal("".join(_leading_name(line))) for line in lines if "extra ==" not in line)
    return ("parity", *sorted(names))


def _dependencies_of_checkout() -> list[str]:
    try:
        text = (_PACKAGES / "pyproject.toml").read_text("utf-8")
        return [str(line) for line in tomllib.loads(text)["project"]["dependencies"]]
    except (OSError, ValueError, KeyError):
        return []


def _leading_name(requirement: str) -> Iterator[str]:
    for character in requirement:
        if not (character.isalnum() or character in "-_."):
            return
        yield character


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


@cache
def _node_version() -> str:
    """Return the version of node; empty without node, which opening the core reports."""
    try:
        return node_version()
    except UpstreamUnavailable:
        return ""


def files_of(folder: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    """Yield name and path of each file below `folder`, sorted, without caches and bundled data."""
    try:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = f"{prefix}{entry.name}"
        if entry.name in NOT_CODE or name in _DATA:
            continue
        if entry.is_dir():
            yield from files_of(Path(entry.path), f"{name}/")
        else:
            yield name, Path(entry.path)
