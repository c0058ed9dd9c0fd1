"""Reads the `GEMINI.md` files of the user, of extensions, of the project, and of used folders.

The model gets those of user, extensions and project at the start of the session. It gets another
file with the answer of the first tool that reads, lists or writes beside or below that file.

Source: core `context/memoryContextManager.ts`, `utils/memoryDiscovery.ts`, `tools/jit-context.ts`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
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
    """The memory files of one session; each is reported once."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        trusted: bool,
        extensions: Callable[[], Iterable[Path]] = tuple,
    ) -> None:
        """Read the files for the start of the session.

        Args:
            workspace: the session's folders.
            trusted: whether the project's files count.
            extensions: the context files of the active extensions.
        """
        self._workspace = workspace
        self._extensions = extensions
        self._trusted = trusted
        self.reload()

    def reload(self) -> None:
        """Read the files for the start of the session anew, and forget what was reported."""
        workspace, trusted = self._workspace, self._trusted
        self._reported: set[tuple[int, int]] = set()
        self._files: list[Path] = []
        self._imports = ImportBudget()
        own = workspace.home / ".gemini" / _NAME
        private = workspace.project_temp / "memory"
        self._user = self._unreported([own])
        self._extension = self._unreported(self._extensions())
        self._private = self._unreported(
            next(([path] for path in (private / _INDEX, private / _NAME) if _readable(path)), [])
        )
        folders = workspace.folders if trusted else ()
        upward = {file for folder in folders for file in self._upward(folder, folder)}
        self._project = self._unreported(sorted(upward, key=str))
        self._began_with = len(self._reported)

    @property
    def began_with(self) -> int:
        """How many files the session began with, or had when it was last reloaded."""
        return self._began_with

    @property
    def of_user(self) -> str:
        """The user's file for all projects; may be empty."""
        return self._user

    @property
    def of_user_here(self) -> str:
        """The user's private file for this project; empty in most projects."""
        return self._private

    @property
    def of_extensions(self) -> str:
        """The context files of the active extensions."""
        return self._extension

    @property
    def of_project(self) -> str:
        """The files of the workspace's folders and those above, up to the root of a repository."""
        return self._project

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that have been reported, in the order of reading."""
        return tuple(self._files)

    def discovered(self, path: Path) -> str:
        """The files beside and above `path` that are not reported yet; `path` may be missing."""
        if not self._trusted:
            return ""
        roots = [folder for folder in self._workspace.folders if path.is_relative_to(folder)]
        if not roots:
            return ""
        root = max(roots, key=lambda folder: len(str(folder)))
        return self._unreported(self._upward(path if path.is_dir() else path.parent, root))

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

    def _unreported(self, paths: Iterable[Path]) -> str:
        """The text of those of the files that are not reported yet; from now on they are."""
        blocks: list[str] = []
        for path in paths:
            try:
                status = path.stat()
                if (status.st_dev, status.st_ino) in self._reported:
                    continue
                content = read_regular(path, MOST_TEXT).decode(errors="replace")
            except OSError as error:
                notice(error, path)
                continue
            self._reported.add((status.st_dev, status.st_ino))
            self._files.append(path)
            text = js_trim(with_imports(content, path.parent, self._imports))
            if text:
                blocks.append(
                    f"--- Context from: {path} ---\n{text}\n--- End of Context from: {path} ---"
                )
        return "\n\n".join(blocks)


def with_memory(memory: ProjectMemory | None, content: LlmContent, path: Path) -> LlmContent:
    """A tool's output `content` about `path`, followed by the memory files discovered for it."""
    found = memory.discovered(path) if memory is not None else ""
    if not found:
        return content
    framed = f"\n\n--- Newly Discovered Project Context ---\n{found}\n--- End Project Context ---"
    if isinstance(content, str):
        return content + framed
    parts = list(content) if isinstance(content, Sequence) else [content]
    return [*parts, {"text": framed}]


def _readable(path: Path) -> bool:
    return os.access(path, os.R_OK)
