"""`folder_tree`: what a folder holds, drawn as a tree, for the first turn of a conversation.

Hidden and skipped folders are named, not entered. Links are left out: a project that links to
itself would have no end. Source: core `utils/getFolderStructure.ts`; the shape of the drawing
counts, because its size is part of what a prompt is estimated to cost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from services.paths import is_text
from services.tools.collation import collation_key
from services.tools.ignore import FileDiscovery

__all__ = ["MAX_ITEMS", "FolderTree", "folder_tree"]

MAX_ITEMS: Final = 200
"""Files and folders that are shown."""

_SKIPPED: Final = frozenset({".git", "__pycache__", "dist", "node_modules"})
_MORE: Final = "..."


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderTree:
    """One drawing: its lines, and whether anything is left out of it."""

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


def folder_tree(root: Path) -> FolderTree:
    """Draw `root`: breadth first up to `MAX_ITEMS`, files before folders, by name."""
    top = _read(root, FileDiscovery(root))
    lines: list[str] = []
    _draw(top, "", lines)
    return FolderTree(lines=tuple(lines), cut=top.cut)


def _read(root: Path, discovery: FileDiscovery) -> _Folder:
    top = _Folder(root)
    queue = [top]
    room = MAX_ITEMS
    for folder in queue:
        if room <= 0:
            break
        try:
            named = [path for path in folder.path.iterdir() if is_text(path.name)]
            entries = sorted(named, key=lambda path: collation_key(path.name))
        except OSError:
            continue
        inside = [path for path in entries if not path.is_symlink()]
        for path in (path for path in inside if path.is_file()):
            if room <= 0:
                folder.more_files = True
                break
            if not discovery.hides(str(path)):
                folder.files.append(path.name)
                room -= 1
        for path in (path for path in inside if path.is_dir()):
            if room <= 0:
                folder.more_folders = True
                break
            hidden = path.name in _SKIPPED or discovery.hides(str(path), is_directory=True)
            child = _Folder(path, skipped=hidden)
            folder.folders.append(child)
            room -= 1
            if not hidden:
                queue.append(child)
    return top


def _draw(folder: _Folder, indent: str, lines: list[str]) -> None:
    names = [*folder.files, *([_MORE] if folder.more_files else [])]
    rows: list[tuple[str, _Folder | None]] = [(name, None) for name in names]
    rows += [(f"{child.path.name}/", child) for child in folder.folders]
    if folder.more_folders:
        rows.append((_MORE, None))
    # Where only files are left out, the last one that is shown looks like the end as well.
    ends = {len(rows), len(folder.files) if len(rows) == len(names) else 0}
    for number, (name, child) in enumerate(rows, 1):
        last = number in ends
        more = _MORE if child is not None and child.skipped else ""
        lines.append(f"{indent}{'└───' if last else '├───'}{name}{more}")
        if child is not None:
            _draw(child, indent + ("    " if last else "│   "), lines)
