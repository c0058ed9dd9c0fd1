"""`replace`: one place, or all places, in a file.

Source: core `tools/edit.ts`.
"""

from __future__ import annotations

import os.path
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from services.abort import AbortSignal
from services.paths import InvalidPath, extension, real_path
from services.tools.base import failed
from services.tools.contract import (
    ConfirmationDetails,
    ToolErrorType,
    ToolExecution,
    ToolKind,
    ToolResult,
)
from services.tools.diffs import diff_context, diff_stat
from services.tools.edit_strategies import Replacement, replace_text
from services.tools.file_access import DeniedPath, find_by_suffix, writable_path
from services.tools.file_edit import FileEdit, FileEditTool
from services.tools.parameters import arguments, boolean, string
from services.tools.paths import access_error
from services.tools.project_memory import with_memory
from services.tools.text_files import TextFileError
from services.tools.texts import detect_line_ending, omission_placeholders, to_crlf
from services.tools.write_file import JSON_LIKE
from services.wire import JsonObject, js_length, js_slice, js_trim

__all__ = ["EditTool"]

_NOTHING_TO_FIND: Final = (
    "The 'old_string' parameter is required. The Edit tool performs localized search-and-replace. "
    "If you are modifying a section of the file you have not viewed recently, call ReadFile on the "
    "target line range to inspect the current code, then provide the exact matching lines in "
    "'old_string'."
)


class EditTool(FileEditTool):
    """Replaces text in one file of the workspace."""

    name = "replace"
    display_name = "Edit"
    kind = ToolKind.EDIT
    new_text = "new_string"
    description = (
        "Replace text in a file. old_string must be the literal text as it stands in the file, "
        "with its white space and enough lines around it to occur once; read the file first. Set "
        "allow_multiple to replace every occurrence. An empty old_string makes a new file. Prefer "
        "several small replacements to a large one. The user may change new_string before it is "
        "applied; the answer then says so."
    )
    parameters: ClassVar[JsonObject] = arguments(
        ["file_path", "instruction", "old_string", "new_string"],
        file_path=string("Path of the file to change."),
        instruction=string(
            "What the change is for, where it goes and what it must achieve, so that "
            "somebody who sees only this can make it."
        ),
        old_string=string("The literal text to replace, not escaped."),
        new_string=string(
            "The literal text to put there, not escaped and without placeholders for "
            "left-out parts."
        ),
        allow_multiple=boolean("Replace every occurrence instead of expecting exactly one."),
    )

    def check_values(self, params: JsonObject) -> str | None:
        """Check the path, placeholders that are not in the old text, and access."""
        if not params["file_path"]:
            return "The 'file_path' parameter must be non-empty."
        try:
            resolved = self.target(params["file_path"])
        except (DeniedPath, InvalidPath, OSError) as error:
            return str(error)
        known = omission_placeholders(params["old_string"])
        if any(
            placeholder not in known for placeholder in omission_placeholders(params["new_string"])
        ):
            return (
                "`new_string` contains an omission placeholder (for example 'rest of methods "
                "...'). Provide exact literal replacement text."
            )
        return access_error(self.host.workspace, resolved)

    def target(self, path: str) -> Path:
        """Resolve `path`; a relative one may be the end of a longer path in the workspace."""
        if self.host.plan_mode:
            return writable_path(self.host, path)
        if os.path.isabs(path):  # noqa: PTH117 - text in, text out
            return real_path(path.replace("\0", ""))
        found = find_by_suffix(self.host, path)
        return real_path(found) if found is not None else writable_path(self.host, path)

    def modified_params(self, params: JsonObject, current: str, content: str) -> JsonObject:
        """`params` as the user changed them: `content` replaces the whole file."""
        return {**super().modified_params(params, current, content), "old_string": current}


class _Refusal(Exception):
    """The edit cannot be made; `message` is for the model, `display` for the user."""

    def __init__(self, *, message: str, display: str, type: ToolErrorType) -> None:
        super().__init__(message)
        self.message = message
        self.display = display
        self.type = type


class _Mismatch(_Refusal):
    """The text to replace does not occur in the file as often as expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The computed edit; `before` is `None` for a new file."""

    before: str | None
    replacement: Replacement
    ending: str

    @property
    def after(self) -> str:
        return self.replacement.text


