"""Errors in a policy file, with file, line, key, and what to write instead.

Texts are upstream's, with the line behind them; a syntax error's text is the parser's.
Source: core `policy/toml-loader.ts`, `policy/config.ts` (`formatPolicyError`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from services.policy.rules import Tier
from services.zod import Issue

__all__ = ["FileErrors", "PolicyFileError", "TomlProblem", "syntax_problem"]

_PLACE: Final = re.compile(r" \(at line (\d+), column (\d+)\)\Z")
_END: Final = " (at end of document)"
_HEADER: Final = re.compile(r"[ \t]*\[\[[ \t]*(rule|safety_checker)[ \t]*\]\]")


@dataclass(frozen=True, slots=True)
class PolicyFileError:
    """One error or warning; `str` is the message for the user."""

    file: Path
    """The file, or the folder that cannot be read."""
    tier: Tier
    message: str
    details: str | None = None
    suggestion: str | None = None
    line: int | None = None
    """The line of the error, or of its rule; from 1."""
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        text = f"[{self.tier.name}] Policy file {self.severity} in {self.file.name}:\n"
        text += f"  {self.message}"
        text += f"\n{self.details}" if self.details else ""
        text += f"\n  Suggestion: {self.suggestion}" if self.suggestion else ""
        return text + ("" if self.line is None else f"\n  Line: {self.line}")


@dataclass(frozen=True, slots=True)
class TomlProblem:
    """A syntax error; `details` shows the lines around it."""

    details: str
    line: int | None


def syntax_problem(message: str, text: str) -> TomlProblem:
    """The parser's error about `text`, with the lines around it."""
    found = _PLACE.search(message)
    lines = text.split("\n")
    if found is not None:
        row, column = int(found.group(1)), int(found.group(2))
    elif message.endswith(_END):
        row, column = len(lines), len(lines[-1]) + 1
    else:
        return TomlProblem(message, None)
    first, last = max(1, row - 1), min(len(lines), row + 1)
    width = len(str(last))
    words = message[: found.start()] if found is not None else message.removesuffix(_END)
    shown = [f"{words} at row {row}, col {column}:"]
    for number in range(first, last + 1):
        mark = ">" if number == row else ":"
        shown.append(f"{number:>{width}}{mark} {lines[number - 1]}")
        if number == row:
            shown.append(" " * (width + 1 + column) + "^")
    return TomlProblem("\n".join(shown) + "\n", row)


class FileErrors:
    """Collects the errors of one file."""

    def __init__(self, file: Path, tier: Tier, text: str, errors: list[PolicyFileError]) -> None:
        self._file = file
        self._tier = tier
        self._text = text
        self._errors = errors

    def syntax(self, problem: TomlProblem) -> None:
        """Add: the file is not TOML."""
        self._add(
            "TOML parsing failed",
            problem.details,
            "Check for syntax errors like missing quotes, brackets, or commas",
            line=problem.line,
        )

    def schema(self, issues: Sequence[Issue]) -> None:
        """Add: the file has another shape."""
        first = issues[0].path
        line = None
        if len(first) > 1 and isinstance(first[1], int):
            line = self._line(str(first[0]), first[1])
        self._add(
            "Schema validation failed",
            # Upstream counts every file as its first rule; the fields say which one is meant.
            "Invalid policy rule (rule #1):\n" + "\n".join(map(_issue_line, issues)),
            "Ensure all required fields (decision, priority) are present with correct types",
            line=line,
        )

    def rule(self, table: str, index: int, message: str, details: str) -> None:
        """Add: a rule's keys contradict each other, or one is empty."""
        line = self._line(table, index)
        self._add(message, details, None, line=line)

    def warning(self, table: str, index: int, message: str, details: str) -> None:
        """Add: a rule's tool name looks like a typing error."""
        line = self._line(table, index)
        self._add(message, details, None, line=line, severity="warning")

    def pattern(self, table: str, index: int, pattern: str, problem: str | None) -> None:
        """Add: a pattern is invalid (`problem` says why), or unsafe (`None`)."""
        checker = table == "safety_checker"
        where = " in safety checker" if checker else ""
        if problem is None:
            message = f"Unsafe regex pattern{where} (potential ReDoS)"
            details = f"Pattern: {pattern}"
            advice = "Avoid nested quantifiers or extremely long patterns"
        else:
            message = f"Invalid regex pattern{where}"
            details = f"Pattern: {pattern}\nError: {problem}"
            advice = (
                "Check regex syntax for errors like unmatched brackets or invalid escape sequences"
            )
        self._add(
            message,
            details,
            None if checker else advice,
            line=self._line(table, index),
        )

    def _add(
        self,
        message: str,
        details: str,
        suggestion: str | None,
        *,
        line: int | None = None,
        severity: Literal["error", "warning"] = "error",
    ) -> None:
        error = PolicyFileError(
            self._file, self._tier, message, details, suggestion, line, severity
        )
        self._errors.append(error)

    def _line(self, table: str, index: int) -> int | None:
        """The line of the header of a table's nth entry, if there is one such line only."""
        headers = [
            number
            for number, line in enumerate(self._text.split("\n"), start=1)
            if (found := _HEADER.match(line)) is not None and found.group(1) == table
        ]
        # Strings of several lines may contain a header; then the line is unknown.
        quoted = '"""' in self._text or "'''" in self._text
        return None if quoted or index >= len(headers) else headers[index]


def _issue_line(issue: Issue) -> str:
    return f'  - Field "{".".join(map(str, issue.path))}": {issue.message}'
