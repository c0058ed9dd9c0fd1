"""Finds `parity.toml`, the file that describes a user's project; `runtimes/project.py` reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["PROJECT_FILE", "find_project_file"]

PROJECT_FILE: Final = "parity.toml"


def find_project_file() -> Path | None:
    """Return the project file of the current folder; `None` if there is none.

    Within a repository, the folders up to its top are searched, too. Folders around a repository
    may belong to others.
    """
    here = Path.cwd()
    folders = [here, *here.parents]
    tops = [number for number, folder in enumerate(folders) if (folder / ".git").exists()]
    for folder in folders[: tops[0] + 1] if tops else [here]:
        if (folder / PROJECT_FILE).is_file():
            return folder / PROJECT_FILE
    return None
