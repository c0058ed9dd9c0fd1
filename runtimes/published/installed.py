"""Finds, describes and removes installed versions of the published core."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from runtimes.published.node import find_node
from runtimes.published.places import package_inside, upstream_folder, version_folder
from runtimes.published.problems import UpstreamUnavailable
from runtimes.published.versions import (
    DEFAULT_VERSION,
    is_version,
    version_order,
)

__all__ = [
    "LEFTOVER",
    "InstalledVersion",
    "check_available",
    "details",
    "install_command",
    "installed_versions",
    "package_folder",
    "package_json",
    "remove",
    "set_aside",
]

LEFTOVER: Final = ".leftover-"
"""The prefix of folders that are not yet, or no longer, installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledVersion:
    """One version, for `parity upstream list`.

    `node` is the requirement in the package's own words (`>=20`), empty if it names none; `size`
    is in bytes, of the package with all it depends on; `folder` is what `remove` deletes.
    """

    version: str
    is_default: bool
    node: str
    size: int
    folder: Path


def installed_versions() -> list[str]:
    """The versions that are installed completely, oldest first.

    Raises:
        UpstreamUnavailable: there is no place for a cache, or it may not be read.
    """
    folder = upstream_folder()
    try:
        names = [entry.name for entry in folder.iterdir() if is_version(entry.name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise UpstreamUnavailable(
            f"{folder} cannot be read: {error.strerror}",
            "mend its permissions, or name another cache folder with PARITY_CACHE_HOME",
        ) from error
    return sorted((name for name in names if _is_complete(name)), key=version_order)


def package_folder(version: str) -> Path:
    """The folder of the core's package, absolute: its `package.json` is of `version`.

    Raises:
        UpstreamUnavailable: `version` is not an exact version, or it is not installed.
    """
    folder = package_inside(version_folder(version))
    if not _is_complete(version):
        raise UpstreamUnavailable(
            f"the published core {version} is not installed", f"run `{install_command(version)}`"
        )
    return folder


def check_available(version: str) -> None:
    """Make sure that `version` can be run here.

    Raises:
        UpstreamUnavailable: node is missing or too old, or the version is not installed; the
            first of these that holds.
    """
    find_node()
    package_folder(version)


def details(version: str) -> InstalledVersion:
    """Describe an installed version; reads the size of every file.

    Raises:
        UpstreamUnavailable: it is not installed.
    """
    folder = version_folder(version)
    engines = package_json(package_folder(version)).get("engines")
    return InstalledVersion(
        version=version,
        is_default=version == DEFAULT_VERSION,
        node=str(engines.get("node", "")) if isinstance(engines, Mapping) else "",
        size=_size(folder),
        folder=folder,
    )


def remove(version: str) -> None:
    """Delete an installed version. One rename takes it away before its files are deleted.

    A folder of that name that is not a complete install is deleted too.

    Raises:
        UpstreamUnavailable: it is not installed, or may not be deleted.
    """
    folder = version_folder(version)
    if not folder.exists():
        others = ", ".join(installed_versions())
        raise UpstreamUnavailable(
            f"the published core {version} is not installed",
            f"installed: {others}" if others else "no version is",
        )
    try:
        aside = set_aside(folder)
    except OSError as error:
        raise UpstreamUnavailable(
            f"the published core {version} cannot be removed from {folder}: {error.strerror}",
            "mend the permissions and remove it again",
        ) from error
    # An install that starts now clears it away too: a file that is gone already is no failure.
    shutil.rmtree(aside, ignore_errors=True)
    if aside.exists():
        raise UpstreamUnavailable(
            f"the published core {version} is removed, but some of its files could not be deleted",
            f"delete {aside}",
        )


def install_command(version: str) -> str:
    """The command line that installs `version`."""
    option = "" if version == DEFAULT_VERSION else f" --version {version}"
    return f"parity upstream install{option}"


def set_aside(folder: Path) -> Path:
    """Rename a folder to one that does not count as installed, and return that one.

    Raises:
        OSError: it may not be renamed.
    """
    aside = Path(tempfile.mkdtemp(prefix=LEFTOVER, dir=folder.parent)) / folder.name
    folder.rename(aside)
    return aside.parent


def package_json(package: Path) -> Mapping[str, Any]:
    """The `package.json` in the folder `package`; empty if there is none that can be read."""
    try:
        value = json.loads((package / "package.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _is_complete(version: str) -> bool:
    # An install renames its folder after npm has succeeded, so a mismatch is a manual change.
    return package_json(package_inside(version_folder(version))).get("version") == version


def _size(folder: Path) -> int:
    total = 0
    pending = [str(folder)]
    while pending:
        # What is being removed meanwhile, or may not be read, does not count.
        with suppress(FileNotFoundError, PermissionError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    total += entry.stat(follow_symlinks=False).st_size
    return total
