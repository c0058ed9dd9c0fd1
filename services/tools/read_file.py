"""`read_file`: text by lines, and whole images, audio files and PDF files.

Source: core `tools/read-file.ts`, `utils/fileUtils.ts` (`processSingleFileContent`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final

from agent_protocol.events import TextDisplay, ToolDisplay
from services.node_errors import node_error_message
from services.paths import InvalidPath
from services.tools.base import BuiltinInvocation, DeclarativeTool, failed
from services.tools.contract import LlmContent, ToolErrorType, ToolExecution, ToolKind, ToolResult
from services.tools.file_access import readable_path
from services.tools.file_kinds import (
    AUDIO_FORMATS,
    MAX_MEGABYTES,
    MEGABYTE,
    audio_type,
    decode,
    file_kind,
    inline_data,
    media_type,
)
from services.tools.file_operations import log_file_operation
from services.tools.parameters import arguments, integer, string
from services.tools.paths import (
    absolute,
    access_error,
    exists,
    make_relative,
    relative_path,
    strip_reference_prefix,
)
from services.tools.project_memory import with_memory
from services.tools.short_paths import shorten_path
from services.tools.texts import cut_lines, js_fixed
from services.wire import JsonObject, js_trim

__all__ = ["ReadFileTool"]

_MAX_LINES: Final = 2000
_MAX_LINE_LENGTH: Final = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lines:
    """A window of a text file; line numbers count from 1, `last` included."""

    text: str
    first: int
    last: int
    total: int
    shortened: bool

    @property
    def partial(self) -> bool:
        return self.first > 1 or self.last < self.total

    @property
    def truncated(self) -> bool:
        return self.partial or self.shortened


class ReadFileTool(DeclarativeTool):
    """Reads one file of the workspace."""

    name = "read_file"
    display_name = "ReadFile"
    kind = ToolKind.READ
    description = (
        "Read one file and return what is in it. Text comes back as it is, at most 2000 lines at "
        "a time and 2000 characters per line; the answer says when something was left out and "
        "which start_line to ask for next. Images (PNG, JPG, GIF, WEBP, BMP), sound (MP3, WAV, "
        "AIFF, AAC, OGG, FLAC) and PDF files are handed over whole; SVG is read as text."
    )
    parameters: ClassVar[JsonObject] = arguments(
        ["file_path"],
        file_path=string("Path of the file to read."),
        start_line=integer("First line to read, counting from 1. Optional.", minimum=1),
        end_line=integer("Last line to read, included, counting from 1. Optional.", minimum=1),
    )

    def check_values(self, params: JsonObject) -> str | None:
        """Check the path, access, the order of the lines, and the project's ignore files."""
        path: str = params["file_path"]
        if not js_trim(path):
            return "The 'file_path' parameter must be non-empty."
        try:
            resolved = readable_path(self.host, path)
        except (InvalidPath, OSError) as error:
            return f"Failed to resolve path: {error}"
        fault = access_error(self.host.workspace, resolved)
        if fault is not None:
            return fault
        start, end = params.get("start_line"), params.get("end_line")
        if start is not None and end is not None and start > end:
            return "start_line cannot be greater than end_line"
        root = self.host.workspace.root
        discovery = self.host.ignored()
        if discovery.hides(strip_reference_prefix(path, root)) or discovery.hides(str(resolved)):
            return f"File path '{resolved}' is ignored by configured ignore patterns."
        return None


