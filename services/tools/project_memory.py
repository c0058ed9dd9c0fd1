"""What `GEMINI.md` files say: the user's, the project's, and those of folders that tools come to.

The first two are told to the model when the session begins. A file further down is told with the
answer of the first tool that reads, lists or writes beside or below it.

Source: core `context/memoryContextManager.ts`, `utils/memoryDiscovery.ts`, `tools/jit-context.ts`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from services.exhaustion import notice
from services.regular_files import MOST_TEXT, read_regular
from services.tools.contract import LlmContent
from services.tools.memory_imports import ImportBudget, project_root, with_imports
from services.wire import js_trim
from services.workspace import Workspace

__all__ = ["ProjectMemory", "with_memory"]

_NAME: Final = "GEMINI.md"
_INDEX: Final = "MEMORY.md"


class ProjectMemory:
    """The memory files of one session; each is told once."""

    def __init__(self, workspace: Workspace, *, trusted: bool) -> None:
        """Read the files that are told from the start.

        Args:
            workspace: its home and its folders.
            trusted: whether the folder is; the project's own files count only then.
        """
        self._workspace = workspace
        self._trusted = trusted
        self._told: set[tuple[int, int]] = set()
        self._imports = ImportBudget()
        own = workspace.home / ".gemini" / _NAME
        private = workspace.project_temp / "memory"
        self._user = self._tell([own])
        self._private = self._tell(
            next(([path] for path in (private / _INDEX, private / _NAME) if _readable(path)), [])
        )
        upward = self._upward(workspace.root, workspace.root) if trusted else []
        self._project = self._tell(sorted(upward, key=str))

    @property
    def of_user(self) -> str:
        """What holds for the user's every project; empty where there is nothing."""
        return self._user

    @property
    def of_user_here(self) -> str:
        """What the user keeps about this project without sharing it; empty as a rule."""
        return self._private

    @property
    def of_project(self) -> str:
        """What the project's root and the folders above it say, up to the repository's root."""
        return self._project

    def discovered(self, path: Path) -> str:
        """What files beside `path` and above it say that has not been told yet.

        Args:
            path: what a tool has read, listed or written; it may be missing.
        """
        if not self._trusted:
            return ""
        roots = [folder for folder in self._workspace.folders if path.is_relative_to(folder)]
        if not roots:
            return ""
        root = max(roots, key=lambda folder: len(str(folder)))
        return self._tell(self._upward(path if path.is_dir() else path.parent, root))

    def _upward(self, start: Path, root: Path) -> list[Path]:
        """The files from `start` up to the repository of `root`, or else `root`: topmost first."""
        ceiling = project_root(root) or root
        found: list[Path] = []
        for folder in (start, *start.parents):
            if folder == self._workspace.home / ".gemini":
                break
            if _readable(folder / _NAME):
                found.insert(0, folder / _NAME)
            if folder == ceiling:
                break
        return found

    def _tell(self, paths: Iterable[Path]) -> str:
        blocks: list[str] = []
        for path in paths:
            try:
                status = path.stat()
                if (status.st_dev, status.st_ino) in self._told:
                    continue
                content = read_regular(path, MOST_TEXT).decode("utf-8", "replace")
            except OSError as error:
                notice(error, path)
                continue
            self._told.add((status.st_dev, status.st_ino))
            text = js_trim(with_imports(content, path.parent, self._imports))
            if text:
                blocks.append(
                    f"--- Context from: {path} ---\n{text}\n--- End of Context from: {path} ---"
                )
        return "\n\n".join(blocks)


def with_memory(memory: ProjectMemory | None, content: LlmContent, path: Path) -> LlmContent:
    """A tool's answer, followed by what is now to be said about `path`.

    Args:
        memory: the session's; `None` where nothing is ever said.
        content: text, a part, or parts.
        path: what the tool has read, listed or written.
    """
    told = memory.discovered(path) if memory is not None else ""
    if not told:
        return content
    framed = f"\n\n--- Newly Discovered Project Context ---\n{told}\n--- End Project Context ---"
    if isinstance(content, str):
        return content + framed
    parts = list(content) if isinstance(content, Sequence) else [content]
    return [*parts, {"text": framed}]


def _readable(path: Path) -> bool:
    return os.access(path, os.R_OK)
