"""Installs a version of the published core: into a temporary folder, then by one rename."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from runtimes.published.installed import (
    LEFTOVER,
    installed_versions,
    package_folder,
    package_json,
    set_aside,
)
from runtimes.published.lock import held
from runtimes.published.node import find_node, find_npm
from runtimes.published.npm import npm_install
from runtimes.published.places import package_inside, upstream_folder, version_folder
from runtimes.published.problems import UpstreamUnavailable
from runtimes.published.versions import DEFAULT_VERSION, PACKAGE, checked_spec, is_version

__all__ = ["install"]

_LOCK: Final = ".lock"
_HOW_LONG: Final = "about 400 MB; half a minute, or some minutes over a slow network"


def install(version: str | None, *, report: Callable[[str], None]) -> Path:
    """Install a version with npm, unless it is installed, and return its `package_folder`.

    Of several installs at once one works and the others wait. An interrupted install leaves
    nothing that counts as installed; the next install deletes its files.

    Args:
        version: exact, or a tag such as `latest`; `None` for `DEFAULT_VERSION`.
        report: called with each line of progress.

    Raises:
        UpstreamUnavailable: `version` is neither, node or npm is missing, npm failed, or the
            cache folder cannot be written.
    """
    spec = checked_spec(version if version is not None else DEFAULT_VERSION)
    ready = _installed(spec, report)
    if ready is not None:
        return ready
    node = find_node()
    npm = find_npm(node)
    root = upstream_folder()
    with _writable(root):
        root.mkdir(parents=True, exist_ok=True)
        with held(
            root / _LOCK, waiting=lambda: report(f"another install works in {root}: waiting")
        ):
            _clear_leftovers(root)
            ready = _installed(spec, report)  # another process may have installed it meanwhile
            if ready is not None:
                return ready
            report(f"installing {PACKAGE}@{spec} into {root} ({_HOW_LONG})")
            staging = Path(tempfile.mkdtemp(prefix=LEFTOVER, dir=root))
            try:
                npm_install(npm, node, spec, staging)
                real = _version_in(staging, spec)
                if not _is_installed(real):
                    _move_into_place(staging, version_folder(real))
                elif spec != real:
                    report(f"{spec} is {real}, which is installed already")
                return package_folder(real)
            finally:
                shutil.rmtree(staging, ignore_errors=True)


def _installed(spec: str, report: Callable[[str], None]) -> Path | None:
    if not is_version(spec) or not _is_installed(spec):
        return None
    report(f"{PACKAGE}@{spec} is installed already")
    return package_folder(spec)


def _is_installed(version: str) -> bool:
    return version in installed_versions()


def _clear_leftovers(root: Path) -> None:
    """Delete the folders of interrupted installs. The lock excludes an install at work."""
    for folder in root.glob(f"{LEFTOVER}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _version_in(staging: Path, spec: str) -> str:
    version = package_json(package_inside(staging)).get("version")
    if not isinstance(version, str) or not is_version(version):
        raise UpstreamUnavailable(
            f"npm ended without an error but did not install {PACKAGE}@{spec}",
            "see `npm config list` for a setting that keeps it from installing (dry-run, global)",
        )
    if is_version(spec) and version != spec:
        raise UpstreamUnavailable(
            f"npm installed version {version} of {PACKAGE} where {spec} was asked for",
            "check which registry npm uses (`npm config get registry`)",
        )
    return version


def _move_into_place(staging: Path, folder: Path) -> None:
    if folder.exists():  # not a complete install, or this would not have been begun
        shutil.rmtree(set_aside(folder), ignore_errors=True)
    staging.rename(folder)


@contextmanager
def _writable(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UpstreamUnavailable(
            f"{error.filename or root} cannot be written: {error.strerror or error}",
            "make room or mend the permissions, or name another folder with PARITY_CACHE_HOME",
        ) from error
