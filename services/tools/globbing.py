"""Glob patterns against a folder tree.

`*`, `?`, classes, `**`, braces (lists and number ranges) and extended groups (`+(a|b)`, `!(a)` …);
names that begin with a dot match like others. Source: npm `glob` and `minimatch` with the options
that core's tools pass.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from services.exhaustion import notice
from services.paths import is_text
from services.tools.collation import collation_key

__all__ = ["EXCLUDED_FOLDERS", "expand_braces", "find_files", "path_pattern", "walk_files"]

EXCLUDED_FOLDERS: Final = frozenset({"node_modules", ".git", "bower_components", ".svn", ".hg"})
"""Folders that no search enters, wherever they are. Source: core `utils/ignorePatterns.ts`."""

_RANGE: Final = re.compile(r"(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?")
_POSIX: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "word": r"\w",
    "xdigit": "0-9A-Fa-f",
}


def find_files(
    root: Path, pattern: str, *, case_sensitive: bool = False, literal: bool = False
) -> list[str]:
    """Absolute paths of the files below `root` that match, each once, folders in name order.

    Symbolic links are not followed. With `literal` the pattern is a path and nothing in it special.
    """
    flags = 0 if case_sensitive else re.IGNORECASE
    patterns = [pattern] if literal else expand_braces(pattern)
    found: dict[str, None] = {}
    for each in patterns:
        start = Path("/") if each.startswith("/") else root
        steps: list[re.Pattern[str] | str] = [
            part
            if part in ("..", "**")
            else re.compile(re.escape(part) if literal else _segment(part), flags | re.DOTALL)
            for part in each.split("/")
            if part not in ("", ".")
        ]
        if steps and not each.endswith("/"):
            found.update(dict.fromkeys(_matches(str(start), steps, 0)))
    return list(found)


def walk_files(root: Path) -> Iterator[str]:
    """Absolute paths of all files below `root` in the order of their bytes, as Git lists them.

    Excluded folders and symbolic links are left out.
    """
    try:
        with os.scandir(root) as scan:
            entries = [entry for entry in scan if is_text(entry.name)]
    except OSError as error:
        notice(error)
        return
    folders = {entry.name for entry in entries if _enterable(entry)}
    for entry in sorted(
        entries, key=lambda entry: os.fsencode(entry.name) + b"/" * (entry.name in folders)
    ):
        if entry.name in folders:
            yield from walk_files(Path(entry.path))
        elif entry.is_file(follow_symlinks=False):
            yield entry.path


def _matches(folder: str, steps: list[re.Pattern[str] | str], index: int) -> Iterator[str]:
    step, last = steps[index], index == len(steps) - 1
    if step == "..":
        if not last:
            yield from _matches(os.path.dirname(folder), steps, index + 1)  # noqa: PTH120 - paths are text here
        return
    entries = _entries(folder)
    if isinstance(step, str):
        yield from _below(folder, entries, steps, index, last=last)
        return
    for entry in entries:
        if step.fullmatch(entry.name) is None:
            continue
        if last:
            if entry.is_file(follow_symlinks=False):
                yield entry.path
        elif _enterable(entry):
            yield from _matches(entry.path, steps, index + 1)


def _below(
    folder: str,
    entries: list[os.DirEntry[str]],
    steps: list[re.Pattern[str] | str],
    index: int,
    *,
    last: bool,
) -> Iterator[str]:
    """`**`: this folder and every one below it."""
    if last:
        yield from (entry.path for entry in entries if entry.is_file(follow_symlinks=False))
    else:
        yield from _matches(folder, steps, index + 1)
    for entry in entries:
        if _enterable(entry):
            yield from _matches(entry.path, steps, index)


def _enterable(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and entry.name not in EXCLUDED_FOLDERS


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as scan:
            named = [entry for entry in scan if is_text(entry.name)]
            return sorted(named, key=lambda entry: collation_key(entry.name))
    except OSError as error:
        notice(error)
        return []


def path_pattern(pattern: str) -> re.Pattern[str]:
    """`pattern` for whole relative paths; one without a slash is for the last name alone."""
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    alternatives: list[str] = []
    for each in expand_braces(pattern):
        parts = [part for part in each.split("/") if part not in ("", ".")]
        expression = ""
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            if part == "**":
                expression += ".*" if last else "(?:[^/]+/)*"
            else:
                expression += _segment(part) + ("" if last else "/")
        alternatives.append(expression)
    return re.compile("|".join(f"(?:{each})" for each in alternatives), re.DOTALL)


def expand_braces(pattern: str) -> list[str]:
    """`a{b,c}` as `ab` and `ac`, `{1..3}` as numbers; a brace that opens nothing stays."""
    start = pattern.find("{")
    while start >= 0:
        end, parts = _brace(pattern, start)
        if end >= 0:
            before, after = pattern[:start], expand_braces(pattern[end + 1 :])
            inner = [option for part in parts for option in expand_braces(part)]
            return [before + option + rest for option in inner for rest in after]
        start = pattern.find("{", start + 1)
    return [pattern]


def _brace(pattern: str, start: int) -> tuple[int, list[str]]:
    """Where the brace at `start` closes, and what it offers; -1 when it is just a brace."""
    depth, parts, part = 0, [], start + 1
    for place in range(start, len(pattern)):
        character = pattern[place]
        if character == "{":
            depth += 1
        elif character == "," and depth == 1:
            parts.append(pattern[part:place])
            part = place + 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                parts.append(pattern[part:place])
                if len(parts) > 1:
                    return place, parts
                counted = _range(parts[0])
                return (place, counted) if counted else (-1, [])
    return -1, []


def _range(text: str) -> list[str]:
    match = _RANGE.fullmatch(text)
    if match is None:
        return []
    first, last = int(match[1]), int(match[2])
    step = abs(int(match[3] or 1)) or 1
    values = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    return [str(value) for value in values]


def _segment(part: str) -> str:
    """One path segment as a regular expression, for `fullmatch`."""
    if part == "*":
        return "[^/]+"
    return _translate(part, 0, "")[0]


def _translate(part: str, place: int, closers: str) -> tuple[str, int]:
    """Translate from `place` up to one of `closers` that stands outside every group."""
    expression = ""
    while place < len(part):
        character = part[place]
        if character in closers:
            break
        if character in "?*+@!" and part[place + 1 : place + 2] == "(":
            group, end = _group(part, place)
            if end:
                expression, place = expression + group, end
                continue
        if character == "*":
            while part[place + 1 : place + 2] == "*":
                place += 1
            expression += "[^/]*"
        elif character == "?":
            expression += "[^/]"
        elif character == "[":
            expression, place = _class(part, place, expression)
        elif character == "\\" and place + 1 < len(part):
            place += 1
            expression += re.escape(part[place])
        else:
            expression += re.escape(character)
        place += 1
    return expression, place


def _group(part: str, place: int) -> tuple[str, int]:
    """The extended group at `place`, and the place after it; 0 when it never closes."""
    kind, options, here = part[place], [], place + 2
    while True:
        option, here = _translate(part, here, "|)")
        options.append(option)
        if here >= len(part):
            return "", 0
        here += 1
        if part[here - 1] == ")":
            break
    body = "|".join(options)
    if kind == "!":
        rest = _translate(part, here, "")[0]
        return f"(?!(?:{body}){rest}\\Z)[^/]*", here
    return f"(?:{body})" + {"@": "", "?": "?", "*": "*", "+": "+"}[kind], here


def _class(part: str, place: int, before: str) -> tuple[str, int]:
    """A character class; an opening bracket that never closes is itself."""
    here = place + 1
    negated = part[here : here + 1] in ("!", "^") and part[here : here + 1] != ""
    here += negated
    body = ""
    first = True
    while here < len(part):
        posix = re.compile(r"\[:(\w+):\]").match(part, here)
        if posix is not None and posix[1] in _POSIX:
            body += _POSIX[posix[1]]
            here = posix.end()
        elif part[here] == "]" and not first:
            return f"{before}[{'^/' if negated else ''}{body}]", here
        else:
            if part[here] == "\\" and here + 1 < len(part):
                here += 1
            body += part[here] if part[here] == "-" else re.escape(part[here])
            here += 1
        first = False
    return before + re.escape("["), place
