"""Glob patterns against a folder tree.

`*`, `?`, classes, `**`, braces (lists and number ranges) and extended groups (`+(a|b)`, `!(a)` …);
names that begin with a dot match like others. Source: npm `glob` and `minimatch` with the options
that core's tools pass.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from services.exhaustion import limited, notice
from services.outside_patterns import OutsidePattern, PatternBudget, compile_outside
from services.paths import is_text
from services.tools.collation import collation_key

__all__ = [
    "EXCLUDED_FOLDERS",
    "GlobBudget",
    "GlobTooLarge",
    "expand_braces",
    "find_files",
    "path_pattern",
    "walk_files",
]

EXCLUDED_FOLDERS: Final = frozenset({"node_modules", ".git", "bower_components", ".svn", ".hg"})
"""Folders that no search enters, wherever they are. Source: core `utils/ignorePatterns.ts`."""

LONGEST_GLOB: Final = 4096
"""The most characters of a glob."""
MOST_ALTERNATIVES: Final = 1000
"""The most globs to which the braces of one glob may expand."""
DEEPEST_BRACES: Final = 50
"""The most braces of a glob, nested or one after the other."""
MOST_GROUPS: Final = 10
"""The most extended groups, such as `!(a)`, in a glob. Each can double the time of parsing."""
MOST_ENTRIES: Final = 500_000
"""The most folder entries that the globs of one call may visit."""

_RANGE: Final = re.compile(r"(-?\d{1,15})\.\.(-?\d{1,15})(?:\.\.(-?\d{1,15}))?")
_SPECIAL: Final = re.compile(r"[?*()\[\]\\]")
_GROUP: Final = re.compile(r"[?*+@!]\(")
_POSIX_NAME: Final = re.compile(r"\[:(\w{1,10}):\]")
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


class GlobTooLarge(ValueError):
    """A glob beyond one of the limits above; the message names the limit."""


@dataclass(slots=True)
class GlobBudget(PatternBudget):
    """The remaining work for the globs of one call."""

    entries_left: int = MOST_ENTRIES


def find_files(
    root: Path,
    pattern: str,
    *,
    case_sensitive: bool = False,
    literal: bool,
    budget: GlobBudget,
) -> list[str]:
    """Absolute paths of the files below `root` that match, each once, folders in name order.

    Symbolic links are not followed. With `literal` only braces are special, as where upstream
    escapes a pattern that names a file.

    Raises:
        GlobTooLarge: the pattern is too long or has too many alternatives, or the searches with
            this budget have visited more than `MOST_ENTRIES` entries.
        PatternLimit: matching the names took longer than `budget`.
    """
    flags = int(re.DOTALL) if case_sensitive else int(re.IGNORECASE | re.DOTALL)
    search = _Search(budget)
    found: dict[str, None] = {}
    if literal:
        pattern = _SPECIAL.sub(r"\\\g<0>", pattern)
    for each in expand_braces(pattern):
        start = Path("/") if each.startswith("/") else root
        steps: list[OutsidePattern | str] = [
            part if part in ("..", "**") else compile_outside(_segment(part), flags)
            for part in each.split("/")
            if part not in ("", ".")
        ]
        if steps and not each.endswith("/"):
            found.update(dict.fromkeys(search.matches(str(start), steps)))
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


class _Search:
    """The walk for one glob. It counts the entries that it visits and takes no path twice."""

    def __init__(self, budget: GlobBudget) -> None:
        self._budget = budget
        self._steps: list[OutsidePattern | str] = []
        self._seen: set[tuple[str, int]] = set()

    def matches(self, start: str, steps: list[OutsidePattern | str]) -> list[str]:
        """The files below `start` that `steps` lead to, in order; a file can occur twice."""
        self._steps = steps
        self._seen = set()
        try:
            return list(self._from(start, 0))
        except RecursionError:
            raise GlobTooLarge("The glob pattern leads through too many folders.") from None

    def _from(self, folder: str, index: int) -> Iterator[str]:
        if (folder, index) in self._seen:
            # The first visit has found the files below.
            return
        self._seen.add((folder, index))
        step, last = self._steps[index], index == len(self._steps) - 1
        if step == "..":
            if not last:
                yield from self._from(os.path.dirname(folder), index + 1)  # noqa: PTH120 - paths are text here
            return
        entries = self._entries(folder)
        if isinstance(step, str):
            yield from self._below(folder, entries, index, last=last)
            return
        for entry in entries:
            if step.fullmatch(entry.name, self._budget) is None:
                continue
            if last:
                if entry.is_file(follow_symlinks=False):
                    yield entry.path
            elif _enterable(entry):
                yield from self._from(entry.path, index + 1)

    def _below(
        self, folder: str, entries: list[os.DirEntry[str]], index: int, *, last: bool
    ) -> Iterator[str]:
        """`**`: this folder and every one below it."""
        if last:
            yield from (entry.path for entry in entries if entry.is_file(follow_symlinks=False))
        else:
            yield from self._from(folder, index + 1)
        for entry in entries:
            if _enterable(entry):
                yield from self._from(entry.path, index)

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        entries = _entries(folder)
        self._budget.entries_left -= len(entries) + 1
        if self._budget.entries_left < 0:
            looked = f"The search looks at more than {MOST_ENTRIES} entries of folders"
            raise limited(GlobTooLarge(f"{looked}; name a narrower pattern."))
        return entries


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


def path_pattern(pattern: str, *, ignore_case: bool = False) -> OutsidePattern:
    """`pattern` for whole relative paths; without a slash it matches the last name.

    Raises:
        GlobTooLarge: it is too long or has too many alternatives.
        PatternTooLarge: its regular expression is too large.
    """
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    alternatives: list[str] = []
    for each in expand_braces(pattern):
        parts = [part for part in each.split("/") if part not in ("", ".")]
        expression = ""
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            if part != "**":
                expression += _segment(part) + ("" if last else "/")
            elif last:
                expression += ".*"
            elif parts[index + 1] != "**":
                # Several `**` in a row are the same as one.
                expression += "(?:[^/]+/)*"
        alternatives.append(expression)
    flags = re.DOTALL | re.IGNORECASE if ignore_case else re.DOTALL
    return compile_outside("|".join(f"(?:{each})" for each in alternatives), int(flags))


def expand_braces(pattern: str) -> list[str]:
    """`a{b,c}` as `ab` and `ac`, `{1..3}` as numbers; other braces stay.

    Raises:
        GlobTooLarge: the pattern is longer than `LONGEST_GLOB`, has more groups than
            `MOST_GROUPS`, or expands to more than `MOST_ALTERNATIVES` patterns.
    """
    if len(pattern) > LONGEST_GLOB:
        # No path is that long, so no match is lost.
        raise GlobTooLarge(f"The glob pattern is longer than {LONGEST_GLOB} characters.")
    if sum(1 for _ in _GROUP.finditer(pattern)) > MOST_GROUPS:
        raise limited(GlobTooLarge(f"The glob has more than {MOST_GROUPS} extended groups."))
    return _expanded(pattern, 0)


def _expanded(pattern: str, depth: int) -> list[str]:
    closing = _closing_braces(pattern)
    start = pattern.find("{")
    while start >= 0:
        parts = _offered(pattern, start, closing.get(start, -1))
        if parts:
            if depth == DEEPEST_BRACES:
                raise limited(GlobTooLarge(f"The glob has more than {DEEPEST_BRACES} braces."))
            before = pattern[:start]
            after = _expanded(pattern[closing[start] + 1 :], depth + 1)
            inner: list[str] = []
            for part in parts:
                inner += _expanded(part, depth + 1)
                _check_count(len(inner) * len(after))
            return [before + option + rest for option, rest in product(inner, after)]
        start = pattern.find("{", start + 1)
    return [pattern]


def _check_count(count: int) -> None:
    if count > MOST_ALTERNATIVES:
        braces = "The braces of the glob pattern stand for"
        raise limited(GlobTooLarge(f"{braces} more than {MOST_ALTERNATIVES} patterns."))


def _closing_braces(pattern: str) -> dict[int, int]:
    """The place of each opening brace → the place of its closing brace."""
    opened: list[int] = []
    closing: dict[int, int] = {}
    for place, character in enumerate(pattern):
        if character == "{":
            opened.append(place)
        elif character == "}" and opened:
            closing[opened.pop()] = place
    return closing


def _offered(pattern: str, start: int, end: int) -> list[str]:
    """The alternatives of the brace from `start` to `end`; empty for a plain character."""
    if end < 0:
        return []
    depth, parts, part = 0, [], start + 1
    for place in range(start, end):
        character = pattern[place]
        if character in "{}":
            depth += 1 if character == "{" else -1
        elif character == "," and depth == 1:
            parts.append(pattern[part:place])
            part = place + 1
    parts.append(pattern[part:end])
    return parts if len(parts) > 1 else _range(parts[0])


def _range(text: str) -> list[str]:
    match = _RANGE.fullmatch(text)
    if match is None:
        return []
    first, last = int(match[1]), int(match[2])
    step = abs(int(match[3] or 1)) or 1
    values = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    _check_count(min(len(values), MOST_ALTERNATIVES + 1))
    return [str(value) for value in values]


def _segment(part: str) -> str:
    """One path segment as a regular expression, for `fullmatch`."""
    if part == "*":
        return "[^/]+"
    return _translate(part, 0, "")[0]


def _translate(part: str, place: int, closers: str) -> tuple[str, int]:
    """Translate from `place` up to one of `closers` outside every group."""
    expression = ""
    while place < len(part):
        character = part[place]
        if character in closers:
            break
        if character in "?*+@!" and part[place + 1 : place + 2] == "(":
            group = _group(part, place)
            if group is not None:
                expression, place = expression + group[0], group[1]
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


def _group(part: str, place: int) -> tuple[str, int] | None:
    """The extended group at `place` and the place after it; `None` for a group without an end."""
    kind, options, here = part[place], [], place + 2
    while True:
        option, here = _translate(part, here, "|)")
        options.append(option)
        if here >= len(part):
            return None
        here += 1
        if part[here - 1] == ")":
            break
    body = "|".join(options)
    if kind == "!":
        rest = _translate(part, here, "")[0]
        return f"(?!(?:{body}){rest}\\Z)[^/]*", here
    return f"(?:{body})" + {"@": "", "?": "?", "*": "*", "+": "+"}[kind], here


def _class(part: str, place: int, before: str) -> tuple[str, int]:
    """A character class; an opening bracket without an end is a plain character."""
    here = place + 1
    negated = part[here : here + 1] in ("!", "^")
    here += negated
    body = ""
    first = True
    while here < len(part):
        posix = _POSIX_NAME.match(part, here)
        if posix is not None and posix[1] in _POSIX:
            body += _POSIX[posix[1]]
            here = posix.end()
        elif part[here] == "]" and not first:
            return f"{before}[{'^/' if negated else ''}{body}]", here
        else:
            plain = part[here] == "\\" and here + 1 < len(part)
            here += plain
            body += part[here] if part[here] == "-" and not plain else re.escape(part[here])
            here += 1
        first = False
    return before + re.escape("["), place
