"""`glob`: files by name pattern, newest first.

Source: core `tools/glob.ts`.
"""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from services.outside_patterns import PatternLimit
from services.paths import InvalidPath, real_path
from services.tools.base import BuiltinInvocation, DeclarativeTool, failed
from services.tools.collation import collation_key
from services.tools.contract import ToolErrorType, ToolExecution, ToolKind, ToolResult
from services.tools.globbing import GlobBudget, find_files
from services.tools.parameters import arguments, boolean, string
from services.tools.paths import absolute, access_error, exists, make_relative, relative_path
from services.tools.short_paths import shorten_path
from services.wire import JsonObject, js_trim

__all__ = ["GlobTool"]

_RECENT_MS: Final = 24 * 60 * 60 * 1000


class GlobTool(DeclarativeTool):
    """Finds files of the workspace by pattern."""

    name = "glob"
    display_name = "FindFiles"
    kind = ToolKind.SEARCH
    description = (
        "Find files by name: give a glob pattern such as `src/**/*.ts` or `**/*.md` and get "
        "absolute paths, those changed in the last day first, newest first, the rest by name."
    )
    parameters: ClassVar[JsonObject] = arguments(
        ["pattern"],
        pattern=string("The glob pattern."),
        dir_path=string("Folder to search in; the workspace unless given."),
        case_sensitive=boolean("Whether case counts; false unless given."),
        respect_git_ignore=boolean("Leave out what .gitignore names; true unless given."),
        respect_gemini_ignore=boolean("Leave out what .geminiignore names; true unless given."),
    )

    def check_values(self, params: JsonObject) -> str | None:
        """Check access, that the path is a folder, and that the pattern is not empty."""
        workspace = self.host.workspace
        try:
            folder = real_path(absolute(workspace.root, params.get("dir_path") or "."))
        except (InvalidPath, OSError) as error:
            return str(error)
        fault = access_error(workspace, folder)
        if fault is not None:
            return fault
        if not exists(folder):
            return f"Search path does not exist {folder}"
        if not folder.is_dir():
            return f"Search path is not a directory: {folder}"
        if not js_trim(params["pattern"]):
            return "The 'pattern' parameter cannot be empty."
        return None


@GlobTool.builds
class _Glob(BuiltinInvocation):
    narrowed_by = "pattern"

    def description(self) -> str:
        text = f"'{self.params['pattern']}'"
        folder = self.params.get("dir_path")
        if folder:
            root = self.host.workspace.root
            text += f" within {shorten_path(make_relative(absolute(root, folder), root))}"
        return text

    async def execute(self, execution: ToolExecution) -> ToolResult:
        workspace = self.host.workspace
        folders = workspace.folders
        if self.params.get("dir_path"):
            try:
                folder = real_path(absolute(workspace.root, self.params["dir_path"]))
            except (InvalidPath, OSError) as error:
                return failed(
                    str(error),
                    ToolErrorType.PATH_NOT_IN_WORKSPACE,
                    display="Path resolution failed.",
                )
            if failure := self.access_failure(folder):
                return failure
            folders = (folder,)
        try:
            return self._search(folders)
        except (OSError, ValueError, PatternLimit) as error:
            return failed(
                f"Error during glob search operation: {error}",
                ToolErrorType.GLOB_EXECUTION_ERROR,
                display="Error: An unexpected error occurred.",
            )

    def _search(self, folders: Sequence[Path]) -> ToolResult:
        pattern: str = self.params["pattern"]
        root = self.host.workspace.root
        inside = tuple(
            f"{folder}/".replace("//", "/") for folder in (*folders, *self.host.workspace.folders)
        )
        budget = GlobBudget()
        # Upstream lists files outside too, which patterns with `..` or from `/` match.
        found = [
            path
            for folder in folders
            for path in self._in_folder(folder, budget)
            if path.startswith(inside)
        ]
        visible, ignored = self.host.ignored().visible(
            [relative_path(root, path) for path in found],
            respect_git=self.params.get("respect_git_ignore"),
            respect_gemini=self.params.get("respect_gemini_ignore"),
        )
        many = f"{len(folders)} workspace directories"
        if not visible:
            where = f"within {folders[0] if len(folders) == 1 else many}"
            note = f" ({ignored} files were ignored)" if ignored else ""
            return ToolResult(
                llm_content=f'No files found matching pattern "{pattern}" {where}{note}',
                return_display="No files found",
            )
        paths = self._newest_first([absolute(root, path) for path in visible])
        where = f"within {folders[0]}" if len(folders) == 1 else f"across {many}"
        note = f" ({ignored} additional files were ignored)" if ignored else ""
        listing = "\n".join(paths)
        return ToolResult(
            llm_content=(
                f'Found {len(paths)} file(s) matching "{pattern}" {where}{note}, sorted '
                f"by modification time (newest first):\n{listing}"
            ),
            return_display=f"Found {len(paths)} matching file(s)",
        )

    def _in_folder(self, folder: Path, budget: GlobBudget) -> list[str]:
        pattern: str = self.params["pattern"]
        return find_files(
            folder,
            pattern,
            case_sensitive=bool(self.params.get("case_sensitive")),
            literal=os.path.lexists(os.path.normpath(f"{folder}/{pattern}")),
            budget=budget,
        )

    def _newest_first(self, paths: Sequence[str]) -> list[str]:
        """Recent files by time, older ones by name."""
        now = self.host.clock.now_ms()
        recent: list[tuple[int, str]] = []
        older: list[str] = []
        for path in paths:
            changed = Path(path).stat().st_mtime_ns
            if now - changed / 1e6 < _RECENT_MS:
                recent.append((changed, path))
            else:
                older.append(path)
        recent.sort(key=lambda entry: -entry[0])
        return [path for _, path in recent] + sorted(older, key=collation_key)
