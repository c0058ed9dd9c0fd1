"""Faults of the built-in tools for files and commands."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import all_of, replaced

__all__ = ["FAULTS"]

_files = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.TOOLS)


def _from_the_next_line(window: Any) -> Any:
    def broken(self: Any) -> Any:
        given = self._params
        if "start_line" in given:
            self._params = {**given, "start_line": given["start_line"] + 1}
        try:
            return window(self)
        finally:
            self._params = given

    return broken


def _one_less(limit: int) -> int:
    return limit - 1


def _always_newlines(_: Any) -> Any:
    return lambda _text: "\n"


def _with_patterns(exact: Any) -> Any:
    def broken(text: str, search: str, new: str, *, allow_multiple: bool) -> Any:
        return exact(text, search, new.replace("$$", "$"), allow_multiple=allow_multiple)

    return broken


def _by_name(_: Any) -> Any:
    return lambda _self, paths: sorted(paths)


def _nothing_ignored(_: Any) -> Any:
    def broken(_self: Any, paths: Any, **_more: Any) -> Any:
        return list(paths), 0

    return broken


def _every_match(exact: Any) -> Any:
    def broken(text: str, search: str, new: str, *, allow_multiple: bool) -> Any:
        found = exact(text, search, new, allow_multiple=True)
        return None if found is None else replace(found, occurrences=1)

    return broken


FAULTS: Final = (
    _files(
        name="lines-counted-from-zero",
        says="Reading a file from a line on begins one line too late.",
        origin="line numbers taken for indices by a reader of another library",
        breaks=lambda: replaced("services.tools.read_file:_ReadFile._window", _from_the_next_line),
    ),
    _files(
        name="file-cut-one-line-early",
        says="A long file is shown up to one line less than the limit.",
        origin="a range whose end is taken for excluded twice",
        breaks=lambda: replaced("services.tools.read_file:_MAX_LINES", _one_less),
    ),
    _files(
        name="line-cut-one-character-early",
        says="A line exactly as long as a line may be is cut.",
        origin="`<` for `<=`",
        breaks=lambda: replaced("services.tools.read_file:_MAX_LINE_LENGTH", _one_less),
    ),
    _files(
        name="search-stops-one-match-early",
        says="A search returns one match less than its limit.",
        origin="a limit tested after counting instead of before",
        breaks=lambda: replaced("services.tools.grep_search:_TOTAL", _one_less),
    ),
    _files(
        name="line-ends-normalised",
        says="A file with CRLF line ends has LF after an edit.",
        origin="files opened in text mode",
        breaks=lambda: all_of(
            replaced("services.tools.replace:detect_line_ending", _always_newlines),
            replaced("services.tools.write_file:detect_line_ending", _always_newlines),
        ),
    ),
    _files(
        name="dollars-expanded-in-edits",
        says="`$$` in the new text of an edit becomes one `$`.",
        origin="a replacement by pattern, in whose new text dollars are special",
        breaks=lambda: replaced("services.tools.edit_strategies:_exact", _with_patterns),
    ),
    _files(
        name="ambiguous-edit-made-everywhere",
        says="An edit that fits in several places is made in all of them instead of refused.",
        origin="a plain replace-all",
        breaks=lambda: replaced("services.tools.edit_strategies:_exact", _every_match),
    ),
    _files(
        name="glob-by-name",
        says="Files found by a glob are listed by name, not newest first.",
        origin="another library's glob",
        breaks=lambda: replaced("services.tools.glob_files:_Glob._newest_first", _by_name),
    ),
    _files(
        name="ignored-files-found",
        says="Files that ignore files name are listed, and found by globs.",
        origin="ignore files read by the search tool alone",
        breaks=lambda: replaced("services.tools.ignore:FileDiscovery.visible", _nothing_ignored),
    ),
)