@EditTool.builds
class _Edit(FileEdit):
    def description(self) -> str:
        old, new = self.params["old_string"], self.params["new_string"]
        if not old:
            return f"Create {self._short_path}"
        if old == new:
            return f"No file changes to {self._short_path}"
        return f"{self._short_path}: {_snippet(old)} => {_snippet(new)}"

    def confirmation_details(self) -> ConfirmationDetails | None:
        try:
            plan = self._plan()
        except (_Refusal, TextFileError):
            return None
        return self._question(f"Confirm Edit: {self._short_path}", plan.before, plan.after)

    async def execute(self, execution: ToolExecution) -> ToolResult:
        if failure := self.access_failure(self._path, display="Error: Path not in workspace."):
            return failure
        try:
            await self.prepare()
            plan = await self._corrected_plan(execution.signal)
        except _Refusal as refusal:
            return failed(refusal.message, refusal.type, display=f"Error: {refusal.display}")
        except TextFileError as error:
            shown = f"Error preparing edit: {error}"
            return failed(
                str(error), ToolErrorType.EDIT_PREPARATION_FAILURE, display=shown, llm=shown
            )
        written = to_crlf(plan.after) if plan.ending == "\r\n" else plan.after
        try:
            await self.host.text_files.write(self._path, written)
        except TextFileError as error:
            return failed(
                str(error),
                ToolErrorType.FILE_WRITE_FAILURE,
                display=f"Error writing file: {error}",
                llm=f"Error executing edit: {error}",
            )
        self._note_written()
        return self._report(plan, written)

    async def _corrected_plan(self, signal: AbortSignal) -> _Plan:
        """The edit, corrected by a model if it does not match the file and corrections are on.

        The confirmation is about the edit without the correction.

        Raises:
            _Refusal, TextFileError: as `_plan`; the first refusal if the correction fails too.
        """
        corrector = self.host.corrector
        try:
            return self._plan()
        except _Mismatch as mismatch:
            if corrector is None or extension(self._path.name).lower() in JSON_LIKE:
                raise
            first = mismatch
        before = self.host.text_files.read_if_there(self._path) or ""
        text = before.replace("\r\n", "\n")
        if not js_trim(self.params["old_string"]):
            raise _Refusal(
                message=_NOTHING_TO_FIND,
                display="Edit failed: 'old_string' cannot be empty.",
                type=ToolErrorType.INVALID_TOOL_PARAMS,
            ) from first
        fix = await corrector.fixed_edit(
            self.params, error=first.message, content=text, signal=signal
        )
        if fix is None:
            raise first
        if fix.get("noChangesRequired"):
            raise _Refusal(
                message=(
                    "A secondary check by an LLM determined that no changes were necessary to "
                    f"fulfill the instruction. Explanation: {fix.get('explanation', 'undefined')}. "
                    f"Original error with the parameters given: {first.message}"
                ),
                display=("No changes required. The file already meets the specified conditions."),
                type=ToolErrorType.EDIT_NO_CHANGE_LLM_JUDGEMENT,
            ) from first
        old, new = fix.get("search"), fix.get("replace")
        if not isinstance(old, str) or not isinstance(new, str):
            raise first
        multiple = bool(self.params.get("allow_multiple"))
        found = replace_text(text, old, new, allow_multiple=multiple)
        try:
            self._check(found, old, new, allow_multiple=multiple)
        except _Mismatch:
            self._log_correction("failure")
            raise first from None
        self._log_correction("success")
        return _Plan(before=text, replacement=found, ending=detect_line_ending(before))

    def _log_correction(self, outcome: str) -> None:
        self.host.state.log(
            "edit_correction", f"Edit Tool Correction: {outcome}", {"correction": outcome}
        )

    def _plan(self) -> _Plan:
        """Compute the edit.

        Raises:
            _Refusal: it cannot be made.
            TextFileError: the file exists and cannot be read.
        """
        old, new = self.params["old_string"], self.params["new_string"]
        before = self.host.text_files.read_if_there(self._path)
        if before is None:
            if old:
                raise _Refusal(
                    message=f"File not found: {self._path}",
                    display=(
                        "File not found. Cannot apply edit. Use an empty old_string to create a "
                        "new file."
                    ),
                    type=ToolErrorType.FILE_NOT_FOUND,
                )
            ending = "\r\n" if self.host.environment.platform == "win32" else "\n"
            made = Replacement(text=new, occurrences=1)
            return _Plan(before=None, replacement=made, ending=ending)
        if not old:
            raise _Refusal(
                message=f"File already exists, cannot create: {self._path}",
                display="Failed to edit. Attempted to create a file that already exists.",
                type=ToolErrorType.ATTEMPT_TO_CREATE_EXISTING_FILE,
            )
        text = before.replace("\r\n", "\n")
        multiple = bool(self.params.get("allow_multiple"))
        found = replace_text(text, old, new, allow_multiple=multiple)
        if found.strategy:
            self.host.state.log(
                "edit_strategy",
                f"Edit Tool Strategy: {found.strategy}",
                {"strategy": found.strategy},
            )
        self._check(found, old, new, allow_multiple=multiple)
        return _Plan(before=text, replacement=found, ending=detect_line_ending(before))

    def _check(self, found: Replacement, old: str, new: str, *, allow_multiple: bool) -> None:
        path = self.params["file_path"]
        if found.occurrences == 0:
            raise _Mismatch(
                message=(
                    f"Could not find an exact match for 'old_string' in '{path}'. If previous "
                    "edits modified the file or you are modifying lines outside your recent read "
                    "window, please use ReadFile to inspect the target lines before retrying with "
                    "an exact 'old_string'."
                ),
                display=f"Could not find an exact match for old_string in '{path}'.",
                type=ToolErrorType.EDIT_NO_OCCURRENCE_FOUND,
            )
        if found.occurrences != 1 and not allow_multiple:
            count = found.occurrences
            raise _Mismatch(
                message=(
                    f"Failed to edit, Expected 1 occurrence but found {count} for old_string in "
                    f"file: {path}. If you intended to replace multiple occurrences, set "
                    "'allow_multiple' to true."
                ),
                display=f"Failed to edit, expected 1 occurrence but found {count}.",
                type=ToolErrorType.EDIT_EXPECTED_OCCURRENCE_MISMATCH,
            )
        same = "No changes to apply. The old_string and new_string are identical"
        if old.replace("\r\n", "\n") == new.replace("\r\n", "\n"):
            raise _Mismatch(
                message=f"{same} in file: {path}",
                display=f"{same}.",
                type=ToolErrorType.EDIT_NO_CHANGE,
            )

    def _report(self, plan: _Plan, written: str) -> ToolResult:
        before = plan.before or ""
        if plan.before is None:
            summary = f"Created {self._short_path}"
            shown: str | JsonObject = summary
            done = f"Created new file: {self._path} with provided content."
        else:
            stat = diff_stat(before, self._proposed(plan), plan.after)
            summary = f"{stat['model_added_lines']} added, {stat['model_removed_lines']} removed"
            patch = self._patch(before, plan.after, "Current", "Proposed")
            shown = self._change(before, plan.after, stat, patch=patch, new=False)
            count = plan.replacement.occurrences
            done = f"Successfully modified file: {self._path} ({count} replacements)."
        sentences = [done, f"Here is the updated code:\n{diff_context(before, written)}"]
        if plan.replacement.ranges:
            sentences.append(_near(plan.replacement.ranges))
        if self.params.get("modified_by_user"):
            sentences.append(
                "The confirmation step modified the `new_string` content to be: "
                f"{self.params['new_string']}."
            )
        return ToolResult(
            llm_content=with_memory(self.host.memory, " ".join(sentences), self._path),
            return_display=shown,
            display=self._display(before, plan.after, summary),
        )

    def _proposed(self, plan: _Plan) -> str:
        """The whole file as the model proposed it, before a change of the user."""
        proposed = self.params.get("ai_proposed_content")
        if not self.params.get("modified_by_user") or proposed is None:
            return plan.after
        multiple = bool(self.params.get("allow_multiple"))
        old = self.params["old_string"]
        return replace_text(plan.before or "", old, proposed, allow_multiple=multiple).text


def _snippet(text: str) -> str:
    first = js_slice(text.split("\n")[0], 0, 30)
    return first + ("..." if js_length(text) > 30 else "")


def _near(ranges: tuple[tuple[int, int], ...]) -> str:
    shown = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)
    return f"Applied fuzzy match at line{'s' if len(ranges) > 1 else ''} {shown}."
