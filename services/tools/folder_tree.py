"""A folder drawn as a tree, for the model: at most 200 entries, breadth first.

Source: core `utils/getFolderStructure.ts`, with its default options.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from services.node_errors import error_code, node_error_message
from services.paths import is_text
from services.tools.collation import collation_key

__all__ = ["folder_tree"]

_MAX_ITEMS: Final = 200
_SKIPPED: Final = frozenset({"node_modules", ".git", "dist", "__pycache__"})
_MORE: Final = "..."
_UNREADABLE: Final = frozenset({"EACCES", "ENOENT", "EPERM"})


@dataclass(slots=True)
class _Folder:
    name: str
    files: list[str] = field(default_factory=list)
    folders: list[_Folder] = field(default_factory=list)
    more_files: bool = False
    more_folders: bool = False
    skipped: bool = False

    @property
    def is_cut(self) -> bool:
        return (
            self.more_files
            or self.more_folders
            or self.skipped
            or any(folder.is_cut for folder in self.folders)
        )


def folder_tree(folder: Path) -> str:
    """`folder` as a drawing under one line that says how it was limited; or what went wrong."""
    try:
        root = _read(folder)
    except OSError as error:
        why = node_error_message(error, "scandir", error.filename or folder)
        return f'Error processing directory "{folder}": {why}'
    if root is None:
        return f'Error: Could not read directory "{folder}". Check path and permissions.'
    summary = f"Showing up to {_MAX_ITEMS} items (files + folders)."
    if root.is_cut:
        summary += (
            f" Folders or files indicated with {_MORE} contain more items not shown, were ignored, "
            f"or the display limit ({_MAX_ITEMS} items) was reached."
        )
    lines = "\n".join(_inside(root, ""))
    return f"{summary}\n\n{folder}{os.sep}\n{lines}"


def _read(path: Path) -> _Folder | None:
    root = _Folder(path.name)
    queue = deque([(root, path)])
    count = 0
    while queue:
        folder, place = queue.popleft()
        if count >= _MAX_ITEMS:
            continue
        try:
            with os.scandir(place) as scan:
                named = [entry for entry in scan if is_text(entry.name)]
                entries = sorted(named, key=lambda entry: collation_key(entry.name))
        except OSError as error:
            if error_code(error) not in _UNREADABLE:
                raise
            if place == path and error_code(error) == "ENOENT":
                return None
            continue
        for entry in entries:
            if not entry.is_file(follow_symlinks=False):
                continue
            if count >= _MAX_ITEMS:
                folder.more_files = True
                break
            folder.files.append(entry.name)
            count += 1
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                continue
            if count >= _MAX_ITEMS:
                folder.more_folders = True
                break
            below = _Folder(entry.name, skipped=entry.name in _SKIPPED)
            folder.folders.append(below)
            count += 1
            if not below.skipped:
                queue.append((below, place / entry.name))
    return root


def _inside(folder: _Folder, indent: str) -> list[str]:
    """The lines of what is in `folder`."""
    names = [*folder.files, *([_MORE] if folder.more_files else [])]
    lines = [f"{indent}├───{name}" for name in names]
    if lines and not folder.folders and not folder.more_folders:
        # With more files to come it is the dots that close the branch, never the last file; but
        # the last file's own line closes it too when it is the last of those that are shown.
        lines[-1] = f"{indent}└───{names[-1]}"
        if folder.more_files and folder.files:
            lines[-2] = f"{indent}└───{names[-2]}"
    for below in folder.folders:
        last = below is folder.folders[-1] and not folder.more_folders
        dots = _MORE if below.skipped else ""
        lines.append(f"{indent}{'└───' if last else '├───'}{below.name}{os.sep}{dots}")
        lines += _inside(below, indent + ("    " if last else "│   "))
    if folder.more_folders:
        lines.append(f"{indent}└───{_MORE}")
    return lines
