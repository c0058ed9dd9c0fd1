"""The common part of the two tools that change a file.

Source: core `tools/edit.ts`, `tools/write-file.ts`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from agent_protocol.events import DiffDisplay, ToolDisplay
from services.build_files import is_build_file
from services.patches import unified_patch
from services.paths import InvalidPath
from services.tools.base import BuiltinInvocation, DeclarativeTool
from services.tools.contract import ConfirmationDetails
from services.tools.file_access import DeniedPath
from services.tools.paths import absolute, make_relative, strip_reference_prefix
from services.tools.short_paths import shorten_path
from services.wire import JsonObject

__all__ = ["FileEdit", "FileEditTool"]


class FileEditTool(DeclarativeTool, ABC):
    """A tool that changes the file that the argument `file_path` names."""

    new_text: ClassVar[str]
    """The argument with the text that the model proposes."""

    @abstractmethod
    def target(self, path: str) -> Path:
        """Resolve `path` to the file to change.

        Raises:
            DeniedPath, InvalidPath, OSError: it cannot be resolved.
        """

    def current_content(self, params: JsonObject) -> str:
        """The text of the file that `params` names; empty where there is no file.

        Raises:
            DeniedPath, InvalidPath, OSError, TextFileError: it cannot be read.
        """
        return self.host.text_files.read_if_there(self.target(params["file_path"])) or ""

    def modified_params(self, params: JsonObject, current: str, content: str) -> JsonObject:
        """`params` as the user changed them: the whole file becomes `content`."""
        return {
            **params,
            "ai_proposed_content": params[self.new_text],
            self.new_text: content,
            "modified_by_user": True,
        }


class FileEdit(BuiltinInvocation, ABC):
    """A call of a `FileEditTool`."""

    narrowed_by = "file_path"

    def __init__(self, tool: FileEditTool, params: JsonObject) -> None:
        super().__init__(tool, params)
        path: str = params["file_path"]
        try:
            self._path = tool.target(path)
        except (DeniedPath, InvalidPath, OSError):
            root = self.host.workspace.root
            self._path = Path(absolute(root, strip_reference_prefix(path, root)))

    def locations(self) -> list[JsonObject]:
        """The file."""
        return [{"path": str(self._path)}]

    async def prepare(self) -> None:
        """Fetch the file's text for the question."""
        await self.host.text_files.load(self._path)

    @property
    def respects_auto_edit(self) -> bool:
        """False for build files: the user confirms every change of those."""
        return not is_build_file(self._path)

    def _note_written(self) -> None:
        if is_build_file(self._path):
            self.host.note_build_file(self._path)

    def _question(self, title: str, before: str | None, after: str) -> ConfirmationDetails:
        """What to ask; `before` is `None` where there is no file yet."""
        return ConfirmationDetails(
            type="edit",
            title=title,
            fields={
                "fileName": self._path.name,
                "filePath": str(self._path),
                "fileDiff": self._patch(before or "", after, "Current", "Proposed"),
                "originalContent": before,
                "newContent": after,
                "isBuildFile": is_build_file(self._path),
            },
        )

    def _change(
        self, before: str, after: str, stat: Mapping[str, int], *, patch: str, new: bool
    ) -> JsonObject:
        """The `returnDisplay` of a change."""
        return {
            "fileDiff": patch,
            "fileName": self._path.name,
            "filePath": str(self._path),
            "originalContent": before,
            "newContent": after,
            "diffStat": stat,
            "isNewFile": new,
            "isBuildFile": is_build_file(self._path),
        }

    def _display(self, before: str, after: str, summary: str) -> ToolDisplay:
        return ToolDisplay(
            name=self.shown_name,
            description=self.description(),
            result_summary=summary,
            result=DiffDisplay(path=str(self._path), before_text=before, after_text=after),
        )

    def _patch(self, before: str, after: str, before_label: str, after_label: str) -> str:
        return unified_patch(
            self._path.name, before, after, before_label=before_label, after_label=after_label
        )

    @property
    def _short_path(self) -> str:
        return shorten_path(make_relative(str(self._path), self.host.workspace.root))
