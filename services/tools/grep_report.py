"""The matches of a search as text for the model and as data for the user.

Source: core `tools/grep-utils.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from services.exhaustion import notice
from services.wire import JsonObject, js_trim, js_trim_end

__all__ = ["Match", "report"]

_LONGEST_LINE: Final = 2000


@dataclass(frozen=True, slots=True)
class Match:
    """One line; `number` counts from 1, `is_context` marks a neighbour of a match."""

    file: str
    path: str
    number: int
    line: str
    is_context: bool = False


def report(
    matches: Sequence[Match], params: JsonObject, where: str, limit: int
) -> tuple[str, JsonObject]:
    """The text for the model and the structured display.

    Args:
        matches: the matches, in order.
        params: the call's arguments.
        where: `in the workspace directory`, `in path "src"`.
        limit: the limit of the search.
    """
    pattern, include = params["pattern"], params.get("include_pattern")
    scope = f'for pattern "{pattern}" {where}' + (f' (filter: "{include}")' if include else "")
    if not matches:
        return f"No matches found {scope}.", {"summary": "No matches found", "matches": []}
    files: dict[str, list[Match]] = {}
    for match in matches:
        files.setdefault(match.file, []).append(match)
    limited = len(matches) >= limit
    note = f" (results limited to {limit} matches for performance)" if limited else ""
    short_note = " (limited)" if limited else ""
    if params.get("names_only"):
        names = "\n".join(sorted(files))
        return (
            js_trim(f"Found {len(files)} files with matches {scope}{note}:\n{names}"),
            {"summary": f"Found {len(files)} files{short_note}", "matches": []},
        )
    noun = "match" if len(matches) == 1 else "matches"
    text = f"Found {len(matches)} {noun} {scope}{note}:\n---\n"
    for name, found in files.items():
        text += f"File: {name}\n"
        text += "".join(f"{_line(match)}\n" for match in _with_context(found, len(matches)))
        text += "---\n"
    return js_trim(text), {
        "summary": f"Found {len(matches)} {noun}{short_note}",
        "matches": [
            {
                "filePath": match.file,
                "absolutePath": match.path,
                "lineNumber": match.number,
                "line": match.line,
            }
            for match in matches
        ],
    }


def _line(match: Match) -> str:
    line = js_trim_end(match.line)
    if len(line) > _LONGEST_LINE:
        line = f"{line[:_LONGEST_LINE]}... [truncated]"
    return f"L{match.number}{'-' if match.is_context else ':'} {line}"


def _with_context(found: list[Match], total: int) -> list[Match]:
    """The matches of one file, with the lines around them if there are at most three in all."""
    if total > 3:
        return found
    try:
        text = Path(found[0].path).read_bytes().decode(errors="replace")
    except OSError as error:
        notice(error)
        return found
    lines = re.split(r"\r?\n", text)
    reach = 50 if total == 1 else 15
    numbers = {match.number for match in found}
    shown = {
        number
        for match in found
        for number in range(max(1, match.number - reach), min(len(lines), match.number + reach) + 1)
    }
    return [
        replace(
            found[0],
            number=number,
            line=lines[number - 1],
            is_context=number not in numbers,
        )
        for number in sorted(shown)
    ]
