"""What a verdict depends on: code, corpus and rules by digest, machine and packages by name.

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

CODE: Final = ("agent_protocol", "services", "runtimes", "surfaces", "harness")
"""The components that are code, each a package, without the fault catalogue."""
PACKAGES: Final = (*CODE, "seeded_faults")
"""The packages of our code. What faults are made of counts as a part of the harness."""
CATALOGUE: Final = "fault catalogue"
HELPERS: Final = "corpus helpers"
"""Programs that cassettes start, such as servers: they lie beside them and are none themselves."""
_PACKAGES: Final = Path(__file__).resolve().parents[1]
_FAULTS: Final = re.compile(r"(services|runtimes/\w+)/faults/")
"""Where the faults of the catalogue lie: beside what they break."""
_DATA: Final = frozenset(
    {"harness/corpus", "harness/baselines", "harness/contract.md", "services/docs"}
)
"""What a wheel bundles with the code: components of their own, and the documentation, which a
checkout has outside its packages. A wheel and the checkout it was built from have equal digests."""
_LEFT_OUT: Final = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache"})
_UNREADABLE: Final = "unreadable"
_NAMED: Final = 3


@dataclass(frozen=True)
class Component:
    """One part of what a verdict rests on."""

    files: Mapping[str, str] = field(default_factory=dict)
    """Name, with `/`, to the SHA-256 of the file, 64 hex digits; of distributions the version."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """What is in the files, where that has names: of waivers, id to SHA-256."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 over names and contents, 64 hex digits; empty where there is nothing."""
        return sha256_hex(canonical([self.files, self.parts])) if self.files else ""

    @property
    def names(self) -> Mapping[str, str]:
        """What a change is named by: the parts where there are some, else the files."""
        return self.parts or self.files


@dataclass(frozen=True)
class Inventory:
    """Everything that a verdict rests on but the machine, by component."""

    components: Mapping[str, Component]

    @property
    def digests(self) -> dict[str, str]:
        """Component to digest."""
        return {name: component.digest for name, component in self.components.items()}

    def differences(self, now: Inventory) -> list[str]:
        """In what two inventories differ, in words; `self` is the earlier one."""
        found = []
        for name in dict.fromkeys([*self.components, *now.components]):
            was = self.components.get(name, Component())
            is_now = now.components.get(name, Component())
            if was.digest != is_now.digest:
                found.append(f"{name}: {_in_words(was.names, is_now.names)}")
        return found


def changes(was: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Name to `changed`, `new` or `gone`, for what is not the same in both; sorted by name."""
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
    """Our own code as it is now, and the catalogue of faults. Read once in a process.

    Sources and what lies beside them as data; what was compiled from them is left out. A compiled
    file that lies among them is not: Python takes `wire/__init__.pyc` before `wire.py`.
    """
    found: dict[str, dict[str, str]] = {name: {} for name in (*CODE, CATALOGUE)}
    for package in PACKAGES:
        component = package if package in CODE else "harness"
        for name, file in files_of(_PACKAGES / package, f"{package}/"):
            found[CATALOGUE if _FAULTS.match(name) else component][name] = file_digest(file)
    return {name: Component(files) for name, files in found.items()}


def code_digest(digests: Mapping[str, str]) -> str:
    """12 hex digits over our own code, fault catalogue included; of component to digest."""
    # A journal is somebody else's text, and may lack one.
    parts = [(name, digests.get(name, "")) for name in (*CODE, CATALOGUE)]
    return sha256_hex(canonical(parts))[:12]


def files_component(files: Iterable[tuple[str, Path]]) -> Component:
    """A component of files as (name, file). One that is not there is left out."""
    read = ((name, file_digest(file)) for name, file in sorted(files) if file.exists())
    return Component(dict(read))


def layered_component(folders: Sequence[Path], names: Iterable[str]) -> Component:
    """A component of files that are looked for in several folders, in this order.

    What a later folder has otherwise counts too, with the folder's number behind its name; where
    the folders are does not, so that it is the same on every machine.
    """
    there = dict.fromkeys(folder.resolve() for folder in folders if folder.is_dir())
    found: dict[str, str] = {}
    for name in sorted(names):
        digests = (file_digest(file) for file in (each / name for each in there) if file.exists())
        for number, digest in enumerate(dict.fromkeys(digests), 1):
            found[name if number == 1 else f"{name} ({number})"] = digest
    return Component(found)


def helpers_component(cassettes: Iterable[tuple[str, Path]]) -> Component:
    """The programs (`*.py`) in the folders that the cassettes, as (name, file), are named from."""
    roots = {file.absolute().parents[len(Path(name).parts) - 1] for name, file in cassettes}
    found = [(file.name, file) for root in sorted(roots) for file in sorted(root.glob("*.py"))]
    return files_component(found)


def waivers_component(file: Path | None) -> Component:
    """The waivers file, and each waiver in it by its id; `None` is none at all.

    A file of another form has no parts: `load_waivers` reports what is wrong with it.
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
    """One waiver as JSON, in which its dates are texts."""
    return json.dumps(entry, sort_keys=True, default=str)


def file_digest(file: Path) -> str:
    """SHA-256 of a file, 64 hex digits; one that cannot be read counts as such."""
    try:
        with open_regular(file) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return _UNREADABLE


def environment(sides: Sequence[str] = ()) -> dict[str, str]:
    """The machine, as far as it can show: what to what, in words, the same on equal machines.

    Python, platform, the published core that is the measure, and the packages that this project
    asks for, by version. Node stands there only where the published core is itself among `sides`,
    the runtimes that are run: nothing else depends on it.
    """
    asked = [side.partition("@") for side in sides]
    cores = sorted({version or DEFAULT_VERSION for name, _, version in asked if name == "upstream"})
    found = {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": f"{platform.system()} {platform.machine()}",
        "core": ", ".join(cores) or DEFAULT_VERSION,
        # Tools measure texts that name the workspace: its length shows, and nothing else of it.
        "temporary folder": f"{len(str(Path(tempfile.gettempdir()).resolve()))} characters long",
    }
    if cores:
        found["node"] = _node_version()
    installed = installed_distributions()
    return found | {name: installed[name] for name in _asked_for() if name in installed}


@cache
def installed_distributions() -> Mapping[str, str]:
    """Every installed distribution by version, read from the names of the folders, sorted.

    Reading the metadata of each would take longer than all the rest of an inventory.
    """
    found: dict[str, str] = {}
    for place in sys.path:
        try:
            entries = list(os.scandir(place or "."))
        except OSError:
            continue
        for entry in entries:
            stem, dot, kind = entry.name.rpartition(".")
            name, dash, version = stem.partition("-")
            if dot and kind in ("dist-info", "egg-info") and dash:
                found.setdefault(_normal(name), version.partition("-")[0])
    return dict(sorted(found.items()))


@cache
def _asked_for() -> tuple[str, ...]:
    """The distributions that this project names as its own dependencies, itself first."""
    try:
        lines = requires("parity") or []
    except PackageNotFoundError:  # a checkout that is run as it lies there
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
    """The version of node; empty where none is found, which opening the core reports."""
    try:
        return node_version()
    except UpstreamUnavailable:
        return ""


def files_of(folder: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    """Every file below `folder` with its name, sorted; caches and bundled data left out."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = f"{prefix}{entry.name}"
        if entry.name in _LEFT_OUT or name in _DATA:
            continue
        if entry.is_dir():
            yield from files_of(Path(entry.path), f"{name}/")
        else:
            yield name, Path(entry.path)