@ReadFileTool.builds
class _ReadFile(BuiltinInvocation):
    narrowed_by = "file_path"

    def __init__(self, tool: DeclarativeTool, params: JsonObject) -> None:
        super().__init__(tool, params)
        path: str = params["file_path"]
        try:
            self._path = readable_path(self.host, path)
        except (InvalidPath, OSError):
            root = self.host.workspace.root
            self._path = Path(absolute(root, strip_reference_prefix(path, root)))

    def locations(self) -> list[JsonObject]:
        line = self.params.get("start_line")
        return [{"path": str(self._path)} | ({} if line is None else {"line": line})]

    def description(self) -> str:
        return shorten_path(make_relative(str(self._path), self.host.workspace.root))

    async def execute(self, execution: ToolExecution) -> ToolResult:
        if failure := self.access_failure(self._path):
            return failure
        try:
            result = self._refusal() or self._read()
        except OSError as error:
            why = node_error_message(error, "open", self._path)
            shown = f"Error reading file {self._relative}: {why}"
            return failed(
                f"Error reading file {self._path}: {why}",
                ToolErrorType.READ_CONTENT_FAILURE,
                display=shown,
                llm=shown,
            )
        if result.error is not None:
            return result
        content = with_memory(self.host.memory, result.llm_content, self._path)
        return replace(result, llm_content=content)

    @property
    def _relative(self) -> str:
        return relative_path(self.host.workspace.root, self._path)

    def _refusal(self) -> ToolResult | None:
        """The failure of a call whose path is not a file, or is too large a file."""
        if not exists(self._path):
            return failed(
                f"File not found: {self._path}",
                ToolErrorType.FILE_NOT_FOUND,
                display="File not found.",
                llm="Could not read file because no file was found at the specified path.",
            )
        if self._path.is_dir():
            return failed(
                f"Path is a directory, not a file: {self._path}",
                ToolErrorType.TARGET_IS_DIRECTORY,
                display="Path is a directory.",
                llm="Could not read file because the provided path is a directory, not a file.",
            )
        megabytes = self._path.stat().st_size / MEGABYTE
        if megabytes > MAX_MEGABYTES:
            limit = f"File size exceeds the {MAX_MEGABYTES}MB limit"
            return failed(
                f"{limit}: {self._path} ({js_fixed(megabytes, 2)}MB)",
                ToolErrorType.FILE_TOO_LARGE,
                display=f"{limit}.",
                llm=f"{limit}.",
            )
        return None

    def _read(self) -> ToolResult:
        kind = file_kind(self._path)
        if kind == "text":
            return self._text()
        if kind == "svg":
            if self._path.stat().st_size > MEGABYTE:
                return self._shown(
                    f"Cannot display content of SVG file larger than 1MB: {self._relative}",
                    f"Skipped large SVG file (>1MB): {self._relative}",
                )
            return self._shown(
                decode(self._path.read_bytes()), f"Read SVG as text: {self._relative}"
            )
        if kind == "binary":
            return self._shown(
                f"Cannot display content of binary file: {self._relative}",
                f"Skipped binary file: {self._relative}",
            )
        media = audio_type(self._path) if kind == "audio" else media_type(self._path)
        if media is None:
            supported = f"Supported audio formats are {AUDIO_FORMATS}."
            return failed(
                f"Unsupported audio file format for {self._path}. {supported}",
                ToolErrorType.READ_CONTENT_FAILURE,
                display=f"Unsupported audio file format: {self._relative}",
                llm=f"Could not read audio file because its format is not supported. {supported}",
            )
        part = inline_data(self._path.read_bytes(), media)
        return self._shown(part, f"Read {kind} file: {self._relative}")

    def _text(self) -> ToolResult:
        window = self._window()
        shown = ""
        if window.partial:
            shown = f"Read lines {window.first}-{window.last} of {window.total} from "
            shown += self._relative
        elif window.shortened:
            shown = f"Read all {window.total} lines from {self._relative}"
        if window.shortened:
            shown += " (some lines were shortened)"
        if not window.truncated:
            return self._shown(window.text, shown)
        where = f"{window.first}-{window.last} of {window.total}"
        return self._shown(
            "\nIMPORTANT: The file content has been truncated.\n"
            f"Status: Showing lines {where} total lines.\n"
            "Action: To read more of the file, you can use the 'start_line' and 'end_line' "
            "parameters in a subsequent 'read_file' call. For example, to read the next section "
            f"of the file, use start_line: {window.last + 1}.\n\n"
            f"--- FILE CONTENT (truncated) ---\n{window.text}",
            shown,
            summary=where,
        )

    def _window(self) -> _Lines:
        lines = re.split(r"\r?\n", decode(self._path.read_bytes()))
        total = len(lines)
        start = self.params.get("start_line")
        end = self.params.get("end_line")
        first = min(int(start) - 1 if start else 0, total)
        last = min(int(end) if end else (int(start) - 1 if start else 0) + _MAX_LINES, total)
        chosen = lines[first:last]
        cut = cut_lines(chosen, _MAX_LINE_LENGTH)
        return _Lines(
            text="\n".join(cut), first=first + 1, last=last, total=total, shortened=cut != chosen
        )

    def _shown(self, content: LlmContent, shown: str, *, summary: str | None = None) -> ToolResult:
        log_file_operation(self.host, "read_file", "read", self._path, content)
        if summary is None and isinstance(content, str):
            summary = f"{content.count(chr(10)) + 1} lines"
        return ToolResult(
            llm_content=content,
            return_display=shown,
            display=ToolDisplay(
                name=ReadFileTool.display_name,
                description=self.description(),
                result_summary=summary,
                result=TextDisplay(text=shown),
            ),
        )
