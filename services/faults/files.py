"""Faults of the built-in tools for files, lists and searches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import changed, first, instead, passing, put, result, returns
from services.tools.contract import ToolErrorType
from services.tools.replace import _Refusal

fault = Faults(Site.SERVICE, Behaviour.TOOLS)
held_out = Faults(Site.SERVICE, Behaviour.TOOLS, held_out=True)


file_cut_one_line_early = fault.wrap(
    "services.tools.read_file:_MAX_LINES",
    lambda limit: limit - 1,
    says="A long file is shown up to one line before the limit.",
    origin="a range that excludes its end twice",
)
line_cut_one_character_early = fault.wrap(
    "services.tools.read_file:_MAX_LINE_LENGTH",
    lambda limit: limit - 1,
    says="A line of exactly the maximum length is cut.",
    origin="`<` for `<=`",
)
search_stops_one_match_early = fault.wrap(
    "services.tools.grep_search:_TOTAL",
    lambda limit: limit - 1,
    says="A search returns one match less than its limit.",
    origin="a limit tested after counting instead of before",
)
line_ends_normalised = fault.wrap_all(
    ("services.tools.replace:detect_line_ending", returns("\n")),
    ("services.tools.write_file:detect_line_ending", returns("\n")),
    says="An edit changes a file's CRLF line ends to LF.",
    origin="files opened in text mode",
)
dollars_expanded_in_edits = fault.wrap(
    "services.tools.edit_strategies:_exact",
    passing(replace=lambda replace: replace.replace("$$", "$")),
    says="`$$` in the new text of an edit becomes one `$`.",
    origin="a pattern replacement, in which dollars are special",
)
glob_by_name = fault.wrap(
    "services.tools.glob_files:_Glob._newest_first",
    instead(lambda _, _self, paths: sorted(paths)),
    says="Files found by a glob are listed by name, not newest first.",
    origin="another library's glob",
)
ignored_files_found = fault.wrap(
    "services.tools.ignore:FileDiscovery.visible",
    instead(lambda _, /, _self, paths, **_more: (list(paths), 0)),
    says="Ignored files are listed and matched by globs.",
    origin="ignore files read only by the search tool",
)
loose_edit_loses_indentation = held_out.wrap(
    "services.tools.edit_strategies:_indented",
    instead(lambda _, lines, _target: list(lines)),
    says="An edit that matches except for indentation keeps its own indentation.",
    origin="a fallback that replaces plain text",
)
near_matches_refused = held_out.wrap(
    "services.tools.edit_strategies:_similar",
    returns(None),
    says="An edit whose old text matches only approximately is refused.",
    origin="the last of upstream's strategies left out",
)
edit_ends_file_with_newline = held_out.wrap(
    "services.tools.edit_strategies:_same_ending",
    instead(lambda _, _before, after: after if after.endswith("\n") else f"{after}\n"),
    says="An edit adds a line end to a file that had none at its end.",
    origin="lines joined with a line end after each",
)
overwritten_empty_file_told_as_new = held_out.wrap(
    "services.tools.write_file:_WriteFile._report",
    instead(lambda report, self, original, *more: report(self, original or None, *more)),
    says="Overwriting an empty file is reported as creating a file.",
    origin="a check for empty text instead of missing text",
    closed_by="tools/write_over_empty",
)
placeholders_written = held_out.wrap(
    "services.tools.write_file:omission_placeholders",
    instead(lambda _, _text: []),
    says="Placeholders for omitted code are written to the file.",
    origin="a check that upstream added after the migration had begun",
)
byte_order_mark_lost = held_out.wrap(
    "services.tools.text_files:read_text",
    result(lambda found: found.removeprefix("\ufeff")),
    says="An edit removes a file's byte order mark.",
    origin="a decoder that strips the mark",
    closed_by="tools/byte_order_mark",
)
missing_folders_not_made = held_out.wrap(
    "services.tools.text_files:exists",
    returns(True),
    says="A file cannot be written into a missing folder.",
    origin="a plain write to the path",
)
binary_files_told_as_text = held_out.wrap(
    "services.tools.read_file:file_kind",
    result(lambda found: "text" if found == "binary" else found),
    says="A binary file is returned as if it were text.",
    origin="a reader that decodes with replacement, without a check",
)
marked_encodings_read_as_utf_8 = held_out.wrap(
    "services.tools.read_file:decode",
    instead(lambda _, data: data.decode("utf-8", "replace")),
    says="A UTF-16 file with a byte order mark is read as UTF-8.",
    origin="a file opened with a fixed encoding",
)
memory_imports_left = held_out.wrap(
    "services.tools.project_memory:with_imports",
    instead(lambda _, content, _folder, _budget=None: content),
    says="Imports in memory files are not resolved.",
    origin="memory files read unchanged",
)
listing_by_code_point = held_out.wrap(
    "services.tools.list_directory:collation_key",
    instead(lambda _, name: name),
    says="Folder listings put capitals before small letters.",
    origin="another language's sort order",
)
search_heeds_case = held_out.wrap(
    "services.tools.grep_search:compile_js",
    instead(lambda compile_pattern, /, pattern, **_more: compile_pattern(pattern)),
    says="A search is case-sensitive.",
    origin="a regular expression compiled without its flag",
)
search_without_surroundings = held_out.wrap(
    "services.tools.grep_report:_with_context",
    instead(lambda _, found, _total: found),
    says="A search with few matches omits the lines around them.",
    origin="another search tool's output",
)
search_scope_by_name_alone = held_out.wrap(
    "services.tools.grep_search:path_pattern",
    instead(lambda pattern, include: pattern(include.rsplit("/", 1)[-1])),
    says="The folders in a search's file glob are ignored.",
    origin="a glob matched against names instead of paths",
)
same_topic_told_as_new = held_out.wrap(
    "services.tools.update_topic:_UpdateTopic.execute",
    first(put("host.state.topic_title", None)),
    says="An unchanged topic is announced as new.",
    origin="the topic kept per call instead of per session",
    closed_by="tools/topic_repeated",
)
two_steps_in_progress = held_out.wrap(
    "services.tools.write_todos:WriteTodosTool.check_values",
    returns(None),
    says="A todo list with two steps in progress is accepted.",
    origin="a schema as the only check",
)


lines_counted_from_zero = fault.wrap(
    "services.tools.read_file:_ReadFile._window",
    changed(
        "_params",
        lambda given: (
            {**given, "start_line": given["start_line"] + 1} if "start_line" in given else given
        ),
    ),
    says="A read from a start line begins one line late.",
    origin="line numbers mistaken for indices",
)


@fault("services.tools.edit_strategies:_exact", origin="a plain replace-all")
def ambiguous_edit_made_everywhere(
    exact: Any, text: str, search: str, new: str, *, allow_multiple: bool
) -> Any:
    """An edit that matches in several places is made in all of them instead of refused."""
    found = exact(text, search, new, allow_multiple=True)
    return None if found is None else replace(found, occurrences=1)


@held_out("services.tools.replace:_Edit._plan", origin="a missing file read as an empty one")
def edit_makes_missing_file(plan: Any, self: Any) -> Any:
    """An edit of a missing file creates it with only the new text."""
    try:
        return plan(self)
    except _Refusal as refusal:
        if refusal.type is not ToolErrorType.FILE_NOT_FOUND:
            raise
    self._params = {**self._params, "old_string": ""}
    return plan(self)


@held_out("services.tools.replace:_Edit._check", origin="a check that simpler edit tools lack")
def edit_without_change_accepted(check: Any, /, self: Any, *args: Any, **more: Any) -> None:
    """An edit that changes nothing is reported as made instead of refused."""
    try:
        check(self, *args, **more)
    except _Refusal as refusal:
        if refusal.type is not ToolErrorType.EDIT_NO_CHANGE:
            raise


end_line_taken_as_count = held_out.wrap(
    "services.tools.read_file:_ReadFile._window",
    changed(
        "_params",
        lambda given: (
            {**given, "end_line": (given.get("start_line") or 1) + given["end_line"] - 1}
            if "end_line" in given
            else given
        ),
    ),
    says="The last line to read is used as the number of lines.",
    origin="an older tool's offset and limit",
)


memory_told_every_time = held_out.wrap(
    "services.tools.project_memory:ProjectMemory._unreported",
    changed("_reported", set),
    says="A folder's memory file is included in every result there, not only the first.",
    origin="a memory created for every tool call",
)


@held_out("services.tools.grep_search:_Grep._search_all", origin="matches collected by file")
async def one_match_for_each_file(
    search_all: Any, self: Any, folders: Any, limit: int, signal: Any
) -> Any:
    """A search returns only the first match of each file."""
    found = await search_all(self, folders, limit, signal)
    return [match for i, match in enumerate(found) if not i or match.file != found[i - 1].file]


@held_out(
    "services.tools.web_search:with_byte_markers", origin="another language's index into a text"
)
def citation_places_in_characters(_: Any, text: str, places: Any) -> str:
    """Citation markers are placed by characters instead of bytes."""
    for index, marker in places:
        text = text[: index or 0] + marker + text[index or 0 :]
    return text
