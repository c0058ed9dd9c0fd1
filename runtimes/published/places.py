"""Where installed versions live: `<cache>/upstream/<version>/node_modules/<package>`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from runtimes.published.problems import UpstreamUnavailable
from runtimes.published.versions import PACKAGE, checked_version

__all__ = ["cache_folder", "package_inside", "upstream_folder", "version_folder"]

_VARIABLE: Final = "PARITY_CACHE_HOME"


def cache_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The folder for what can be fetched again, absolute; it need not exist.

    `$PARITY_CACHE_HOME`, else `$XDG_CACHE_HOME/parity`, else the platform's own place.

    Args:
        environment: where the variables are looked up.
        platform: as `sys.platform` names it.

    Raises:
        UpstreamUnavailable: no variable names one and the user has no home folder.
    """
    named = environment.get(_VARIABLE)
    if named:
        return Path(named).absolute()
    base = Path(environment.get("XDG_CACHE_HOME", ""))
    # The XDG specification has relative paths ignored.
    if base.is_absolute():
        return base / "parity"
    return _home() / ("Library/Caches" if platform == "darwin" else ".cache") / "parity"


def upstream_folder() -> Path:
    """The folder of all installed versions; it need not exist.

    Raises:
        UpstreamUnavailable: there is no place for a cache.
    """
    return cache_folder() / "upstream"


def version_folder(version: str) -> Path:
    """The folder of one version; it need not exist.

    Raises:
        UpstreamUnavailable: `version` is not an exact version, or there is no place for a cache.
    """
    return upstream_folder() / checked_version(version)


def package_inside(folder: Path) -> Path:
    """Where npm puts the core's package when `folder` is its prefix."""
    return folder / "node_modules" / PACKAGE


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise UpstreamUnavailable(
            "there is no home folder to keep versions of the published core in",
            f"name a cache folder with {_VARIABLE}",
        ) from error
