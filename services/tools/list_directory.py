"""`list_directory`: the names in one folder.

Source: core `tools/ls.ts`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from agent_protocol.events import ToolDisplay
from services.node_errors import node_error_message
from services.outside_patterns import OutsidePattern, PatternBudget, compile_outside
from services.paths import InvalidPath, is_text
from services.tools.base import BuiltinInvocation, DeclarativeTool, failed
from services.tools.collation import collation_key
from services.tools.contract import ToolErrorType, ToolExecution, ToolKind, ToolResult
from services.tools.parameters import arguments, array, boolean, string
from services.tools.paths import absolute, access_error, make_relative, relative_path
from services.tools.project_memory import with_memory
from services.tools.short_paths import shorten_path
from services.wire import JsonObject

__all__ = ["LSTool"]


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    is_folder: bool
    size: int

    @property
    def line(self) -> str:
        return f"[DIR] {self.name}" if self.is_folder else f"{self.name} ({self.size} bytes)"


class LSTool(DeclarativeTool):
    """Lists one folder of the workspace."""

    name = "list_directory"
    display_name = "ReadFolder"
    kind = ToolKind.SEARCH
    description = (
        "List the files (with their sizes) and folders directly inside one folder, folders "
        "first. Names can be left out by glob patterns; files that the project ignores are left "
        "out anyway unless asked for."
    )
    parameters: ClassVar[JsonObject] = arguments(
        ["dir_path"],
        dir_path=string("Path of the folder to list."),
        ignore=array(string(), "Glob patterns (* and ?) of names to leave out."),
        file_filtering_options={
            **arguments(
                respect_git_ignore=boolean("Leave out what .gitignore names; true unless given."),
                respect_gemini_ignore=boolean(
                    "Leave out what .geminiignore names; true unless given."
                ),
            ),
            "description": "Whether ignore files of the project count. Optional.",
        },
    )

    def check_values(self, params: JsonObject) -> str | None:
        """Check access."""
        workspace = self.host.workspace
        return access_error(workspace, absolute(workspace.root, params["dir_path"]))


@LSTool.builds
class _ListDirectory(BuiltinInvocation):
    narrowed_by = "dir_path"

    def __init__(self, tool: DeclarativeTool, params: JsonObject) -> None:
        super().__init__(tool, params)
        self._budget = PatternBudget()

    @cached_property
    def _ignored(self) -> list[OutsidePattern]:
        return [_name_pattern(glob) for glob in self.params.get("ignore") or ()]

    def description(self) -> str:
        return shorten_path(make_relative(self.params["dir_path"], self.host.workspace.root))

    async def execute(self, execution: ToolExecution) -> ToolResult:
        workspace = self.host.workspace
        folder = absolute(workspace.root, self.params["dir_path"])
        if failure := self.access_failure(folder):
            return failure
        syscall = "stat"
        try:
            if not stat.S_ISDIR(Path(folder).stat().st_mode):
                return failed(
                    f"Error: Path is not a directory: {folder}",
                    ToolErrorType.PATH_IS_NOT_A_DIRECTORY,
                    display="Error: Path is not a directory.",
                )
            syscall = "scandir"
            names = list(filter(is_text, os.listdir(folder)))  # noqa: PTH208 - names, not paths
        except OSError as error:
            return failed(
                f"Error listing directory: {node_error_message(error, syscall, folder)}",
                ToolErrorType.LS_EXECUTION_ERROR,
                display="Error: Failed to list directory.",
            )
        if not names:
            return ToolResult(
                llm_content=f"Directory {folder} is empty.", return_display="Directory is empty."
            )
        return self._listing(folder, names)

    def _listing(self, folder: str, names: Sequence[str]) -> ToolResult:
        root = self.host.workspace.root
        options = self.params.get("file_filtering_options") or {}
        visible, ignored = self.host.ignored().visible(
            [relative_path(root, f"{folder}/{name}") for name in names],
            respect_git=options.get("respect_git_ignore"),
            respect_gemini=options.get("respect_gemini_ignore"),
        )
        entries = [entry for entry in map(self._entry, visible) if entry is not None]
        entries.sort(key=lambda entry: (not entry.is_folder, collation_key(entry.name)))
        note = f"({ignored} ignored)" if ignored else ""
        summary = f"Found {len(entries)} item(s)." + (f" {note}" if note else "")
        lines = "\n".join(entry.line for entry in entries)
        listing = f"Directory listing for {folder}:\n{lines}" + (f"\n\n{note}" * bool(note))
        return ToolResult(
            llm_content=with_memory(self.host.memory, listing, Path(folder)),
            return_display={
                "summary": summary,
                "files": [
                    f"[DIR] {entry.name}" if entry.is_folder else entry.name for entry in entries
                ],
            },
            display=ToolDisplay(
                name=LSTool.display_name, description=self.description(), result_summary=summary
            ),
        )

    def _entry(self, relative: str) -> _Entry | None:
        """The entry of one name; `None` for a hidden or inaccessible one."""
        workspace = self.host.workspace
        path = Path(absolute(workspace.root, relative))
        try:
            hidden = access_error(workspace, path) is not None or any(
                pattern.fullmatch(path.name, self._budget) for pattern in self._ignored
            )
            if hidden:
                return None
            status = path.stat()
        except (InvalidPath, OSError):
            return None
        return _Entry(path.name, stat.S_ISDIR(status.st_mode), status.st_size)


def _name_pattern(glob: str) -> OutsidePattern:
    """`glob` for whole names, where only `*` and `?` are special."""
    return compile_outside(
        "".join(
            {"*": "[^\n\r\u2028\u2029]*", "?": "[^\n\r\u2028\u2029]"}.get(character)
            or re.escape(character)
            for character in re.sub(r"\*+", "*", glob)
        )
    )
