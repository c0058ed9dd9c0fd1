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
    says="A long file is shown up to one line less than the limit.",
    origin="a range whose end is taken for excluded twice",
)
line_cut_one_character_early = fault.wrap(
    "services.tools.read_file:_MAX_LINE_LENGTH",
    lambda limit: limit - 1,
    says="A line exactly as long as a line may be is cut.",
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
    says="A file with CRLF line ends has LF after an edit.",
    origin="files opened in text mode",
)
dollars_expanded_in_edits = fault.wrap(
    "services.tools.edit_strategies:_exact",
    passing(replace=lambda replace: replace.replace("$$", "$")),
    says="`$$` in the new text of an edit becomes one `$`.",
    origin="a replacement by pattern, in whose new text dollars are special",
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
    says="Files that ignore files name are listed, and found by globs.",
    origin="ignore files read by the search tool alone",
)
loose_edit_loses_indentation = held_out.wrap(
    "services.tools.edit_strategies:_indented",
    instead(lambda _, lines, _target: list(lines)),
    says="An edit that fits but for its indentation is put in with its own.",
    origin="a fallback for edits that replaces text by text",
)
near_matches_refused = held_out.wrap(
    "services.tools.edit_strategies:_similar",
    returns(None),
    says="An edit whose old text is only nearly in the file is refused.",
    origin="the last of upstream's strategies left out",
)
edit_ends_file_with_newline = held_out.wrap(
    "services.tools.edit_strategies:_same_ending",
    instead(lambda _, _before, after: after if after.endswith("\n") else f"{after}\n"),
    says="A file without a line end at its end has one after an edit.",
    origin="lines joined with a line end behind each",
)
overwritten_empty_file_told_as_new = held_out.wrap(
    "services.tools.write_file:_WriteFile._report",
    instead(lambda report, self, original, *more: report(self, original or None, *more)),
    says="Writing over an empty file is reported as making a new one.",
    origin="a text tested for truth where it is to be tested for presence",
    closed_by="tools/write_over_empty",
)
placeholders_written = held_out.wrap(
    "services.tools.write_file:omission_placeholders",
    instead(lambda _, _text: []),
    says="Content that stands for left-out code is written to the file as it is.",
    origin="a check that upstream added after the migration had begun",
)
byte_order_mark_lost = held_out.wrap(
    "services.tools.text_files:read_text",
    result(lambda found: found.removeprefix("\ufeff")),
    says="A file that begins with a byte order mark has none after an edit.",
    origin="a decoder that takes the mark off",
    closed_by="tools/byte_order_mark",
)
missing_folders_not_made = held_out.wrap(
    "services.tools.text_files:exists",
    returns(True),
    says="A file cannot be written where its folder is not there yet.",
    origin="a plain write to the path",
)
binary_files_told_as_text = held_out.wrap(
    "services.tools.read_file:file_kind",
    result(lambda found: "text" if found == "binary" else found),
    says="A binary file is returned as if it were text.",
    origin="a reader that decodes with replacement and asks nothing",
)
marked_encodings_read_as_utf_8 = held_out.wrap(
    "services.tools.read_file:decode",
    instead(lambda _, data: data.decode("utf-8", "replace")),
    says="A file in UTF-16, which its first bytes say, is read as UTF-8.",
    origin="a file opened with a fixed encoding",
)
memory_imports_left = held_out.wrap(
    "services.tools.project_memory:with_imports",
    instead(lambda _, content, _folder, _budget=None: content),
    says="Files that a memory file imports are not put in.",
    origin="memory files read as they are",
)
listing_by_code_point = held_out.wrap(
    "services.tools.list_directory:collation_key",
    instead(lambda _, name: name),
    says="Folders are listed with capitals before small letters.",
    origin="another language's order of texts",
)
search_heeds_case = held_out.wrap(
    "services.tools.grep_search:compile_js",
    instead(lambda compile_pattern, /, pattern, **_more: compile_pattern(pattern)),
    says="A search distinguishes small letters from capitals.",
    origin="a regular expression compiled without its flag",
)
search_without_surroundings = held_out.wrap(
    "services.tools.grep_report:_with_context",
    instead(lambda _, found, _total: found),
    says="A search with few matches does not show the lines around them.",
    origin="another search tool's output",
)
search_scope_by_name_alone = held_out.wrap(
    "services.tools.grep_search:path_pattern",
    instead(lambda pattern, include: pattern(include.rsplit("/", 1)[-1])),
    says="Of a glob that limits a search the folders are not heeded.",
    origin="a glob held against file names instead of paths",
)
same_topic_told_as_new = held_out.wrap(
    "services.tools.update_topic:_UpdateTopic.execute",
    first(put("host.state.topic_title", None)),
    says="A topic that stays what it was is announced as a new one.",
    origin="the topic kept by the call instead of the session",
    closed_by="tools/topic_repeated",
)
two_steps_in_progress = held_out.wrap(
    "services.tools.write_todos:WriteTodosTool.check_values",
    returns(None),
    says="A list with two steps being worked on is accepted.",
    origin="a schema that says all that is checked",
)


lines_counted_from_zero = fault.wrap(
    "services.tools.read_file:_ReadFile._window",
    changed(
        "_params",
        lambda given: (
            {**given, "start_line": given["start_line"] + 1} if "start_line" in given else given
        ),
    ),
    says="Reading a file from a line on begins one line too late.",
    origin="line numbers taken for indices by a reader of another library",
)


@fault("services.tools.edit_strategies:_exact", origin="a plain replace-all")
def ambiguous_edit_made_everywhere(
    exact: Any, text: str, search: str, new: str, *, allow_multiple: bool
) -> Any:
    """An edit that fits in several places is made in all of them instead of refused."""
    found = exact(text, search, new, allow_multiple=True)
    return None if found is None else replace(found, occurrences=1)


@held_out("services.tools.replace:_Edit._plan", origin="a missing file read as an empty one")
def edit_makes_missing_file(plan: Any, self: Any) -> Any:
    """An edit of a file that is not there makes it, with the new text alone."""
    try:
        return plan(self)
    except _Refusal as refusal:
        if refusal.type is not ToolErrorType.FILE_NOT_FOUND:
            raise
    self._params = {**self._params, "old_string": ""}
    return plan(self)


@held_out(
    "services.tools.replace:_Edit._check", origin="a check that a simpler edit tool does not have"
)
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
    says="The last line to read is taken for the number of lines to read.",
    origin="an older tool's offset and limit",
)


memory_told_every_time = held_out.wrap(
    "services.tools.project_memory:ProjectMemory._unreported",
    changed("_reported", set),
    says="A folder's memory file is reported with every answer from there, not with the first.",
    origin="a memory made anew for every call of a tool",
)


@held_out("services.tools.grep_search:_Grep._search_all", origin="matches collected by file")
async def one_match_for_each_file(
    search_all: Any, self: Any, folders: Any, limit: int, signal: Any
) -> Any:
    """A search reports the first match of each file alone."""
    found = await search_all(self, folders, limit, signal)
    return [match for i, match in enumerate(found) if not i or match.file != found[i - 1].file]


@held_out(
    "services.tools.web_search:with_byte_markers", origin="another language's index into a text"
)
def citation_places_in_characters(_: Any, text: str, places: Any) -> str:
    """Markers of sources are put at characters where bytes are meant."""
    for index, marker in places:
        text = text[: index or 0] + marker + text[index or 0 :]
    return text
