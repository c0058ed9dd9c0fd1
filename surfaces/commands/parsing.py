"""From the user's text to a command and its arguments.

Source: `packages/cli` `utils/commands.ts` (`parseSlashCommand`), `ui/utils/commandUtils.ts`
(`isSlashCommand`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.wire import js_trim
from surfaces.commands.contract import SlashCommand

__all__ = [
    "ParsedCommand",
    "is_slash_command",
    "looks_like_command",
    "named_command",
    "parse_command",
]

_COMMENTS: Final = ("//", "/*")
_NAME: Final = re.compile(r"[/?]\s*[A-Za-z][\w:.-]*(?=\s|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedCommand:
    """A command that a text names."""

    command: SlashCommand
    args: str
    path: tuple[str, ...]
    """The names from the outermost command to `command`, without aliases."""


def is_slash_command(text: str) -> bool:
    """Whether a surface gives `text` to its commands first: it begins with `/`, as no comment."""
    return text.startswith("/") and not text.startswith(_COMMENTS)


def looks_like_command(text: str) -> bool:
    """Whether the first word of `text` can be a command's name; a path for example cannot."""
    return _NAME.match(js_trim(text)) is not None


def parse_command(text: str, commands: Sequence[SlashCommand]) -> ParsedCommand | None:
    """The command that `text` names with the longest path of subcommands; `None`: there is none.

    Names count before aliases. A subcommand without arguments that is given some belongs to the
    command above it: `/plan copy that file` is `/plan` with three words.
    """
    words = [word for word in js_trim(js_trim(text)[1:]).split() if word]
    found: list[SlashCommand] = []
    level: Sequence[SlashCommand] = commands
    for word in words:
        command = named_command(word, level)
        if command is None:
            break
        found.append(command)
        level = command.subcommands
    if not found:
        return None
    above = found[-2] if len(found) > 1 else None
    if not found[-1].takes_args and len(words) > len(found) and above and above.action:
        found.pop()
    return ParsedCommand(
        command=found[-1],
        args=" ".join(words[len(found) :]),
        path=tuple(command.name for command in found),
    )


def named_command(word: str, commands: Sequence[SlashCommand]) -> SlashCommand | None:
    """The one of `commands` with this name or alias; names count before aliases."""
    by_name = (command for command in commands if command.name == word)
    by_alias = (command for command in commands if word in command.aliases)
    return next(by_name, None) or next(by_alias, None)
