"""What the two tools that change a file have in common.

Source: core `tools/edit.ts`, `tools/write-file.ts`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_protocol.events import DiffDisplay, ToolDisplay
from services.argument_patterns import parameter_pattern
from services.build_files import is_build_file
from services.patches import unified_patch
from services.paths import InvalidPath
from services.tools.base import Invocation, failed
from services.tools.contract import (
    ConfirmationDetails,
    ConfirmationOutcome,
    ToolErrorType,
    ToolResult,
)
from services.tools.file_access import DeniedPath
from services.tools.host import ToolHost
from services.tools.paths import absolute, access_error, make_relative, strip_reference_prefix
from services.tools.short_paths import shorten_path
from services.wire import JsonObject

__all__ = ["FileEdit"]


class FileEdit(Invocation, ABC):
    """One call that changes the file that `file_path` names."""

    def __init__(self, host: ToolHost, params: JsonObject) -> None:
        super().__init__(host, params)
        try:
            self._path = self._target()
        except (DeniedPath, InvalidPath, OSError):
            root = host.workspace.root
            self._path = Path(absolute(root, strip_reference_prefix(params["file_path"], root)))

    @abstractmethod
    def _target(self) -> Path:
        """The file to change.

        Raises:
            DeniedPath, InvalidPath, OSError: it cannot be found out.
        """

    @property
    def respects_auto_edit(self) -> bool:
        """False for build files: nobody changes those unasked."""
        return not is_build_file(self._path)

    def policy_update(self, outcome: ConfirmationOutcome) -> Mapping[str, Any] | None:
        """An approval is for this file."""
        return {"argsPattern": parameter_pattern("file_path", self.params["file_path"])}

    def _access_failure(self) -> ToolResult | None:
        fault = access_error(self.host.workspace, self._path)
        if fault is None:
            return None
        return failed(
            fault, ToolErrorType.PATH_NOT_IN_WORKSPACE, display="Error: Path not in workspace."
        )

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
