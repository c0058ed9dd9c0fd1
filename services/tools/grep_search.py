"""`grep_search`: lines of files by regular expression.

One search replaces upstream's three (`git grep`, `grep` and its own). It covers the files that all
three search, with JavaScript's patterns, ignoring case, in the order of names.

Source: core `tools/grep.ts`, `tools/grep-utils.ts`.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Final

from agent_protocol.events import TextDisplay, ToolDisplay
from services.abort import AbortSignal
from services.exhaustion import notice
from services.node_errors import node_error_message
from services.outside_patterns import OutsidePattern, PatternBudget, PatternLimit
from services.paths import InvalidPath, real_path
from services.tools.base import BuiltinInvocation, DeclarativeTool, failed
from services.tools.contract import ToolErrorType, ToolExecution, ToolKind, ToolResult
from services.tools.globbing import path_pattern, walk_files
from services.tools.grep_report import Match, report
from services.tools.ignore import FileDiscovery, is_git_repository
from services.tools.js_regex import JsRegexError, compile_js
from services.tools.parameters import arguments, boolean, integer, string
from services.tools.paths import absolute, access_error, make_relative, relative_path
from services.tools.short_paths import shorten_path
from services.wire import JsonObject

__all__ = ["GrepTool"]

_TOTAL: Final = 100
_TIMEOUT_MS: Final = 30_000
_SNIFFED: Final = 32_768
_FILES_PER_TICK: Final = 50


class GrepTool(DeclarativeTool):
    """Searches the contents of the workspace's files."""

    name = "grep_search"
    display_name = "SearchText"
    kind = ToolKind.SEARCH
    description = (
        "Search the contents of files for a regular expression, case ignored, and get the lines "
        "with their numbers by file: at most 100 matches unless total_max_matches says otherwise. "
        "With three matches or fewer the lines around them are shown too."
    )
    parameters: ClassVar[JsonObject] = arguments(
        ["pattern"],
        pattern=string("The regular expression."),
        dir_path=string("Folder to search in; the workspace unless given."),
        include_pattern=string("Glob that file paths must match, such as `*.py` or `src/**`."),
        exclude_pattern=string("Regular expression; matching lines that match it too are dropped."),
        names_only=boolean("Return only the paths of files with matches."),
        max_matches_per_file=integer("Most matches to return from one file.", minimum=1),
        total_max_matches=integer("Most matches to return in all; 100 unless given.", minimum=1),
    )

    def check_values(self, params: JsonObject) -> str | None:
        """Check the patterns, access, and that the path is a folder."""
        for key, kind in (("pattern", ""), ("exclude_pattern", "exclude ")):
            try:
                if key in params:
                    compile_js(params[key])
            except JsRegexError as error:
                lead = f"Invalid {kind}regular expression pattern provided"
                return f"{lead}: {params[key]}. Error: {error}"
        if not params.get("dir_path"):
            return None
        workspace = self.host.workspace
        try:
            folder = real_path(absolute(workspace.root, params["dir_path"]))
        except (InvalidPath, OSError) as error:
            return str(error)
        return access_error(workspace, folder) or _not_a_folder(folder)


def _not_a_folder(path: Path) -> str | None:
    try:
        path.stat()
    except FileNotFoundError:
        return f"Path does not exist: {path}"
    except OSError as error:
        why = node_error_message(error, "stat", path)
        return f"Failed to access path stats for {path}: {why}"
    return None if path.is_dir() else f"Path is not a directory: {path}"


class _SearchTimeout(Exception):
    def __init__(self) -> None:
        super().__init__(
            f"Operation timed out after {_TIMEOUT_MS}ms. In large repositories, consider "
            "narrowing your search scope by specifying a 'dir_path' or an 'include_pattern'."
        )


