"""`read_many_files`: the files that several patterns match, one after the other.

It is not offered to the main model; it expands an `@path` in a user's message. It does not report
memory files of subfolders as upstream does.

Source: core `tools/read-many-files.ts`, `utils/ignorePatterns.ts`.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final

from services.node_errors import node_error_message
from services.outside_patterns import PatternLimit
from services.paths import extension
from services.tools.base import BuiltinInvocation, DeclarativeTool, failed
from services.tools.contract import ToolErrorType, ToolExecution, ToolKind, ToolResult
from services.tools.file_kinds import (
    AUDIO_FORMATS,
    MAX_MEGABYTES,
    MEGABYTE,
    UNREADABLE_ENDINGS,
    audio_type,
    decode,
    file_kind,
    inline_data,
    media_type,
)
from services.tools.globbing import GlobBudget, find_files, path_pattern
from services.tools.parameters import arguments, array, boolean, string
from services.tools.paths import absolute, access_error, relative_path
from services.tools.texts import cut_lines, js_fixed
from services.wire import JsonObject, Part, js_trim

__all__ = ["DEFAULT_EXCLUDES", "ReadManyFilesTool", "UnreadableFile", "file_content"]

_FOLDERS: Final = "node_modules .git bower_components .svn .hg .vscode .idea dist build coverage"
DEFAULT_EXCLUDES: Final = (
    *(f"**/{name}/**" for name in f"{_FOLDERS} __pycache__".split()),
    *(f"**/*.{ending}" for ending in UNREADABLE_ENDINGS.split()),
    "**/.DS_Store",
    "**/.env",
    "**/GEMINI.md",
)
"""The patterns that a call leaves out by default, in upstream's order."""

_MAX_LINES: Final = 2000
_MAX_LINE_LENGTH: Final = 2000
_ASKED_FOR: Final = frozenset({"image", "pdf", "audio"})
_SHOWN_FILES: Final = 10
_SHOWN_SKIPPED: Final = 5
_CUT: Final = (
    "[WARNING: This file was truncated. To view the full content, use the 'read_file' tool on this "
    "specific file.]\n\n"
)


class ReadManyFilesTool(DeclarativeTool):
    """Reads every matching file."""

    name = "read_many_files"
    display_name = "ReadManyFiles"
    kind = ToolKind.READ
    description = (
        "Read all text files that glob patterns match, one after the other, each under a line with "
        "its path. Images, sound and PDF files come along when a pattern names them or their "
        "ending. Build results, dependencies and binary files are left out unless "
        "useDefaultExcludes is false."
    )
    parameters: ClassVar[JsonObject] = arguments(
        ["include"],
        include=array(
            string(minLength=1),
            "Glob patterns or paths, from the workspace: `src/**/*.py`.",
            minItems=1,
        ),
        exclude=array(
            string(minLength=1), "Glob patterns of what to leave out as well.", default=[]
        ),
        recursive=boolean(
            "Has no effect; `**` in a pattern is what goes into subfolders.", default=True
        ),
        useDefaultExcludes=boolean("False to leave in what is usually left out.", default=True),
        file_filtering_options={
            **arguments(
                respect_git_ignore=boolean("Leave out what .gitignore names."),
                respect_gemini_ignore=boolean("Leave out what .geminiignore names."),
            ),
            "description": "Which of the project's ignore files count; both unless given.",
        },
    )


@dataclass(slots=True)
class _Reading:
    """The result of a call so far. `read` and `skipped` have paths relative to the workspace."""

    parts: list[str | Part] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)


