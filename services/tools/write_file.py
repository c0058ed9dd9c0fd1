"""`write_file`: writes a whole file, new or existing.

Source: core `tools/write-file.ts`, `utils/editCorrector.ts`.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final

from services.abort import AbortSignal
from services.exhaustion import notice
from services.model.names import (
    is_custom_model,
    is_gemini2_model,
    is_gemini3_model,
    resolve_model,
)
from services.paths import InvalidPath, extension
from services.tools.base import failed
from services.tools.contract import (
    ConfirmationDetails,
    ToolErrorType,
    ToolExecution,
    ToolKind,
    ToolResult,
)
from services.tools.diffs import diff_context, diff_stat
from services.tools.edit_correction import without_surplus_escapes
from services.tools.file_access import DeniedPath, plan_path, writable_path
from services.tools.file_edit import FileEdit, FileEditTool
from services.tools.file_operations import log_file_operation
from services.tools.parameters import arguments, string
from services.tools.paths import access_error
from services.tools.project_memory import with_memory
from services.tools.text_files import TextFileError
from services.tools.texts import detect_line_ending, omission_placeholders, to_crlf
from services.wire import JsonObject

__all__ = ["JSON_LIKE", "WriteFileTool"]

JSON_LIKE: Final = frozenset({".json", ".ipynb", ".jsonc", ".json5"})
"""Files without a correction of backslashes."""

_WRITE_ERRORS: Final = {
    "EACCES": ("Permission denied writing to file: {}", ToolErrorType.PERMISSION_DENIED),
    "ENOSPC": ("No space left on device: {}", ToolErrorType.NO_SPACE_LEFT),
    "EISDIR": ("Target is a directory, not a file: {}", ToolErrorType.TARGET_IS_DIRECTORY),
}


class WriteFileTool(FileEditTool):
    """Writes one file of the workspace."""

    name = "write_file"
    display_name = "WriteFile"
    kind = ToolKind.EDIT
    new_text = "content"
    description = (
        "Write a file, making it and its folders where they do not exist and replacing what was "
        "in it. Give the complete content: a line such as '(rest of methods ...)' is refused. The "
        "user may change the content before it is written; the answer then says so."
    )
    parameters: ClassVar[JsonObject] = arguments(
        ["file_path", "content"],
        file_path=string("Path of the file to write."),
        content=string("The complete content, without placeholders for left-out parts."),
    )

    def check_values(self, params: JsonObject) -> str | None:
        """Check the path, access, that it is not a folder, and placeholders in the content."""
        path: str = params["file_path"]
        if not path:
            return 'Missing or empty "file_path"'
        try:
            resolved = self.target(path)
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

    def target(self, path: str) -> Path:
        """Resolve `path` for writing."""
        return writable_path(self.host, path)


@WriteFileTool.builds
class _WriteFile(FileEdit):
    def description(self) -> str:
        return f"Writing to {self._short_path}"

    def confirmation_details(self) -> ConfirmationDetails | None:
        try:
            original = self._original() or ""
        except TextFileError:
            return None
        return self._question(f"Confirm Write: {self._short_path}", original, self._content())

    async def execute(self, execution: ToolExecution) -> ToolResult:
        if failure := self.access_failure(self._path, display="Error: Path not in workspace."):
            return failure
        try:
            await self.prepare()
            original = self._original()
        except TextFileError as error:
            message = f"Error checking existing file '{self._path}': {error} ({error.code})"
            return failed(message, ToolErrorType.FILE_WRITE_FAILURE, display=message)
        content = await self._corrected(execution.signal)
        ending = (
            detect_line_ending(original)
            if original
            else "\r\n"
            if self.host.environment.platform == "win32"
            else "\n"
        )
        written = to_crlf(content) if ending == "\r\n" else content
        try:
            await self.host.text_files.write(self._path, written)
        except TextFileError as error:
            wording, kind = _WRITE_ERRORS.get(
                error.code,
                (f"Error writing to file '{{}}': {error}", ToolErrorType.FILE_WRITE_FAILURE),
            )
            message = f"{wording.replace('{}', str(self._path))} ({error.code})"
            return failed(message, kind, display=message)
        self._note_written()
        return self._report(original, content, written)

    def _original(self) -> str | None:
        """The text of the file; `None` where there is no file yet.

        Raises:
            TextFileError: it cannot be read, or it is no plan, and plan mode has begun since the
                model made the call.
        """
        if self.host.plan_mode:
            try:
                plan_path(self.host, str(self._path))
            except (DeniedPath, InvalidPath, OSError) as error:
                notice(error)
                raise TextFileError(f"Failed to resolve plan path: {error}", "EINVAL") from error
        return self.host.text_files.read_if_there(self._path)

    def _report(self, original: str | None, content: str, written: str) -> ToolResult:
        operation = "create" if original is None else "update"
        log_file_operation(self.host, "write_file", operation, self._path, written)
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
        patch = self._patch(before, content, "Original", "Written")
        summary = f"{stat['model_added_lines']} added, {stat['model_removed_lines']} removed"
        return ToolResult(
            llm_content=with_memory(self.host.memory, " ".join(sentences), self._path),
            return_display=self._change(before, content, stat, patch=patch, new=original is None),
            display=self._display(before, content, summary),
        )

    def _content(self) -> str:
        """The content to write, for old models without surplus backslashes."""
        content: str = self.params["content"]
        if extension(self._path.name).lower() in JSON_LIKE or not self._over_escapes:
            return content
        return without_surplus_escapes(content)

    async def _corrected(self, signal: AbortSignal) -> str:
        """The content to write, corrected by a model if corrections are on.

        Raises:
            AbortError: the signal was aborted.
        """
        corrector = self.host.corrector
        if corrector is None or extension(self._path.name).lower() in JSON_LIKE:
            return self._content()
        return await corrector.unescaped(self.params["content"], signal)

    @property
    def _over_escapes(self) -> bool:
        if not self.host.settings.disable_llm_correction:
            return False
        model = resolve_model(self.host.state.active_model)
        newer = is_gemini3_model(model) or is_gemini2_model(model)
        return not newer and not is_custom_model(model)
