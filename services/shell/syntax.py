"""What a shell command line runs: its programs, redirections and substitutions.

The result has two readers. The shell tool shows and records what a line does, as upstream does
(`parse_command`, `command_roots`). The policy decides by it, and wants more: every command that
Bash would run, or an error (`parse_shell`), which makes it fall back to its default decision.

Source: core `utils/shell-utils.ts` (which uses tree-sitter).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.shell.cursor import CommandDetail, Unreadable
from services.shell.reader import Reader
from services.shell.words import BadSubstitution, shell_words
from services.wire import js_trim

__all__ = [
    "REDIRECTION_NAMES",
    "CommandDetail",
    "ParsedCommand",
    "ShellSyntaxError",
    "command_roots",
    "detect_substitution",
    "has_redirection",
    "parse_command",
    "parse_shell",
    "strip_shell_wrapper",
]

REDIRECTION_NAMES: Final = frozenset(
    {
        "redirection (<)",
        "redirection (>)",
        "heredoc (<<)",
        "herestring (<<<)",
        "command substitution",
        "backtick substitution",
        "process substitution",
        "subshell",
    }
)
"""Names of details that are not programs; upstream ignores programs of these names."""

_WRAPPER: Final = re.compile(
    r"\s*(?:(?:(?:\S+/)?(?:sh|bash|zsh))\s+-c|cmd\.exe\s+/c"
    r"|(?:powershell|pwsh)(?:\.exe)?\s+(?:-NoProfile\s+)?-Command)\s+",
    re.IGNORECASE,
)
_LONGEST: Final = 100_000


class ShellSyntaxError(ValueError):
    """A command line whose programs cannot be determined."""


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """The details in order of appearance; unreliable when `has_error`.

    `doubtful` means that Bash may run more than upstream's reading shows: functions, `case`,
    here-documents with substitutions and the like.
    """

    details: Sequence[CommandDetail]
    has_error: bool
    doubtful: bool = False


def parse_command(command: str) -> ParsedCommand | None:
    """Read `command`; `None` for a blank one."""
    if not js_trim(command):
        return None
    if len(command) > _LONGEST:
        return ParsedCommand((), has_error=True)
    reader = Reader(command)
    has_error = False
    try:
        reader.read()
    except Unreadable:
        has_error = True
    # Upstream sees no command in an empty word (`""`).
    named = (detail for detail in reader.details if detail.name)
    details = sorted(named, key=lambda detail: detail.start)
    return ParsedCommand(details, has_error or not details, reader.doubtful)


def parse_shell(command: str) -> list[CommandDetail]:
    """Every simple command of `command`, also inside substitutions, in order of appearance.

    Raises:
        ShellSyntaxError: the line has no command, or its commands cannot be determined.
    """
    parsed = parse_command(command)
    if parsed is None or parsed.has_error or parsed.doubtful:
        raise ShellSyntaxError
    commands = [detail for detail in parsed.details if detail.program]
    if not commands:
        raise ShellSyntaxError
    return commands


def command_roots(command: str) -> list[str]:
    """The programs that `command` starts, in order, repeated; none when it cannot be read."""
    parsed = parse_command(command)
    if parsed is None or parsed.has_error:
        return []
    return [detail.name for detail in parsed.details if detail.name not in REDIRECTION_NAMES]


def has_redirection(command: str) -> bool:
    """Whether anything is redirected; a line that cannot be read counts by its `<` and `>`."""
    if "<" not in command and ">" not in command:
        return False
    parsed = parse_command(command)
    if parsed is None or parsed.has_error:
        return True
    kinds = ("redirection", "heredoc", "herestring")
    return any(detail.name.startswith(kinds) for detail in parsed.details)


def strip_shell_wrapper(command: str) -> str:
    """The inside of `bash -c '…'` and its like; any other command as it is, trimmed."""
    match = _WRAPPER.match(command)
    if match is None:
        return js_trim(command)
    inner = js_trim(command[match.end() :])
    if len(inner) < 2 or inner[0] not in "\"'" or inner[-1] != inner[0]:
        return inner
    if match[0].strip().endswith("-c") and inner[0] == '"':
        try:
            words = shell_words(inner, keep_variables=True)
        except BadSubstitution:
            return inner[1:-1]
        if len(words) == 1 and words[0].literal:
            return words[0].text
    return inner[1:-1]


def detect_substitution(command: str) -> bool:
    """Whether Bash would run a command inside a word: `$(…)`, backticks, `<(…)`, `>(…)`."""
    single = double = False
    place = 0
    while place < len(command):
        character = command[place]
        following = command[place + 1 : place + 2]
        if character == "'" and not double:
            single = not single
        elif character == '"' and not single:
            double = not double
        elif not single:
            if character == "\\" and following and (not double or following in '$`"\\\n'):
                place += 1
            elif character == "`" or (
                following == "(" and (character == "$" or (character in "<>" and not double))
            ):
                return True
        place += 1
    return False