@ReadManyFilesTool.builds
class _ReadMany(BuiltinInvocation):
    narrowed_by = "include"

    @property
    def _include(self) -> list[str]:
        return list(self.params["include"])

    @property
    def _excludes(self) -> list[str]:
        usual = DEFAULT_EXCLUDES if self.params.get("useDefaultExcludes") is not False else ()
        return [*usual, *(self.params.get("exclude") or ())]

    def description(self) -> str:
        included = "`, `".join(self._include)
        excludes = self._excludes
        excluded = "none specified"
        if excludes:
            excluded = "patterns like\n" + "`, `".join(excludes[:2])
            excluded += "...`" if len(excludes) > 2 else "`"
        return (
            f"Will attempt to read and concatenate files using patterns:\n{included}\n "
            f"(within target directory:\n{self.host.workspace.root}\n) . Excluding: {excluded}. "
            'File encoding: utf-8. Separator: "--- path/to/file.ext ---".'
        )

    async def execute(self, execution: ToolExecution) -> ToolResult:
        reading = _Reading()
        try:
            files = self._files(reading)
        except (OSError, ValueError, re.error, PatternLimit) as error:
            message = f"Error during file search: {error}"
            return failed(
                message,
                ToolErrorType.READ_MANY_FILES_SEARCH_ERROR,
                display=f"Error: {error}",
                llm=message,
            )
        for file in files:
            self._read(file, reading)
        if reading.parts:
            reading.parts.append("\n--- End of content ---")
        else:
            reading.parts.append("No files matching the criteria were found or all were skipped.")
        root = str(self.host.workspace.root)
        return ToolResult(
            llm_content=reading.parts,
            return_display={
                "summary": js_trim(_summary(root, reading)),
                "files": reading.read,
                "skipped": [{"path": path, "reason": why} for path, why in reading.skipped],
                "include": self._include,
                "excludes": self._excludes,
                "targetDir": root,
            },
        )

    def _files(self, reading: _Reading) -> list[str]:
        """Absolute paths of the files to read, in order."""
        workspace = self.host.workspace
        unwanted = [path_pattern(f"./{pattern}", ignore_case=True) for pattern in self._excludes]
        budget = GlobBudget()
        found: dict[str, None] = {}
        for folder in workspace.folders:
            for pattern in self._include:
                slashed = pattern.replace("\\", "/")
                literal = os.path.isfile(os.path.normpath(f"{folder}/{slashed}"))  # noqa: PTH113
                for path in find_files(folder, slashed, literal=literal, budget=budget):
                    relative = relative_path(folder, path)
                    if not any(each.fullmatch(relative, budget) for each in unwanted):
                        found[relative_path(workspace.root, path)] = None
        options: JsonObject = self.params.get("file_filtering_options") or {}
        visible, ignored = self.host.ignored().visible(
            list(found),
            respect_git=options.get("respect_git_ignore"),
            respect_gemini=options.get("respect_gemini_ignore"),
        )
        files: set[str] = set()
        for path in visible:
            full = absolute(workspace.root, path)
            if access_error(workspace, full) is None:
                files.add(full)
            else:
                reading.skipped.append((full, "Security: Path not in workspace"))
        if ignored:
            reading.skipped.append((f"{ignored} file(s)", "ignored by project ignore files"))
        return sorted(files)

    def _read(self, file: str, reading: _Reading) -> None:
        relative = relative_path(self.host.workspace.root, file)
        try:
            if file_kind(Path(file)) in _ASKED_FOR and not _is_named(file, self._include):
                why = (
                    "asset file (image/pdf/audio) was not explicitly requested by name or extension"
                )
                reading.skipped.append((relative, why))
                return
            content = file_content(Path(file), relative)
        except OSError as error:
            why = f"Error reading file {file}: {node_error_message(error, 'open', file)}"
            reading.skipped.append((relative, f"Read error: {why}"))
            return
        except UnreadableFile as error:
            reading.skipped.append((relative, f"Read error: {error}"))
            return
        if isinstance(content, str):
            content = f"--- {file} ---\n\n{content}\n\n"
        reading.parts.append(content)
        reading.read.append(relative)


class UnreadableFile(Exception):
    """The file cannot be sent to a model."""


def _is_named(file: str, include: Sequence[str]) -> bool:
    """Whether a pattern contains the file's ending or its name."""
    ending = extension(file).lower()
    name = os.path.basename(file).removesuffix(ending)  # noqa: PTH119 - paths are text here
    return any(ending in pattern.lower() or name in pattern for pattern in include)


def file_content(file: Path, relative: str) -> str | Part:
    """The content of the file for the model; a long text is cut, with a notice.

    Raises:
        OSError: it cannot be read.
        UnreadableFile: it is too large, or audio in a format that no model reads.
    """
    size = file.stat().st_size
    if size > MAX_MEGABYTES * MEGABYTE:
        megabytes = js_fixed(size / MEGABYTE, 2)
        raise UnreadableFile(
            f"File size exceeds the {MAX_MEGABYTES}MB limit: {file} ({megabytes}MB)"
        )
    kind = file_kind(file)
    if kind == "binary":
        return f"Cannot display content of binary file: {relative}"
    if kind == "svg" and size > MEGABYTE:
        return f"Cannot display content of SVG file larger than 1MB: {relative}"
    data = file.read_bytes()
    if kind == "svg":
        return decode(data)
    if kind == "text":
        return _text(decode(data))
    media = audio_type(file) if kind == "audio" else media_type(file)
    if media is None and kind == "audio":
        raise UnreadableFile(
            f"Unsupported audio file format for {file}. Supported audio formats are "
            f"{AUDIO_FORMATS}."
        )
    return inline_data(data, media or "application/octet-stream")


def _text(text: str) -> str:
    lines = re.split(r"\r?\n", text)
    kept = cut_lines(lines[:_MAX_LINES], _MAX_LINE_LENGTH)
    return (_CUT if kept != lines else "") + "\n".join(kept)


def _summary(root: str, reading: _Reading) -> str:
    text = f"### ReadManyFiles Result (Target Dir: `{root}`)\n\n"
    count = len(reading.read)
    if count:
        text += f"Successfully read and concatenated content from **{count} file(s)**.\n"
        some = f" (first {_SHOWN_FILES} shown)" if count > _SHOWN_FILES else ""
        text += f"\n**Processed Files{some}:**\n"
        text += "".join(f"- `{path}`\n" for path in reading.read[:_SHOWN_FILES])
        if count > _SHOWN_FILES:
            text += f"- ...and {count - _SHOWN_FILES} more.\n"
    else:
        text += "No files were read and concatenated based on the criteria.\n"
    count = len(reading.skipped)
    if count:
        some = f" (first {_SHOWN_SKIPPED} shown)" if count > _SHOWN_SKIPPED else ""
        text += f"\n**Skipped {count} item(s){some}:**\n"
        text += "".join(
            f"- `{path}` (Reason: {why})\n" for path, why in reading.skipped[:_SHOWN_SKIPPED]
        )
        if count > _SHOWN_SKIPPED:
            text += f"- ...and {count - _SHOWN_SKIPPED} more.\n"
    return text
