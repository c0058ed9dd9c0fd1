"""Faults of the tools for files, lists and searches, written after the corpus."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.tools.contract import ToolErrorType

__all__ = ["FAULTS"]

_files = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.TOOLS, held_out=True)


def _where_they_are(_: Any) -> Any:
    return lambda lines, _target: list(lines)


def _never_found(_: Any) -> Any:
    return lambda *_args: None


def _with_a_newline(_: Any) -> Any:
    return lambda _before, after: after if after.endswith("\n") else f"{after}\n"


def _empty_is_none(report: Any) -> Any:
    return lambda self, original, *more: report(self, original or None, *more)


def _made_where_missing(plan: Any) -> Any:
    from services.tools.replace import _Refusal

    def broken(self: Any) -> Any:
        try:
            return plan(self)
        except _Refusal as refusal:
            if refusal.type is not ToolErrorType.FILE_NOT_FOUND:
                raise
        self._params = {**self._params, "old_string": ""}
        return plan(self)

    return broken


def _changed_or_not(check: Any) -> Any:
    from services.tools.replace import _Refusal

    def broken(self: Any, *args: Any, **more: Any) -> None:
        try:
            check(self, *args, **more)
        except _Refusal as refusal:
            if refusal.type is not ToolErrorType.EDIT_NO_CHANGE:
                raise

    return broken


def _none_seen(_: Any) -> Any:
    return lambda _text: []


def _without_mark(read: Any) -> Any:
    return lambda path: read(path).removeprefix("\ufeff")


def _taken_for_granted(_: Any) -> Any:
    return lambda _path: True


def _counted_from_the_start(window: Any) -> Any:
    def broken(self: Any) -> Any:
        given = self._params
        if "end_line" in given:
            first = given.get("start_line") or 1
            self._params = {**given, "end_line": first + given["end_line"] - 1}
        try:
            return window(self)
        finally:
            self._params = given

    return broken


def _text_after_all(kind: Any) -> Any:
    def broken(path: Any) -> Any:
        found = kind(path)
        return "text" if found == "binary" else found

    return broken


def _utf8_alone(_: Any) -> Any:
    return lambda data: data.decode("utf-8", "replace")


def _told_anew(tell: Any) -> Any:
    def broken(self: Any, paths: Any) -> str:
        told = set(self._told)
        text: str = tell(self, paths)
        self._told = told
        return text

    return broken


def _left_as_they_are(_: Any) -> Any:
    return lambda content, _folder: content


def _by_code_point(_: Any) -> Any:
    return lambda name: name


def _to_the_letter(compile_pattern: Any) -> Any:
    return lambda pattern, **_more: compile_pattern(pattern)


def _by_themselves(_: Any) -> Any:
    return lambda found, _total: found


def _as_if_new(execute: Any) -> Any:
    async def broken(self: Any, execution: Any) -> Any:
        self.host.state.topic_title = None
        return await execute(self, execution)

    return broken


def _unchecked(_: Any) -> Any:
    return lambda _self, _params: None


def _at_characters(_: Any) -> Any:
    def broken(text: str, places: Any) -> str:
        for index, marker in places:
            text = text[: index or 0] + marker + text[index or 0 :]
        return text

    return broken


def _first_match(search_all: Any) -> Any:
    async def broken(self: Any, folders: Any, limit: int, signal: Any) -> Any:
        found = await search_all(self, folders, limit, signal)
        return [match for i, match in enumerate(found) if not i or match.file != found[i - 1].file]

    return broken


def _name_alone(pattern: Any) -> Any:
    return lambda include: pattern(include.rsplit("/", 1)[-1])


FAULTS: Final = (
    _files(
        name="loose-edit-loses-indentation",
        says="An edit that fits but for its indentation is put in with its own.",
        origin="a fallback for edits that replaces text by text",
        breaks=lambda: replaced("services.tools.edit_strategies:_indented", _where_they_are),
    ),
    _files(
        name="near-matches-refused",
        says="An edit whose old text is only nearly in the file is refused.",
        origin="the last of upstream's strategies left out",
        breaks=lambda: replaced("services.tools.edit_strategies:_similar", _never_found),
    ),
    _files(
        name="edit-ends-file-with-newline",
        says="A file without a line end at its end has one after an edit.",
        origin="lines joined with a line end behind each",
        breaks=lambda: replaced("services.tools.edit_strategies:_same_ending", _with_a_newline),
    ),
    _files(
        name="overwritten-empty-file-told-as-new",
        says="Writing over an empty file is told as making a new one.",
        origin="a text tested for truth where it is to be tested for presence",
        breaks=lambda: replaced("services.tools.write_file:_WriteFile._report", _empty_is_none),
        closed_by="tools/write_over_empty",
    ),
    _files(
        name="edit-makes-missing-file",
        says="An edit of a file that is not there makes it, with the new text alone.",
        origin="a missing file read as an empty one",
        breaks=lambda: replaced("services.tools.replace:_Edit._plan", _made_where_missing),
    ),
    _files(
        name="edit-without-change-accepted",
        says="An edit that changes nothing is told as made instead of refused.",
        origin="a check that a simpler edit tool does not have",
        breaks=lambda: replaced("services.tools.replace:_Edit._check", _changed_or_not),
    ),
    _files(
        name="placeholders-written",
        says="Content that stands for left-out code is written to the file as it is.",
        origin="a check that upstream added after the migration had begun",
        breaks=lambda: replaced("services.tools.write_file:omission_placeholders", _none_seen),
    ),
    _files(
        name="byte-order-mark-lost",
        says="A file that begins with a byte order mark has none after an edit.",
        origin="a decoder that takes the mark off",
        breaks=lambda: replaced("services.tools.text_files:read_text", _without_mark),
        closed_by="tools/byte_order_mark",
    ),
    _files(
        name="missing-folders-not-made",
        says="A file cannot be written where its folder is not there yet.",
        origin="a plain write to the path",
        breaks=lambda: replaced("services.tools.text_files:exists", _taken_for_granted),
    ),
    _files(
        name="end-line-taken-as-count",
        says="The last line to read is taken for the number of lines to read.",
        origin="an older tool's offset and limit",
        breaks=lambda: replaced(
            "services.tools.read_file:_ReadFile._window", _counted_from_the_start
        ),
    ),
    _files(
        name="binary-files-told-as-text",
        says="A binary file is told as if it were text.",
        origin="a reader that decodes with replacement and asks nothing",
        breaks=lambda: replaced("services.tools.read_file:file_kind", _text_after_all),
    ),
    _files(
        name="marked-encodings-read-as-utf-8",
        says="A file in UTF-16, which its first bytes say, is read as UTF-8.",
        origin="a file opened with a fixed encoding",
        breaks=lambda: replaced("services.tools.read_file:decode", _utf8_alone),
    ),
    _files(
        name="memory-told-every-time",
        says="A folder's memory file is told with every answer from there, not with the first.",
        origin="a memory made anew for every call of a tool",
        breaks=lambda: replaced("services.tools.project_memory:ProjectMemory._tell", _told_anew),
    ),
    _files(
        name="memory-imports-left",
        says="Files that a memory file imports are not put in.",
        origin="memory files read as they are",
        breaks=lambda: replaced("services.tools.project_memory:with_imports", _left_as_they_are),
    ),
    _files(
        name="listing-by-code-point",
        says="Folders are listed with capitals before small letters.",
        origin="another language's order of texts",
        breaks=lambda: replaced("services.tools.list_directory:collation_key", _by_code_point),
    ),
    _files(
        name="search-heeds-case",
        says="A search tells small letters from capitals.",
        origin="a regular expression compiled without its flag",
        breaks=lambda: replaced("services.tools.grep_search:compile_js", _to_the_letter),
    ),
    _files(
        name="search-without-surroundings",
        says="A search with few matches does not show the lines around them.",
        origin="another search tool's output",
        breaks=lambda: replaced("services.tools.grep_report:_with_context", _by_themselves),
    ),
    _files(
        name="one-match-for-each-file",
        says="A search tells the first match of each file alone.",
        origin="matches collected by file",
        breaks=lambda: replaced("services.tools.grep_search:_Grep._search_all", _first_match),
    ),
    _files(
        name="search-scope-by-name-alone",
        says="Of a glob that limits a search the folders are not heeded.",
        origin="a glob held against file names instead of paths",
        breaks=lambda: replaced("services.tools.grep_search:path_pattern", _name_alone),
    ),
    _files(
        name="same-topic-told-as-new",
        says="A topic that stays what it was is announced as a new one.",
        origin="the topic kept by the call instead of the session",
        breaks=lambda: replaced("services.tools.update_topic:_UpdateTopic.execute", _as_if_new),
        closed_by="tools/topic_told_again",
    ),
    _files(
        name="two-steps-in-progress",
        says="A list with two steps being worked on is accepted.",
        origin="a schema that says all that is checked",
        breaks=lambda: replaced(
            "services.tools.write_todos:WriteTodosTool.check_values", _unchecked
        ),
    ),
    _files(
        name="citation-places-in-characters",
        says="Markers of sources are put at characters where bytes are meant.",
        origin="another language's index into a text",
        breaks=lambda: replaced("services.tools.web_search:with_byte_markers", _at_characters),
    ),
)
