"""`!{…}` and `@{…}` in the prompt of a command file.

Source: `packages/cli` `services/prompt-processors/injectionParser.ts`.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.wire import js_trim
from surfaces.commands.contract import CommandError

__all__ = ["Injection", "find_injections"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """One place in a prompt: what its braces hold, and the range of the whole."""

    content: str
    start: int
    end: int


def find_injections(prompt: str, trigger: str, command: str) -> list[Injection]:
    """The places in `prompt` that begin with `trigger`, whose own brace is its last character.

    Braces inside are counted: a path or a command with unbalanced ones cannot be written.

    Raises:
        CommandError: a place does not end.
    """
    found: list[Injection] = []
    start = prompt.find(trigger)
    while start >= 0:
        end = _closing(prompt, start + len(trigger))
        if end is None:
            raise CommandError(
                f"Invalid syntax in command '{command}': Unclosed injection starting at index "
                f"{start} ('{trigger}'). Ensure braces are balanced. Paths or commands with "
                "unbalanced braces are not supported directly."
            )
        content = js_trim(prompt[start + len(trigger) : end])
        found.append(Injection(content=content, start=start, end=end + 1))
        start = prompt.find(trigger, end + 1)
    return found


def _closing(prompt: str, start: int) -> int | None:
    depth = 1
    for at in range(start, len(prompt)):
        depth += (prompt[at] == "{") - (prompt[at] == "}")
        if depth == 0:
            return at
    return None
