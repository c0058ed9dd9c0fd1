"""Files that a memory file names with `@path` are put in its place.

Source: core `utils/memoryImportProcessor.ts`, its tree format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from services.node_errors import node_error_message
from services.paths import InvalidPath, real_path
from services.regular_files import MOST_TEXT, read_regular
from services.tools.paths import absolute

__all__ = ["project_root", "with_imports"]

_MAX_DEPTH: Final = 5
_CODE: Final = re.compile(r"(`+)[\s\S]*?\1")
_MENTION: Final = re.compile(r"(?<![^ \t\n\r])@([^ \t\n\r]*)")
_BEGINS_A_PATH: Final = re.compile(r"[./A-Za-z]")
_ADDRESS: Final = re.compile(r"(?:file|https?)://")


def project_root(folder: Path) -> Path | None:
    """The nearest folder, `folder` or one above it, that holds `.git`; `None` without one."""
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    return None


def with_imports(content: str, folder: Path) -> str:
    """`content` of a file in `folder`, its imports carried out, five levels deep.

    What cannot be imported leaves a comment that says why. Only files of the project are read: of
    the repository that `folder` is in, or else of `folder` itself.
    """
    return _expanded(content, folder, project_root(folder) or folder, frozenset())


def _expanded(content: str, folder: Path, root: Path, chain: frozenset[str]) -> str:
    if len(chain) >= _MAX_DEPTH:
        return content
    code = [match.span() for match in _CODE.finditer(content)]
    result: list[str] = []
    done = 0
    for start, end, path in _mentions(content):
        result.append(content[done:start])
        done = end
        if any(first <= start < last for first, last in code):
            result.append(f"@{path}")
        else:
            result.append(_imported(path, folder, root, chain))
    return "".join(result) + content[done:]


def _mentions(content: str) -> Iterator[tuple[int, int, str]]:
    for match in _MENTION.finditer(content):
        if _BEGINS_A_PATH.match(match[1]):
            yield match.start(), match.end(), match[1]


def _imported(path: str, folder: Path, root: Path, chain: frozenset[str]) -> str:
    if not _is_inside(path, folder, root):
        return f"<!-- Import failed: {path} - Path traversal attempt -->"
    full = absolute(folder, path)
    if full in chain:
        return f"<!-- File already processed: {path} -->"
    syscall, named = "access", True
    try:
        Path(full).stat()
        syscall, named = ("read", False) if Path(full).is_dir() else ("open", True)
        content = read_regular(Path(full), MOST_TEXT).decode("utf-8", "replace")
    except OSError as error:
        why = node_error_message(error, syscall, full if named else None)
        return f"<!-- Import failed: {path} - {why} -->"
    inner = _expanded(content, Path(full).parent, root, chain | {full})
    return f"<!-- Imported from: {path} -->\n{inner}\n<!-- End of import from: {path} -->"


def _is_inside(path: str, folder: Path, root: Path) -> bool:
    if _ADDRESS.match(path):
        return False
    try:
        return real_path(absolute(folder, path)).is_relative_to(real_path(root))
    except (InvalidPath, OSError):
        return False
