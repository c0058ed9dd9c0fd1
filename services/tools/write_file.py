"""`write_file`: a whole file, new or replaced.

Source: core `tools/write-file.ts`, `utils/editCorrector.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from agent_protocol.events import DiffDisplay, ToolDisplay
from services.tools.base import DeclarativeTool, Invocation, failed
from services.tools.build_files import is_build_file
from services.tools.contract import (
    ConfirmationDetails,
    ConfirmationOutcome,
    ToolErrorType,
    ToolExecution,
    ToolInvocation,
    ToolKind,
    ToolResult,
)
from services.tools.diffs import create_patch, diff_context, diff_stat
from services.tools.file_access import DeniedPath, writable_path
from services.tools.host import ToolHost
from services.tools.paths import (
    InvalidPath,
    absolute,
    access_error,
    extension,
    make_relative,
    strip_reference_prefix,
)
from services.tools.short_paths import shorten_path
from services.tools.text_files import TextFileError, read_text, write_text
from services.tools.texts import args_pattern, detect_line_ending, omission_placeholders, to_crlf
from services.wire import JsonObject

__all__ = ["JSON_LIKE", "WriteFileTool"]

JSON_LIKE: Final = frozenset({".json", ".ipynb", ".jsonc", ".json5"})
"""Files whose backslashes mean what they say: no correction is tried on them."""

_OVER_ESCAPED: Final = re.compile(r"\\+([ntr'\"`\\\n])")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}
_WRITE_ERRORS: Final = {
    "EACCES": ("Permission denied writing to file: {}", ToolErrorType.PERMISSION_DENIED),
    "ENOSPC": ("No space left on device: {}", ToolErrorType.NO_SPACE_LEFT),
    "EISDIR": ("Target is a directory, not a file: {}", ToolErrorType.TARGET_IS_DIRECTORY),
}


class WriteFileTool(DeclarativeTool):
    """Writes one file of the workspace."""

    name = "write_file"
    display_name = "WriteFile"
    kind = ToolKind.EDIT
    description = (
        "Write a file, making it and its folders where they do not exist and replacing what was "
        "in it. Give the complete content: a line such as '(rest of methods ...)' is refused. The "
        "user may change the content before it is written; the answer then says so."
    )
    parameters: ClassVar[JsonObject] = {
        "type": "object",
        "properties": {
            "file_path": {"description": "Path of the file to write.", "type": "string"},
            "content": {
                "description": "The complete content, without placeholders for left-out parts.",
                "type": "string",
            },
        },
        "required": ["file_path", "content"],
    }

    def check_values(self, params: JsonObject) -> str | None:
        """Path, access, a folder in the way, and placeholders in the content."""
        path: str = params["file_path"]
        if not path:
            return 'Missing or empty "file_path"'
        try:
            resolved = writable_path(self.host, path)
        except (DeniedPath, InvalidPath, OSError) as error:
            return str(error)
        fault = access_error(self.host.workspace, resolved)
        if fault is not None:
            return fault
        if resolved.is_dir():
            return f"Path is a directory, not a file: {resolved}"
        if omission_placeholders(params["content"]):
            return (
                "`content` contains an omission placeholder (for example 'rest of methods ...'). "
                "Provide complete file content."
            )
        return None

    def invocation(self, params: JsonObject) -> ToolInvocation:
        """The call for validated `params`."""
        return _WriteFile(self.host, params)

    def current_content(self, params: JsonObject) -> str:
        """What is in the file that `params` names; empty where there is none.

        Raises:
            DeniedPath, InvalidPath, OSError, TextFileError: it cannot be found out.
        """
        return _current(writable_path(self.host, params["file_path"])) or ""

    def modified_params(self, params: JsonObject, current: str, content: str) -> JsonObject:
        """`params` as a person changed them: the whole file becomes `content`."""
        return {
            **params,
            "ai_proposed_content": params["content"],
            "content": content,
            "modified_by_user": True,
        }


class _WriteFile(Invocation):
    shown_name = WriteFileTool.display_name

    def __init__(self, host: ToolHost, params: JsonObject) -> None:
        super().__init__(host, params)
        path: str = params["file_path"]
        try:
            self._path = writable_path(host, path)
        except (DeniedPath, InvalidPath, OSError):
            root = host.workspace.root
            self._path = Path(absolute(root, strip_reference_prefix(path, root)))

    def description(self) -> str:
        return f"Writing to {self._short_path}"

    @property
    def respects_auto_edit(self) -> bool:
        return not is_build_file(self._path)

    def policy_update(self, outcome: ConfirmationOutcome) -> Mapping[str, Any] | None:
        return {"argsPattern": args_pattern("file_path", self.params["file_path"])}

    def confirmation_details(self) -> ConfirmationDetails | None:
        try:
            original = _current(self._path) or ""
        except TextFileError:
            return None
        content = self._content()
        return ConfirmationDetails(
            type="edit",
            title=f"Confirm Write: {self._short_path}",
            fields={
                "fileName": self._path.name,
                "filePath": str(self._path),
                "fileDiff": create_patch(self._path.name, original, content, "Current", "Proposed"),
                "originalContent": original,
                "newContent": content,
                "isBuildFile": is_build_file(self._path),
            },
        )

    async def execute(self, execution: ToolExecution) -> ToolResult:
        fault = access_error(self.host.workspace, self._path)
        if fault is not None:
            return failed(
                fault, ToolErrorType.PATH_NOT_IN_WORKSPACE, display="Error: Path not in workspace."
            )
        try:
            original = _current(self._path)
        except TextFileError as error:
            message = f"Error checking existing file '{self._path}': {error} ({error.code})"
            return failed(message, ToolErrorType.FILE_WRITE_FAILURE, display=message)
        content = self._content()
        ending = (
            detect_line_ending(original)
            if original
            else "\r\n"
            if self.host.environment.platform == "win32"
            else "\n"
        )
        written = to_crlf(content) if ending == "\r\n" else content
        try:
            write_text(self._path, written)
        except TextFileError as error:
            wording, kind = _WRITE_ERRORS.get(
                error.code,
                (f"Error writing to file '{{}}': {error}", ToolErrorType.FILE_WRITE_FAILURE),
            )
            message = f"{wording.replace('{}', str(self._path))} ({error.code})"
            return failed(message, kind, display=message)
        if is_build_file(self._path):
            self.host.note_build_file(self._path)
        return self._report(original, content, written)

    def _report(self, original: str | None, content: str, written: str) -> ToolResult:
        before = original or ""
        proposed = self.params.get("ai_proposed_content") or self.params["content"]
        stat = diff_stat(before, proposed, self.params["content"])
        sentences = [
            f"Successfully created and wrote to new file: {self._path}."
            if original is None
            else f"Successfully overwrote file: {self._path}."
        ]
        if self.params.get("modified_by_user"):
            sentences.append(f"User modified the `content` to be: {self.params['content']}")
        sentences.append(f"Here is the updated code:\n{diff_context(before, written)}")
        return ToolResult(
            llm_content=" ".join(sentences),
            return_display={
                "fileDiff": create_patch(self._path.name, before, content, "Original", "Written"),
                "fileName": self._path.name,
                "filePath": str(self._path),
                "originalContent": before,
                "newContent": content,
                "diffStat": stat,
                "isNewFile": original is None,
                "isBuildFile": is_build_file(self._path),
            },
            display=ToolDisplay(
                name=WriteFileTool.display_name,
                description=self.description(),
                result_summary=(
                    f"{stat['model_added_lines']} added, {stat['model_removed_lines']} removed"
                ),
                result=DiffDisplay(path=str(self._path), before_text=before, after_text=content),
            ),
        )

    @property
    def _short_path(self) -> str:
        return shorten_path(make_relative(str(self._path), self.host.workspace.root))

    def _content(self) -> str:
        """The content to write: old models' surplus backslashes are taken out."""
        content: str = self.params["content"]
        if extension(self._path.name).lower() in JSON_LIKE or not self._over_escapes:
            return content
        return _OVER_ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), content)

    @property
    def _over_escapes(self) -> bool:
        if not self.host.settings.disable_llm_correction:
            return False
        return re.match(r"gemini-(?![23])\d", self.host.state.active_model) is not None


def _current(path: Path) -> str | None:
    """What is in the file now; `None` where there is none."""
    try:
        return read_text(path)
    except TextFileError as error:
        if error.code == "ENOENT":
            return None
        raise
