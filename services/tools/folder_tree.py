"""Draws the contents of a folder as a tree, for the first turn of a conversation and for skills.

Hidden and skipped folders are named and not entered. Names that are not valid text are left out, as
well as links, which could lead back into the project. The size of the drawing counts in the
estimate of a prompt's tokens.

Source: core `utils/getFolderStructure.ts`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from services.node_errors import error_code, node_error_message
from services.paths import is_text
from services.tools.collation import collation_key

__all__ = ["MAX_ITEMS", "FolderTree", "Hides", "described_folder", "folder_tree"]

MAX_ITEMS: Final = 200
"""The most files and folders in a drawing."""

_SKIPPED: Final = frozenset({".git", "__pycache__", "dist", "node_modules"})
_MORE: Final = "..."
_UNREADABLE: Final = frozenset({"EACCES", "ENOENT", "EPERM"})


class Hides(Protocol):
    """Whether to leave out a path."""

    def __call__(self, path: str, *, is_directory: bool = False) -> bool:
        """`path` is absolute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderTree:
    """One drawing: its lines, and whether it is incomplete."""

    lines: tuple[str, ...]
    cut: bool


@dataclass(slots=True)
class _Folder:
    path: Path
    files: list[str] = field(default_factory=list)
    folders: list[_Folder] = field(default_factory=list)
    skipped: bool = False
    more_files: bool = False
    more_folders: bool = False

    @property
    def cut(self) -> bool:
        left_out = self.skipped or self.more_files or self.more_folders
        return left_out or any(folder.cut for folder in self.folders)


def folder_tree(root: Path, *, hides: Hides | None = None) -> FolderTree:
    """Draw `root`: breadth first up to `MAX_ITEMS`, files before folders, by name.

    Args:
        root: The folder. Folders below it that cannot be read are drawn empty.
        hides: Which paths to leave out; `FileDiscovery.hides` for the project's ignored files.

    Raises:
        FileNotFoundError: `root` does not exist.
        OSError: another error than missing permissions.
    """
    top = _read(root, hides or _hides_nothing)
    lines: list[str] = []
    _draw(top, "", lines)
    return FolderTree(lines=tuple(lines), cut=top.cut)


def described_folder(folder: Path) -> str:
    """The drawing of `folder` under a line about its limits, or an error message."""
    try:
        tree = folder_tree(folder)
    except FileNotFoundError:
        return f'Error: Could not read directory "{folder}". Check path and permissions.'
    except OSError as error:
        why = node_error_message(error, "scandir", error.filename or folder)
        return f'Error processing directory "{folder}": {why}'
    summary = f"Showing up to {MAX_ITEMS} items (files + folders)."
    if tree.cut:
        summary += (
            " Folders or files indicated with ... contain more items not shown, were ignored, "
            f"or the display limit ({MAX_ITEMS} items) was reached."
        )
    lines = "\n".join(tree.lines)
    return f"{summary}\n\n{folder}{os.sep}\n{lines}"


def _hides_nothing(path: str, *, is_directory: bool = False) -> bool:
    return False


def _read(root: Path, hides: Hides) -> _Folder:
    top = _Folder(root)
    queue = [top]
    room = MAX_ITEMS
    for folder in queue:
        if room <= 0:
            break
        entries = _entries(folder.path, root)
        for entry in entries:
            if not entry.is_file(follow_symlinks=False):
                continue
            if room <= 0:
                folder.more_files = True
                break
            if not hides(entry.path):
                folder.files.append(entry.name)
                room -= 1
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                continue
            if room <= 0:
                folder.more_folders = True
                break
            hidden = entry.name in _SKIPPED or hides(entry.path, is_directory=True)
            child = _Folder(Path(entry.path), skipped=hidden)
            folder.folders.append(child)
            room -= 1
            if not hidden:
                queue.append(child)
    return top


def _entries(folder: Path, root: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as scan:
            named = [entry for entry in scan if is_text(entry.name)]
    except OSError as error:
        gone = folder == root and isinstance(error, FileNotFoundError)
        if gone or error_code(error) not in _UNREADABLE:
            raise
        return []
    return sorted(named, key=lambda entry: collation_key(entry.name))


def _draw(folder: _Folder, indent: str, lines: list[str]) -> None:
    names = [*folder.files, *([_MORE] if folder.more_files else [])]
    rows: list[tuple[str, _Folder | None]] = [(name, None) for name in names]
    rows += [(f"{child.path.name}/", child) for child in folder.folders]
    if folder.more_folders:
        rows.append((_MORE, None))
    # If only files are left out, the last file in the drawing is drawn like an end too.
    ends = {len(rows), len(folder.files) if len(rows) == len(names) else 0}
    for number, (name, child) in enumerate(rows, 1):
        last = number in ends
        more = _MORE if child is not None and child.skipped else ""
        lines.append(f"{indent}{'└───' if last else '├───'}{name}{more}")
        if child is not None:
            _draw(child, indent + ("    " if last else "│   "), lines)