@GrepTool.builds
class _Grep(BuiltinInvocation):
    narrowed_by = "pattern"

    def __init__(self, tool: DeclarativeTool, params: JsonObject) -> None:
        super().__init__(tool, params)
        self._budget = PatternBudget()

    def description(self) -> str:
        text = f"'{self.params['pattern']}'"
        if self.params.get("include_pattern"):
            text += f" in {self.params['include_pattern']}"
        folder = self.params.get("dir_path")
        if folder:
            root = self.host.workspace.root
            full = absolute(root, folder)
            shown = "./" if full == str(root) else shorten_path(make_relative(full, root))
            text += f" within {shown}"
        elif len(self.host.workspace.folders) > 1:
            text += " across all workspace directories"
        return text

    async def execute(self, execution: ToolExecution) -> ToolResult:
        workspace = self.host.workspace
        given = self.params.get("dir_path")
        folders = workspace.folders
        if given:
            folders = (real_path(absolute(workspace.root, given)),)
            refusal = self._refusal(folders[0])
            if refusal is not None:
                return refusal
        limit: int = int(self.params.get("total_max_matches") or _TOTAL)
        try:
            with self.host.clock.real_work():
                matches = await self._search_all(folders, limit, execution.signal)
        except (_SearchTimeout, PatternLimit) as error:
            return failed(
                str(error),
                ToolErrorType.GREP_EXECUTION_ERROR,
                llm=f"Error during grep search operation: {error}",
            )
        where = "in the workspace directory"
        if given:
            where = f'in path "{given}"'
        elif len(folders) > 1:
            where = f"across {len(folders)} workspace directories"
        content, shown = report(matches, self.params, where, limit)
        return ToolResult(
            llm_content=content,
            return_display=shown,
            display=ToolDisplay(
                name=GrepTool.display_name,
                description=self.description(),
                result_summary=shown["summary"],
                result=TextDisplay(text="\n---\n".join(content.split("\n---\n")[1:])),
            ),
        )

    def _refusal(self, folder: Path) -> ToolResult | None:
        if failure := self.access_failure(folder, display="Error: Path not in workspace."):
            return failure
        fault = _not_a_folder(folder)
        if fault is None:
            return None
        if fault.startswith("Path does not exist"):
            return failed(
                fault, ToolErrorType.FILE_NOT_FOUND, display="Error: Path does not exist."
            )
        if fault.startswith("Path is not"):
            return failed(
                fault,
                ToolErrorType.PATH_IS_NOT_A_DIRECTORY,
                display="Error: Path is not a directory.",
            )
        return failed(
            fault, ToolErrorType.GREP_EXECUTION_ERROR, display="Error: Failed to access path."
        )

    async def _search_all(
        self, folders: Sequence[Path], limit: int, signal: AbortSignal
    ) -> list[Match]:
        """The first `limit` matches; with several folders the folder's name precedes the file."""
        if len(folders) == 1:
            return await self._search(folders[0], limit, signal)
        found: list[Match] = []
        for folder in folders:
            if len(found) < limit:
                matches = await self._search(folder, limit - len(found), signal)
                found += [replace(each, file=f"{folder.name}/{each.file}") for each in matches]
        return found

    async def _search(self, folder: Path, limit: int, signal: AbortSignal) -> list[Match]:
        """The first `limit` matches; after an abort the matches so far.

        It yields to the event loop every few files, so that aborts and other calls are processed.
        """
        wanted = compile_js(self.params["pattern"], ignore_case=True)
        unwanted = self.params.get("exclude_pattern")
        skipped = compile_js(unwanted, ignore_case=True) if unwanted else None
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _TIMEOUT_MS / 1000
        found: list[Match] = []
        for count, path in enumerate(self._files(folder), 1):
            if count % _FILES_PER_TICK == 0:
                await asyncio.sleep(0)
                if signal.aborted:
                    break
                if loop.time() > deadline:
                    raise _SearchTimeout
            for match in self._in_file(folder, path, wanted, skipped):
                found.append(match)
                if len(found) >= limit:
                    return found
        return found

    def _files(self, folder: Path) -> Iterator[str]:
        include = self.params.get("include_pattern")
        pattern = path_pattern(include) if include else None
        discovery = FileDiscovery(self.host.workspace.root) if is_git_repository(folder) else None
        for path in walk_files(folder):
            if pattern is not None and not pattern.fullmatch(
                relative_path(folder, path), self._budget
            ):
                continue
            if discovery is not None and discovery.hides(
                path, respect_git=True, respect_gemini=False
            ):
                continue
            yield path

    def _in_file(
        self,
        folder: Path,
        path: str,
        wanted: OutsidePattern,
        skipped: OutsidePattern | None,
    ) -> Iterator[Match]:
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            notice(error, path)
            return
        if b"\0" in data[:_SNIFFED]:
            return
        most = self.params.get("max_matches_per_file")
        count = 0
        shown = relative_path(folder, path).replace(os.sep, "/")
        lines = re.split(r"\r?\n", data.decode(errors="replace"))
        if not lines[-1]:
            del lines[-1]
        for number, line in enumerate(lines, 1):
            if wanted.search(line, self._budget, where=shown) is None:
                continue
            count += 1
            if skipped is None or skipped.search(line, self._budget, where=shown) is None:
                yield Match(shown, path, number, line)
            if most is not None and count >= most:
                return
