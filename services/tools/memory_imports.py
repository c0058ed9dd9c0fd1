"""Replaces each `@path` in a memory file by the file at that path.

Source: core `utils/memoryImportProcessor.ts`, its tree format.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Final

from services.exhaustion import limit_reached
from services.node_errors import node_error_message
from services.paths import InvalidPath, real_path
from services.regular_files import read_regular
from services.tools.paths import absolute

__all__ = [
    "MOST_IMPORTED_BYTES",
    "MOST_IMPORTS",
    "ImportBudget",
    "project_root",
    "with_imports",
]

_MAX_DEPTH: Final = 5
MOST_IMPORTS: Final = 1000
"""The most mentions of paths in a session's memory files that are followed."""
MOST_IMPORTED_BYTES: Final = 4 * 1024 * 1024
"""The most bytes of all imports of a session together."""
_TICKS: Final = re.compile(r"`+")
_MENTION: Final = re.compile(r"(?<![^ \t\n\r])@([^ \t\n\r]*)")
_BEGINS_A_PATH: Final = re.compile(r"[./A-Za-z]")
_ADDRESS: Final = re.compile(r"(?:file|https?)://")


def project_root(folder: Path) -> Path | None:
    """The nearest folder, `folder` or one above it, that holds `.git`; `None` without one."""
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    return None


@dataclass(slots=True)
class ImportBudget:
    """The remaining work for the imports of one session's memory files."""

    mentions: int = MOST_IMPORTS
    size: int = MOST_IMPORTED_BYTES
    exhausted: bool = False
    """An import was refused; later mentions stay as they are."""


def with_imports(content: str, folder: Path, budget: ImportBudget | None = None) -> str:
    """`content` of a file in `folder` with its imports, up to five levels deep.

    A comment with the reason replaces an import that fails, and the first one beyond `budget`;
    later mentions stay as they are. Only files of the project are read: those of the repository of
    `folder`, or else those below `folder`.
    """
    root = project_root(folder) or folder
    return _Importer(root, budget or ImportBudget()).expanded(content, folder, frozenset())


@dataclass(frozen=True, slots=True)
class _Importer:
    root: Path
    budget: ImportBudget

    def expanded(self, content: str, folder: Path, chain: frozenset[str]) -> str:
        """`content` of the last file of `chain`, which lies in `folder`."""
        if len(chain) >= _MAX_DEPTH:
            return content
        code = _code(content)
        result: list[str] = []
        done = 0
        for start, end, path in _mentions(content):
            if self.budget.exhausted:
                break
            before = bisect_right(code, start, key=itemgetter(0)) - 1
            if before >= 0 and start < code[before][1]:
                continue
            result += (content[done:start], self._imported(path, folder, chain))
            done = end
        return "".join(result) + content[done:]

    def _imported(self, path: str, folder: Path, chain: frozenset[str]) -> str:
        if self.budget.mentions <= 0:
            return self._refused(path, f"More than {MOST_IMPORTS} imports")
        self.budget.mentions -= 1
        if not _is_inside(path, folder, self.root):
            return f"<!-- Import failed: {path} - Path traversal attempt -->"
        full = absolute(folder, path)
        if full in chain:
            return f"<!-- File already processed: {path} -->"
        syscall, named = "access", True
        try:
            size = Path(full).stat().st_size
            syscall, named = ("read", False) if Path(full).is_dir() else ("open", True)
            if named and size > self.budget.size:
                return self._refused(path, f"Imports of more than {MOST_IMPORTED_BYTES} bytes")
            data = read_regular(Path(full), MOST_IMPORTED_BYTES)
        except OSError as error:
            why = node_error_message(error, syscall, full if named else None)
            return f"<!-- Import failed: {path} - {why} -->"
        self.budget.size -= len(data)
        content = data.decode(errors="replace")
        inner = self.expanded(content, Path(full).parent, chain | {full})
        return f"<!-- Imported from: {path} -->\n{inner}\n<!-- End of import from: {path} -->"

    def _refused(self, path: str, why: str) -> str:
        self.budget.exhausted = True
        limit_reached(f"Memory files: {why}")
        return f"<!-- Import failed: {path} - {why} -->"


def _code(content: str) -> list[tuple[int, int]]:
    r"""The spans of code between backticks, in order.

    The spans are those of ``(`+)[\s\S]*?\1``. The engine needs quadratic time for them.
    """
    runs = [run.span() for run in _TICKS.finditer(content)]
    longest_after = [0] * len(runs)
    for index in range(len(runs) - 2, -1, -1):
        start, end = runs[index + 1]
        longest_after[index] = max(longest_after[index + 1], end - start)
    spans: list[tuple[int, int]] = []
    index = begin = 0
    while index < len(runs):
        begin = max(begin, runs[index][0])
        length = runs[index][1] - begin
        # The most backticks that a run closes again, a later one or this one itself.
        size = max(min(length, longest_after[index]), length // 2)
        if size == 0:
            index += 1
            continue
        end = begin + 2 * size
        if 2 * size > length:
            index += 1
            while runs[index][1] - runs[index][0] < size:
                index += 1
            end = runs[index][0] + size
        spans.append((begin, end))
        begin = end
    return spans


def _mentions(content: str) -> Iterator[tuple[int, int, str]]:
    for match in _MENTION.finditer(content):
        if _BEGINS_A_PATH.match(match[1]):
            yield match.start(), match.end(), match[1]


def _is_inside(path: str, folder: Path, root: Path) -> bool:
    if _ADDRESS.match(path):
        return False
    try:
        return real_path(absolute(folder, path)).is_relative_to(real_path(root))
    except (InvalidPath, OSError):
        return False
