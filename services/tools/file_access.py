"""Resolves the path in a call to the file that a tool reads or writes.

Source: core `utils/pathCorrector.ts`, `utils/planUtils.ts`, `utils/bfsFileSearch.ts` and the edit
tools' constructors.
"""

from __future__ import annotations

import os.path
from collections import deque
from pathlib import Path
from typing import Final

from services.exhaustion import notice
from services.paths import real_path
from services.tools.host import ToolHost
from services.tools.ignore import FileDiscovery
from services.tools.paths import absolute, exists, strip_reference_prefix

__all__ = [
    "DeniedPath",
    "denied_plan",
    "find_by_suffix",
    "plan_path",
    "readable_path",
    "writable_path",
]

_SEARCHED_FOLDERS: Final = 50


class DeniedPath(ValueError):
    """Plan mode does not allow the path; the model receives the message."""


def readable_path(host: ToolHost, path: str) -> Path:
    """`path` for reading: `@` prefix dropped, absolute, links resolved.

    Raises:
        InvalidPath, OSError: it cannot be resolved.
    """
    root = host.workspace.root
    return real_path(absolute(root, strip_reference_prefix(path, root)))


def writable_path(host: ToolHost, path: str) -> Path:
    """`path` for writing: as for reading, but in plan mode a file among the plans.

    Raises:
        DeniedPath: plan mode, and the path is not among the plans.
        InvalidPath, OSError: it cannot be resolved.
    """
    if host.plan_mode:
        return real_path(plan_path(host, path.replace("\0", "")))
    return readable_path(host, path)


def plan_path(host: ToolHost, path: str) -> Path:
    """The plan that `path` names: absolute, or relative to the workspace or the plans folder.

    Raises:
        DeniedPath: the path is empty, or outside the plans folder in each of these readings.
    """
    trimmed = path.strip()
    if not trimmed:
        raise DeniedPath("Plan file path must be non-empty.")
    plans = real_path(host.plans)
    readings = [Path(absolute(host.workspace.root, trimmed)), Path(absolute(host.plans, trimmed))]
    for reading in readings:
        resolved = real_path(reading)
        if resolved == plans or plans in resolved.parents:
            return reading
    raise DeniedPath(denied_plan(trimmed, host.plans))


def denied_plan(path: str, plans: Path) -> str:
    """The message for the model about a `path` outside of the folder `plans`."""
    return (
        f"Access denied: plan path ({path}) must be within the designated plans directory "
        f"({plans})."
    )


def find_by_suffix(host: ToolHost, path: str) -> Path | None:
    """The file in the workspace that the relative `path` means, if there is exactly one.

    It is at `path`, or it is the one visible file whose path ends with `path`, in the first 50
    folders, breadth first, of each folder of the workspace.
    """
    root = host.workspace.root
    cleaned = strip_reference_prefix(path, root)
    direct = Path(os.path.normpath(f"{root}/{cleaned}"))
    if exists(direct):
        return direct
    name = cleaned.rsplit("/", 1)[-1]
    found = [
        file
        for folder in host.workspace.folders
        for file in _breadth_first(folder, name, host.ignored())
        if str(file).replace("\\", "/").endswith(cleaned.replace("\\", "/"))
    ]
    return found[0] if len(found) == 1 else None


def _breadth_first(root: Path, name: str, discovery: FileDiscovery) -> list[Path]:
    found: list[Path] = []
    queue = deque([root])
    for _ in range(_SEARCHED_FOLDERS):
        if not queue:
            break
        try:
            entries = sorted(queue.popleft().iterdir())
        except OSError as error:
            notice(error)
            continue
        for entry in entries:
            folder = entry.is_dir() and not entry.is_symlink()
            file = entry.name == name and entry.is_file() and not entry.is_symlink()
            if (folder or file) and not discovery.hides(str(entry)):
                (queue if folder else found).append(entry)
    return found
